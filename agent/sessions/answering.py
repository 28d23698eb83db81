"""Carry out answers: the call that asked goes on, or the session whose turn died with it.

Not what counts as an answer (`agent.sessions.answers`) and not who waits for one
(`agent.sessions.questions`). Invariant: the first answer that is stored is the one that counts; a
later one, from whomever, is refused as wrong state.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from agent.errors import WrongStateError
from agent.protocol import EventMsg, QuestionAnswered, QuestionClosed, UserInputAnswer
from agent.records import Question, SessionState
from agent.sessions.answers import read_answer, to_store
from agent.sessions.parts import Parts
from agent.sessions.questions import NO_ANSWER
from agent.sessions.resuming import Resuming
from agent.sessions.turns import Turns

Review: TypeAlias = Callable[[Question, str, str, str], Awaitable[None]]
"""Decide on a job's action: the question, the answer, the submission's id, and who says so."""


class Answering:
    """The answers of one core.

    Args:
        review: decides on what a job asked; its session goes on or ends with the job.
    """

    def __init__(self, parts: Parts, turns: Turns, review: Review) -> None:
        self._parts = parts
        self._turns = turns
        self._review = review
        self._resuming = Resuming(parts.assignment)

    async def answer(
        self, op: UserInputAnswer, submission_id: str = "", *, by: str = "operator"
    ) -> str:
        """Answer a question: the call that asked goes on; a turn that died with it is resumed.

        Returns:
            The session that asked.

        Raises:
            UsageError: there is no such question, or nothing in the answer.
            WrongStateError: somebody else was faster, or the question has closed.
        """
        questions = self._parts.questions
        question = questions.find(op.question_id)
        if question is None:
            question, _ = await self._parts.store.question(op.question_id)
        live = await self._parts.book.get(question.session_id)
        answer = read_answer(question, op.answer, op.answers)
        kept = to_store(question, answer)
        self._check_asked(question)
        if question.review is not None:
            await self._review(question, kept.text, submission_id, by)
            return live.session_id
        await self._turns.replace_study(live)
        async with live.lock:
            self._check_asked(question)
            msgs: list[EventMsg] = [
                QuestionAnswered(
                    question_id=question.question_id,
                    answer=kept.text,
                    answers=kept.by_part,
                    answered_by=by,
                )
            ]
            resumes = live.is_idle
            if resumes:
                msgs += self._resuming.continuing(live, "its question was answered")
            elif questions.is_awaited(question.question_id):
                msgs += live.moving(SessionState.RUNNING, "answered")
            await self._parts.book.append(*live.drafts(*msgs, submission_id=submission_id))
            questions.deliver(question, answer)
            if resumes:
                self._turns.begin(live)
        return live.session_id

    async def expire(self, question_id: str, submission_id: str = "") -> str:
        """Close a question that nobody answered: the call that asked goes on without an answer.

        Returns:
            The session that asked.

        Raises:
            UsageError: there is no such question.
            WrongStateError: it was answered, or has closed.
        """
        questions = self._parts.questions
        question = questions.find(question_id)
        if question is None:
            question, _ = await self._parts.store.question(question_id)
        live = await self._parts.book.get(question.session_id)
        async with live.lock:
            self._check_asked(question)
            msgs: list[EventMsg] = [
                QuestionClosed(question_id=question.question_id, reason=NO_ANSWER)
            ]
            if questions.is_awaited(question.question_id):
                msgs += live.moving(SessionState.RUNNING, "goes on without an answer")
            await self._parts.book.append(*live.drafts(*msgs, submission_id=submission_id))
        return live.session_id

    def _check_asked(self, question: Question) -> None:
        if self._parts.questions.find(question.question_id) is None:
            raise WrongStateError(
                f"Question {question.question_id} is not open any more.",
                "The first answer counts; steer the session instead.",
            )
