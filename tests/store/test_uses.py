"""Every digest that an event can hold is a use of a blob."""

import collections.abc
import types
import typing
from typing import Any, get_args

import msgspec
import pytest

from agent.protocol import (
    EventMsg,
    ObservationRecorded,
    RequestUserInput,
    ResultPublished,
    ToolCallRequested,
    VerificationRecorded,
)
from agent.records import (
    Evidence,
    FieldSource,
    Foreground,
    Frame,
    Observation,
    Question,
    Subject,
    Verification,
)
from agent.store.changes.blob_refs import digests_of


def digest_fields(hint: Any, seen: frozenset[Any] = frozenset()) -> set[tuple[str, str]]:
    """List (struct, field) of every field named as a digest that a type reaches."""
    if typing.get_origin(hint) in {typing.Union, types.UnionType, tuple, collections.abc.Mapping}:
        return set().union(*(digest_fields(inner, seen) for inner in get_args(hint)))
    if not (isinstance(hint, type) and issubclass(hint, msgspec.Struct)) or hint in seen:
        return set()
    found: set[tuple[str, str]] = set()
    hints = typing.get_type_hints(hint)
    for field in msgspec.structs.fields(hint):
        if "digest" in field.name:
            found.add((hint.__name__, field.name))
        found |= digest_fields(hints[field.name], seen | {hint})
    return found


def test_no_event_has_a_digest_that_is_not_counted() -> None:
    found = {
        kind.__name__: fields for kind in get_args(EventMsg) if (fields := digest_fields(kind))
    }
    assert found == {
        "ObservationRecorded": {("Frame", "digest"), ("Observation", "tree_digest")},
        "ToolCallRequested": {
            ("ToolCallRequested", "prompt_digest"),
            ("ToolCallRequested", "reply_digest"),
        },
        # A ticket's are of an action and of a screen's texts, an effect's of what is approved: no
        # blob has them.
        "RequestUserInput": {
            ("Effect", "digest"),
            ("Frame", "digest"),
            ("ReviewTicket", "params_digest"),
            ("ReviewTicket", "screen_digest"),
        },
        "AllowanceUsed": {("Effect", "digest")},
        "ResultPublished": {("FieldSource", "digest")},
        # A run's are those of its session's result, whose session keeps them.
        "RunChanged": {("FieldSource", "digest")},
        "VerificationRecorded": {("Evidence", "digest")},
    }


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4])
def test_the_digests_of_an_event_are_its_uses(number: int) -> None:
    frame = Frame(digest="f" * 64, width_px=1, height_px=1, captured_ms=1)
    seen = Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="p"),
        frame=frame,
        tree_digest="e" * 64,
    )
    question = Question(
        question_id="q",
        session_id="s",
        text="?",
        asked_ms=1,
        subject=Subject(action="tap", frame=frame),
    )
    call = ToolCallRequested(
        step=1, call_id="c", tool="t", arguments="{}", prompt_digest="a" * 64, reply_digest="b" * 64
    )
    verification = Verification(evidence=(Evidence(quote="on", step=1, digest="c" * 64),))
    msg, expected = (
        (ObservationRecorded(step=1, observation=seen), {"f" * 64, "e" * 64}),
        (call, {"a" * 64, "b" * 64}),
        (RequestUserInput(question=question), {"f" * 64}),
        (VerificationRecorded(verification=verification), {"c" * 64}),
        (
            ResultPublished(text="t", sources=(FieldSource(path="$.a", digest="d" * 64),)),
            {"d" * 64},
        ),
    )[number]
    assert set(digests_of(msg)) == expected
