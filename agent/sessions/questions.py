"""The questions that are open, and the calls that wait for their answers.

Not the record of them: that is the store's. Invariants: a question is open here exactly as long as
it is open in the store; the first answer wins; a secret answer is never stored, only handed to
the call that asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from agent.errors import UsageError
from agent.protocol import (
    Event,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    ToolCallFinished,
)
from agent.records import Question

ANSWER_LIMIT_CHARS = 10_000
NO_ANSWER = "no answer in time; silence is no"
"""Why a question is closed that nobody answered."""


class Questions:
    """Every open question of this core."""

    def __init__(self) -> None:
        self._open: dict[str, Question] = {}
        self._waiting: dict[str, asyncio.Future[str | None]] = {}
        self._secrets: dict[str, str] = {}

    def load(self, questions: Iterable[Question]) -> None:
        """Take up the questions that were open when the core started."""
        self._open.update((question.question_id, question) for question in questions)

    def on_commit(self, events: Iterable[Event]) -> None:
        """Follow the store."""
        for event in events:
            match event.msg:
                case RequestUserInput(question=question):
                    self._open[question.question_id] = question
                case QuestionAnswered(question_id=question_id):
                    self._open.pop(question_id, None)
                case QuestionClosed(question_id=question_id):
                    self._open.pop(question_id, None)
                    self._resolve(question_id, None)
                case _:
                    pass

    def find(self, question_id: str) -> Question | None:
        """Give an open question."""
        return self._open.get(question_id)

    def of(self, session_id: str) -> tuple[Question, ...]:
        """List a session's open questions, oldest first."""
        return tuple(q for q in self._open.values() if q.session_id == session_id)

    def expect(self, question_id: str) -> asyncio.Future[str | None]:
        """Wait for the answer of a question; None when it closes without one."""
        future: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._waiting[question_id] = future
        return future

    def forget(self, question_id: str) -> None:
        """Nobody waits for it any more."""
        self._waiting.pop(question_id, None)

    def is_awaited(self, question_id: str) -> bool:
        """Tell whether a running call waits for the answer."""
        return question_id in self._waiting

    def deliver(self, question: Question, answer: str) -> None:
        """Hand the answer to the call that waits, or keep a secret one for the call to come."""
        if not self._resolve(question.question_id, answer) and question.secret:
            self._secrets[question.question_id] = answer

    def take_secret(self, question_id: str) -> str | None:
        """Give, once, a secret answer that arrived while nobody waited."""
        return self._secrets.pop(question_id, None)

    def _resolve(self, question_id: str, answer: str | None) -> bool:
        future = self._waiting.pop(question_id, None)
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True


def checked_answer(question: Question, answer: str) -> str:
    """Give the answer as it counts: an option in the asker's own spelling, or the free text.

    Raises:
        UsageError: there is nothing in it, it is too long, or it is no text.
    """
    text = checked_text(answer, "An answer", limit=ANSWER_LIMIT_CHARS)
    if question.secret:
        return text
    for option in question.options:
        if option.label.casefold() == text.strip().casefold():
            return option.label
    return text


def checked_text(text: str, what: str, *, limit: int = 20_000) -> str:
    """Give what the operator wrote, unchanged.

    Raises:
        UsageError: it is blank, longer than `limit` characters, or holds a lone surrogate.
    """
    if not text.strip():
        raise UsageError(f"{what} is empty.", "Write some text.")
    if len(text) > limit:
        raise UsageError(f"{what} has {len(text):,} characters.", f"Use at most {limit:,}.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not valid text: {error.reason}.", "Write it anew.") from error
    return text


def asked_before(
    history: Sequence[Event], call_id: str
) -> tuple[Question, QuestionAnswered | None] | None:
    """Find the question of a tool call that never finished, and its answer if it has one."""
    question: Question | None = None
    answer: QuestionAnswered | None = None
    for event in history:
        match event.msg:
            case RequestUserInput(question=asked) if asked.call_id == call_id:
                question, answer = asked, None
            case QuestionAnswered(question_id=question_id) as answered:
                if question is not None and question.question_id == question_id:
                    answer = answered
            case QuestionClosed(question_id=question_id):
                if question is not None and question.question_id == question_id:
                    question = None
            case ToolCallFinished(call_id=finished) if finished == call_id:
                question = None
            case _:
                pass
    return None if question is None else (question, answer)
