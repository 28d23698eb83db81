"""Store answers, and continue the call that asked; if its turn died, resume the session.

`agent.sessions.rules.answers` decides what an answer is, `agent.sessions.registry.open_questions`
knows which call waits for it. Invariant: the first stored answer counts; a later one is refused as
wrong state.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec.structs import replace

from agent import protocol
from agent.errors import WrongStateError
from agent.records import Question, SessionState
from agent.safety.approval import is_yes
from agent.safety.redacting.let_through import letting_through
from agent.sessions.registry.services import Services
from agent.sessions.rules.answers import expired, read_answer, to_store
from agent.sessions.rules.operator_text import kinds_in, redacted, secrets_in
from agent.sessions.rules.resuming import Resuming
from agent.sessions.rules.two_person_approval import approvers_of
from agent.sessions.turns.turns import Turns

Review: TypeAlias = Callable[[Question, str, str, str], Awaitable[None]]
"""Decide on a job's action: the question, the answer, the submission's id, and who says so."""


class Answering:
    """The answers of one core.

    Args:
        review: decides on what a job asked, and continues or ends its session.
    """

    def __init__(self, parts: Services, turns: Turns, review: Review) -> None:
        self._parts = parts
        self._turns = turns
        self._review = review
        self._resuming = Resuming(parts.assignment)

    async def answer(
        self,
        op: protocol.UserInputAnswer,
        submission_id: str = "",
        *,
        by: str = "operator",
        operator: str = "",
    ) -> str:
        """Answer a question: the call that asked continues; a turn that died is resumed.

        Where more than one operator has to approve, the first yes is noted and the question stays.

        Args:
            by: who answers, for people.
            operator: the name of the operator; empty: nobody who has signed in.

        Returns:
            The session that asked.

        Raises:
            NotAllowedError: only operators may approve it, and this one may not.
            UsageError: there is no such question, or nothing in the answer.
            WrongStateError: somebody else was faster, or the question has closed.
        """
        questions = self._parts.questions
        question = questions.find(op.question_id)
        if question is None:
            question, _ = await self._parts.store.question(op.question_id)
        live = await self._parts.registry.get(question.session_id)
        given = "" if question.secret else _text_of(op)
        known = live.record.let_through
        allowed = secrets_in([given], known) if op.let_through else ()
        with letting_through(lambda: (*known, *allowed)):
            kinds = kinds_in(given, (*known, *allowed))
            answer = read_answer(question, op.answer, op.answers)
        answer = replace(answer, speaker=op.speaker)
        kept = to_store(question, answer)
        self._check_asked(question)
        if question.people > 1 and is_yes(kept.text):
            yes_by = await self._note_yes(question, kept.text, submission_id, operator)
            if len(yes_by) < question.people:
                return live.session_id
            by = " and ".join(yes_by)
        if question.review is not None:
            await self._review(question, kept.text, submission_id, by)
            return live.session_id
        await self._turns.end_review_turn(live)
        async with live.lock:
            self._check_asked(question)
            msgs: list[protocol.EventMsg] = (
                [protocol.TextLetThrough(texts=allowed)] if allowed else []
            )
            if kinds:
                msgs.append(redacted(kinds, "An answer"))
                self._parts.withheld.keep(live.session_id, given)
            msgs.append(
                protocol.QuestionAnswered(
                    question_id=question.question_id,
                    answer=kept.text,
                    answers=kept.by_part,
                    answered_by=by,
                    speaker=op.speaker,
                )
            )
            resumes = live.is_idle
            if resumes:
                msgs += self._resuming.continuing(live, "its question was answered")
            elif questions.is_awaited(question.question_id):
                msgs += live.moving(SessionState.RUNNING, "answered")
            await self._parts.registry.append(*live.drafts(*msgs, submission_id=submission_id))
            questions.deliver(question, answer)
            if resumes:
                self._turns.begin(live)
        return live.session_id

    async def _note_yes(
        self, question: Question, answer: str, submission_id: str, operator: str
    ) -> tuple[str, ...]:
        """Return who has approved; one of too few is stored."""
        live = await self._parts.registry.get(question.session_id)
        async with live.lock:
            self._check_asked(question)
            # As it is now: somebody may have said yes meanwhile.
            asked = self._parts.questions.find(question.question_id) or question
            may, serial = self._parts.approvers.may_approve, live.record.serial
            yes_by = approvers_of(asked, answer, operator, lambda name: may(name, serial))
            if len(yes_by) < question.people:
                given = protocol.ApprovalGiven(
                    question_id=question.question_id, yes_by=yes_by, people=question.people
                )
                drafts = live.drafts(given, submission_id=submission_id)
                await self._parts.registry.append(*drafts)
        return yes_by

    async def expire(self, question_id: str, submission_id: str = "", *, by: str = "") -> str:
        """Close a question that nobody answered: the call that asked continues without an answer.

        Args:
            by: the client whose own limit is over; empty where it is the question's.

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
        live = await self._parts.registry.get(question.session_id)
        async with live.lock:
            self._check_asked(question)
            msgs: list[protocol.EventMsg] = [expired(question, self._parts.clock_ms(), by=by)]
            if questions.is_awaited(question.question_id):
                msgs += live.moving(SessionState.RUNNING, "continues without an answer")
            await self._parts.registry.append(*live.drafts(*msgs, submission_id=submission_id))
        return live.session_id

    def _check_asked(self, question: Question) -> None:
        if self._parts.questions.find(question.question_id) is None:
            raise WrongStateError(
                "This question is no longer open.",
                "The first answer counts; steer the session instead.",
            )


def _text_of(op: protocol.UserInputAnswer) -> str:
    several = (one for given in op.answers.values() for one in given)
    return "\n\n".join(filter(None, (op.answer, *several)))
