"""Have a session reviewed or compacted: turns that read it and leave its state alone.

Not the tasks themselves (`agent.tasks.review`, `agent.tasks.compact`). Invariants: one task at a
time per session, so what is at work is ended first (`replaced`) or in the way; a settled session
stays settled; a review turn that dies with its core is ended at the next start.
"""

from agent.core import ClientInfo
from agent.errors import WrongStateError
from agent.loop.task_context import TaskKind
from agent.protocol import AbortReason, SessionCompact, SessionReview
from agent.records import SessionState
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.answers import checked_text
from agent.sessions.turns.turns import Turns
from agent.tasks.compact import CompactTask
from agent.tasks.review import ReviewTask

_COMPACTING = "stopped to compact its memory; it can be resumed"


class ReviewTurns:
    """The reviews and compactions of one core."""

    def __init__(self, parts: Services, turns: Turns) -> None:
        self._parts = parts
        self._turns = turns

    async def review(self, op: SessionReview) -> str:
        """Begin a review; what it finds comes as an event. A newer one replaces it.

        Returns:
            The session's id.

        Raises:
            UsageError: there is no such session.
            WrongStateError: it is not finished: settled, or idle.
        """
        request = checked_text(op.request, "The request") if op.request else ""
        live = await self._parts.registry.get(op.session_id)
        await self._turns.end_review_turn(live)
        async with live.lock:
            if not (live.record.state.is_terminal or live.is_idle):
                raise WrongStateError(
                    f"Session {live.session_id} is {live.record.state} and not finished.",
                    "Stop it first, or wait until it has ended.",
                )
            self._turns.start_review_turn(live, TaskKind.REVIEW, ReviewTask(request))
        return live.session_id

    async def compact(self, op: SessionCompact, *, by: ClientInfo | None = None) -> str:
        """Begin to compact a session's memory; an open turn is replaced, and the session idle then.

        Args:
            by: who asks for it; None where the core does by itself.

        Returns:
            The session's id.

        Raises:
            UsageError: there is no such session.
            WrongStateError: it has children that work for it, nothing to remember yet, or another
                client drives it.
        """
        live = await self._parts.registry.get(op.session_id)
        self._parts.clients.check_driver(live.session_id, by)
        if live.delegates:
            raise WrongStateError(
                f"Session {live.session_id} delegates and has no memory of its own.",
                "Compact one of its children.",
            )
        await self._turns.end_review_turn(live)
        if live.turn is not None:
            await self._turns.abort(
                live, AbortReason.REPLACED, SessionState.WAITING_FOR_USER, _COMPACTING
            )
        async with live.lock:
            self._check_has_past(live)
            self._turns.start_review_turn(live, TaskKind.COMPACT, CompactTask())
        return live.session_id

    def _check_has_past(self, live: LiveSession) -> None:
        if live.record.state is SessionState.CREATED:
            raise WrongStateError(
                f"Session {live.session_id} is a draft and has done nothing yet.", "Start it."
            )
