"""What a headless run says of an answer that comes too late."""

from typing import Any

import pytest

from agent.errors import WrongStateError
from agent.records import Question, QuestionKind
from console.runs.prompts import QuestionPrompts


class ClosedQuestions:
    """A host of a core whose questions have all closed a moment ago."""

    @property
    def core(self) -> "ClosedQuestions":
        return self

    async def request(self, op: Any) -> None:
        raise WrongStateError("This question is no longer open.")


def asked(*answers: str) -> QuestionPrompts:
    prompts = QuestionPrompts(answers, timeout_s=0)
    prompts.use(ClosedQuestions())  # type: ignore[arg-type]
    question = Question(
        question_id="q", session_id="s", text="Send it?", asked_ms=1, kind=QuestionKind.APPROVAL
    )
    prompts.open(question)
    return prompts


async def test_an_approval_that_expires_twice_at_once_names_no_other_client(
    capsys: pytest.CaptureFixture[str],
) -> None:
    prompts = asked()
    assert not await prompts.attend()
    assert prompts.went_unanswered
    assert capsys.readouterr().err == ""


async def test_an_answer_that_comes_too_late_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not await asked("Approve").attend()
    assert "closed before this answer" in capsys.readouterr().err
