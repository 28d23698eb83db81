"""How long a turn's question is open, and the answer that it may have ready.

Invariant: a prepared answer is given only while its session may go on, and never in place of one
that somebody gave.
"""

import asyncio
from contextlib import suppress

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import PreparedAnswer
from agent.records import Question, Speaker
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services


def default_deadline_ms(parts: Services) -> int:
    """Return when a question that names no time closes; 0: never."""
    timeout_s = parts.settings.run.answer_timeout_s
    return parts.clock_ms() + round(timeout_s * 1000) if timeout_s > 0 else 0


async def give_prepared(
    parts: Services, live: LiveSession, question: Question, prepared: PreparedAnswer
) -> None:
    """Wait for its time, then give a prepared answer, if nobody was faster."""
    await asyncio.sleep(prepared.after_s)
    answer = parts.door.answer
    if answer is None or parts.questions.find(question.question_id) is None:
        return
    if not live.may_go.is_set() or not await prepared.settle():
        return
    op = protocol.UserInputAnswer(
        question_id=question.question_id, answer=prepared.answer, speaker=Speaker.PRODUCT
    )
    with suppress(WrongStateError, UsageError):
        await answer(op, by=prepared.by)
