"""An answer from elsewhere counts once, in time, for the very question that was shown."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.consent.bound_answer import FILE_NAME, AnswerTokens, Binding, bound_to
from agent.errors import ConfigError, NotAllowedError, WrongStateError
from agent.records import Effect, EffectVerb, Question, QuestionKind, Stated, Subject
from agent.safety.approval import OPTIONS

EFFECT = Effect(
    verb=EffectVerb.SEND, recipient=Stated(text="Ana Silva"), content=Stated(text="Hello")
)
ASKED = Question(
    question_id="q1",
    session_id="s1",
    text="Send it?",
    asked_ms=1,
    kind=QuestionKind.APPROVAL,
    options=OPTIONS,
    subject=Subject(action="tap", effect=EFFECT),
)


class Clock:
    now_ms = 1_000

    def __call__(self) -> int:
        return self.now_ms


def about(**changes: object) -> Question:
    """Return the question with another effect."""
    effect = replace(EFFECT, **changes)
    return replace(ASKED, subject=Subject(action="tap", effect=effect))


@pytest.mark.parametrize(
    ("now", "generation", "why"),
    [
        (None, 1, "no longer open"),
        (replace(ASKED, question_id="q2"), 1, "no longer open"),
        (ASKED, 2, "restarted"),
        (replace(ASKED, text="Send all?"), 1, "changed"),
        (replace(ASKED, options=OPTIONS[:1]), 1, "changed"),
        (replace(ASKED, people=2), 1, "changed"),
        (about(recipient=Stated(text="Ana Silvа")), 1, "changed"),
        (about(content=Stated(text="Hello!")), 1, "changed"),
        (about(amount=Stated(text="5 EUR")), 1, "changed"),
        (about(verb=EffectVerb.SPEND), 1, "changed"),
        (about(shown=("Another screen",)), 1, "changed"),
    ],
)
def test_what_is_asked_now_must_be_what_was_shown(
    now: Question | None, generation: int, why: str
) -> None:
    with pytest.raises(WrongStateError, match=why):
        bound_to(ASKED, 1).check(now, generation)


def test_another_operators_yes_changes_nothing_of_what_is_asked() -> None:
    bound_to(ASKED, 1).check(replace(ASKED, yes_by=("ben",)), 1)


def test_a_token_counts_once_and_ends_the_others_of_its_message(tmp_path: Path) -> None:
    tokens, binding = AnswerTokens(tmp_path, Clock()), bound_to(ASKED, 1)
    yes = tokens.issue(binding, to="Ana", answer="Approve")
    no = tokens.issue(binding, to="Ana", answer="Deny")
    others = tokens.issue(binding, to="Ben", answer="Approve")
    found = tokens.take(yes)
    assert (found.binding, found.to, found.answer) == (binding, "Ana", "Approve")
    for gone in (yes, no, "guessed", ""):
        with pytest.raises(NotAllowedError):
            tokens.take(gone)
    assert tokens.take(others).to == "Ben"


def test_a_token_ends_and_is_known_to_the_next_core_until_then(tmp_path: Path) -> None:
    clock = Clock()
    token = AnswerTokens(tmp_path, clock).issue(bound_to(ASKED, 1), to="Ana", life_ms=60_000)
    late = AnswerTokens(tmp_path, clock).issue(bound_to(ASKED, 1), to="Ben", life_ms=60_000)
    assert token not in (tmp_path / FILE_NAME).read_text()
    assert isinstance(AnswerTokens(tmp_path, clock).take(token).binding, Binding)
    clock.now_ms += 60_000
    with pytest.raises(NotAllowedError):
        AnswerTokens(tmp_path, clock).take(late)


def test_tokens_that_others_may_read_are_not_trusted(tmp_path: Path) -> None:
    tokens = AnswerTokens(tmp_path, Clock())
    token = tokens.issue(bound_to(ASKED, 1), to="Ana")
    (tmp_path / FILE_NAME).chmod(0o644)
    with pytest.raises(ConfigError, match="chmod"):
        tokens.take(token)
