"""Open questions, and the calls that wait for their answers; the store has the records.

Invariants: a question is open here exactly as long as
it is open in the store; the first answer wins; a secret answer is never stored, only handed to
the call that asked.
"""

import asyncio
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from agent import protocol
from agent.records import Answer, Question


class Questions:
    """Every open question of this core."""

    def __init__(self) -> None:
        self._open: dict[str, Question] = {}
        self._waiting: dict[str, asyncio.Future[Answer | None]] = {}
        self._secrets: dict[str, Answer] = {}

    def load(self, questions: Iterable[Question]) -> None:
        """Load the questions that were open when the core started."""
        self._open.update((question.question_id, question) for question in questions)

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Follow the store."""
        for event in events:
            match event.msg:
                case protocol.RequestUserInput(question=question):
                    self._open[question.question_id] = question
                case protocol.ApprovalGiven(question_id=question_id, yes_by=yes_by):
                    if question_id in self._open:
                        self._open[question_id] = replace(self._open[question_id], yes_by=yes_by)
                case protocol.QuestionAnswered(question_id=question_id):
                    self._open.pop(question_id, None)
                case protocol.QuestionClosed(question_id=question_id):
                    self._open.pop(question_id, None)
                    self._resolve(question_id, None)
                case _:
                    pass

    def drop(self, session_id: str) -> None:
        """Forget the open questions of a session that another host has."""
        for question in self.of(session_id):
            del self._open[question.question_id]
            self._resolve(question.question_id, None)

    def find(self, question_id: str) -> Question | None:
        return self._open.get(question_id)

    def of(self, session_id: str) -> tuple[Question, ...]:
        """List a session's open questions, oldest first."""
        return tuple(q for q in self._open.values() if q.session_id == session_id)

    def overdue(self, now_ms: int) -> tuple[Question, ...]:
        """List the open questions whose time is up."""
        return tuple(q for q in self._open.values() if 0 < q.deadline_ms <= now_ms)

    def next_deadline_ms(self) -> int:
        """Return the nearest deadline of an open question; 0 = none."""
        return min((q.deadline_ms for q in self._open.values() if q.deadline_ms > 0), default=0)

    def expect(self, question_id: str) -> asyncio.Future[Answer | None]:
        """Wait for the answer of a question; None when it closes without one."""
        future: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._waiting[question_id] = future
        return future

    def forget(self, question_id: str) -> None:
        """Stop waiting for the answer of a question."""
        self._waiting.pop(question_id, None)

    def is_awaited(self, question_id: str) -> bool:
        """Return whether a running call waits for the answer."""
        return question_id in self._waiting

    def deliver(self, question: Question, answer: Answer) -> None:
        """Hand the answer to the call that waits, or keep a secret one for the call to come."""
        if not self._resolve(question.question_id, answer) and question.secret:
            self._secrets[question.question_id] = answer

    def take_secret(self, question_id: str) -> Answer | None:
        """Return, once, a secret answer that arrived while nobody waited."""
        return self._secrets.pop(question_id, None)

    def _resolve(self, question_id: str, answer: Answer | None) -> bool:
        future = self._waiting.pop(question_id, None)
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True


def asked_before(
    history: Sequence[protocol.Event], call_id: str
) -> tuple[Question, protocol.QuestionAnswered | None] | None:
    """Find the question of a tool call that never finished, and its answer if it has one."""
    question: Question | None = None
    answer: protocol.QuestionAnswered | None = None
    for event in history:
        match event.msg:
            case protocol.RequestUserInput(question=asked) if asked.call_id == call_id:
                question, answer = asked, None
            case protocol.QuestionAnswered(question_id=question_id) as answered:
                if question is not None and question.question_id == question_id:
                    answer = answered
            case protocol.QuestionClosed(question_id=question_id):
                if question is not None and question.question_id == question_id:
                    question = None
            case protocol.ToolCallFinished(call_id=finished) if finished == call_id:
                question = None
            case _:
                pass
    return None if question is None else (question, answer)
