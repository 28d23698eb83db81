"""Store the ends of turns: by themselves, early, or late because the store refused.

`agent.sessions.turns.turns` ends them, `agent.sessions.rules.turn_outcome` makes the events.
Invariants: every turn whose start is stored gets its end stored exactly once, and nothing after it;
until it is stored the session begins no other; a turn whose phone's lease was lost is left as it
is in the store, for the host that has the lease now.
"""

import asyncio
import logging
from itertools import chain, repeat

from agent.errors import FencedError, StoreError
from agent.protocol import AbortReason, CloseReason, EventMsg, QuestionClosed, TurnAborted
from agent.records import SessionState
from agent.sessions.registry.live_session import LiveSession, Turn
from agent.sessions.registry.services import Services
from agent.sessions.registry.supervisor import settled
from agent.sessions.rules.next_turn import what_follows
from agent.sessions.rules.turn_outcome import Ending
from agent.store.leases import Lease

_STORE_RETRY_S = (1.0, 2.0, 4.0, 8.0, 15.0)
_STORE_RETRY_EVER_S = 30.0
_log = logging.getLogger(__name__)


class TurnEnds:
    """The ends of one core's turns."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts

    async def finish(self, live: LiveSession, turn: Turn, ending: Ending) -> Turn | None:
        """End a turn whose task has ended; returns the turn that follows it, which is open then.

        Where that could not be stored it is `unstored`, and its `follows` is open once it is over.
        """
        async with live.lock:
            if turn.over.is_set():
                return None
            turn.mute = True
            recovery = self._parts.settings.recovery
            ending, following = what_follows(live, turn, ending, recovery)
            msgs = ending.msgs if following is not None else self._closing(live, ending)
            try:
                await settled(self._parts.registry.append(*live.drafts(*msgs), under=turn.lease))
            except FencedError as error:
                _log.warning("Turn %s is left to whoever has its phone: %s", turn.turn_id, error)
                following = None
            except StoreError as error:
                _log.warning("The end of a turn could not be stored: %s", error)
                turn.follows = following
                self._store_later(live, ending, turn.lease)
                return None
            _close(live)
            live.turn = following
            return following

    async def cut_short(
        self,
        live: LiveSession,
        abort: AbortReason,
        state: SessionState,
        reason: str,
        submission_id: str,
    ) -> None:
        """End the open turn, if there is one, and go to a state; the session's lock is held.

        It is somebody's decision, not the turn's: it goes under no lease.

        Raises:
            StoreError: it could not be stored; storing is tried again.
        """
        if live.turn is not None:
            live.turn.mute = True
        stopped = abort is AbortReason.INTERRUPTED
        ending = Ending(_abort_events(live, abort), state, reason, stopped=stopped)
        drafts = live.drafts(*self._closing(live, ending), submission_id=submission_id)
        try:
            await settled(self._parts.registry.append(*drafts))
        except StoreError:
            self._store_later(live, ending, None)
            raise
        _close(live)

    async def abandon(self, live: LiveSession, turn: Turn) -> None:
        """Let a turn go whose phone's lease was lost: it is somebody else's from now on."""
        async with live.lock:
            if live.turn is turn:
                turn.mute = True
                _close(live)

    def _closing(self, live: LiveSession, ending: Ending) -> tuple[EventMsg, ...]:
        if (
            live.turn is not None
            and live.turn.kind.is_review_turn
            and ending.state is live.record.state
        ):
            return ending.msgs
        questions = tuple(
            QuestionClosed(question_id=question.question_id, reason=CloseReason.TURN_ENDED)
            for question in self._parts.questions.of(live.session_id)
        )
        over = ending.state.is_terminal
        unflagged = (
            live.flagging(paused=False, lost=False, held=False, driver="")
            if over
            else live.flagging(paused=False)
        )
        return (
            *questions,
            *ending.msgs,
            *unflagged,
            *live.moving(ending.state, ending.reason, stopped=ending.stopped),
        )

    def _store_later(self, live: LiveSession, ending: Ending, under: Lease | None) -> None:
        """Keep trying to store how a turn ended; until then the session begins no other."""
        turn = live.turn
        if turn is None or turn.unstored:
            return
        turn.unstored = True
        self._parts.supervisor.start(
            self._keep_storing(live, turn, ending, under), f"late end of session {live.session_id}"
        )

    async def _keep_storing(
        self, live: LiveSession, turn: Turn, ending: Ending, under: Lease | None
    ) -> None:
        for delay_s in chain(_STORE_RETRY_S, repeat(_STORE_RETRY_EVER_S)):
            await asyncio.sleep(delay_s)
            async with live.lock:
                if turn.over.is_set():
                    return
                following = turn.follows
                msgs = ending.msgs if following is not None else self._closing(live, ending)
                try:
                    await self._parts.registry.append(*live.drafts(*msgs), under=under)
                except FencedError as error:
                    _log.warning("A late end comes too late: %s", error)
                    following = None
                except StoreError as error:
                    _log.info("The end of a turn still cannot be stored: %s", error)
                    continue
                _close(live)
                live.turn = following
                return


def _abort_events(live: LiveSession, abort: AbortReason) -> tuple[EventMsg, ...]:
    """Return the early end of the turn, if its start is stored."""
    turn_id = live.record.turn_id
    if live.turn is not None and live.turn.started:
        turn_id = live.turn.turn_id
    return (TurnAborted(turn_id=turn_id, reason=abort),) if turn_id else ()


def _close(live: LiveSession) -> None:
    if live.turn is not None:
        live.turn.over.set()
        live.turn = None
