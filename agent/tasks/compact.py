"""The compact task: replace what a session's model remembers by a summary.

It drives no phone, and the events stay: only the memory that is folded from them begins anew.
Invariants: the newest words of the operator are kept as they were said, and every action keeps its
line; a past too long for the model loses its oldest lines, not the call (CONTRACTS 4.8).
"""

import asyncio
import random
from collections.abc import Callable

from agent.loop.conversation.history import HistoryLines
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.observe import Sleep
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.compaction import compacted_text, summarize
from agent.protocol import HistoryCompacted


class CompactTask:
    """Compact one session's memory."""

    def __init__(
        self, *, sleep: Sleep = asyncio.sleep, jitter: Callable[[], float] = random.random
    ) -> None:
        self._sleep = sleep
        self._jitter = jitter

    @property
    def kind(self) -> str:
        return "compact"

    async def run(self, context: TaskContext) -> TurnEnd:
        """Ask for the summary, and put it in the place of the past."""
        past = HistoryLines(event.msg for event in context.history)
        session = context.session
        summary, usage = await summarize(
            context,
            past,
            session.goal,
            session.plan,
            session.facts,
            window=context.limits.context_window,
            sleep=self._sleep,
            random=self._jitter,
        )
        text = compacted_text(
            summary,
            OperatorWords(session.goal, (event.msg for event in context.history)).texts,
            (*past.traces, *past.open_calls()),
        )
        await context.emit(HistoryCompacted(text=text, usage=usage))
        return TurnEnd(completed=True, message=summary)

    async def abort(self, context: TaskContext) -> None:
        """Nothing is held; without its event the memory is as it was."""
