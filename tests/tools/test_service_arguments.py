"""What the service tools take: every name means something, at every depth, or is refused."""

import json
from typing import get_args

import pytest

from agent.tools.arguments import BadArguments, ServiceArguments, decode
from agent.tools.background_jobs import BackgroundJobCreate
from agent.tools.service_tool_args import ServiceCall
from agent.tools.watching import CreateWatcher, UpdateCommitment

KINDS = get_args(ServiceCall)


def test_each_service_tool_is_one_of_them() -> None:
    assert KINDS
    assert all(issubclass(kind, ServiceArguments) for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_means_nothing_is_refused_with_those_that_mean_something(
    kind: type[ServiceArguments],
) -> None:
    with pytest.raises(BadArguments, match="there is no `whenever`; the arguments are"):
        decode(kind, json.dumps({"whenever": "mondays"}))


@pytest.mark.parametrize(
    "given",
    [
        {"schedule": {"crom": "0 9 * * 1"}},
        {"schedule": {"quiet": {"since": "22:00", "until": "07:00", "days": "mon"}}},
        {"delivery": {"mode": "notification", "at": "09:00"}},
    ],
)
def test_a_name_within_an_object_is_refused_too(given: dict[str, object]) -> None:
    with pytest.raises(BadArguments, match=r"unknown field `(crom|days|at)`"):
        decode(BackgroundJobCreate, json.dumps(given))


def test_a_misspelled_name_and_another_one_for_the_same_are_still_taken() -> None:
    update = decode(
        UpdateCommitment, json.dumps({"comitment_id": 3, "status": "snoozed", "due_at": 5})
    )
    assert (update.commitment_id, update.due_at) == (3, 5)
    watcher = decode(CreateWatcher, json.dumps({"type": "time", "reason": None}))
    assert watcher.reason == ""
