"""What takes sessions on again: after a pause, a stop, a crash, or from a terminal state.

It stores nothing and begins no turn: it gives the facts that `agent.sessions.operations` stores
together. Invariant: from a terminal state there is no way on but a higher generation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from agent.errors import WrongStateError
from agent.protocol import EventMsg, SessionContinued, SessionStateChanged
from agent.records import Session, SessionState
from agent.sessions.assignment import Assignment
from agent.sessions.live import LiveSession

Move: TypeAlias = tuple[LiveSession, tuple[EventMsg, ...]]
"""A session, and the facts that take it on."""

_RESUMED = "resumed by the operator"


class Resuming:
    """The ways on."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment

    def queueing(self, serial: str) -> SessionStateChanged:
        """Give the move to QUEUED, saying what will be waited for."""
        reason = self._assignment.why_waiting(serial)
        return SessionStateChanged(state=SessionState.QUEUED, reason=reason)

    def continuing(
        self, live: LiveSession, reason: str, *, job_id: int = 0
    ) -> tuple[EventMsg, ...]:
        """Give what takes an idle session on with the prompt it has, for a person or for a job."""
        record = live.record
        continued = SessionContinued(
            generation=record.generation,
            after_step=_last_step(record),
            reason=reason,
            job_id=job_id,
        )
        return (continued, self.queueing(record.serial))

    def going_on(self, live: LiveSession, generation: int) -> tuple[EventMsg, ...]:
        """Give what takes one working session on; `generation` is for leaving a terminal state.

        Raises:
            WrongStateError: it is at work, waits for an answer, or is a draft.
        """
        record = live.record
        if live.turn is not None and record.paused:
            return live.flagging(paused=False, reason=_RESUMED)
        if record.state.is_terminal and live.turn is None:
            continued = SessionContinued(
                generation=generation,
                after_step=_last_step(record),
                reason=f"resumed from {record.state}",
            )
            unflagged = live.flagging(paused=False, lost=False)
            return (continued, *unflagged, self.queueing(record.serial))
        if live.is_idle:
            return self.continuing(live, _RESUMED)
        raise WrongStateError(
            f"Session {live.session_id} is {record.state} and needs no resume.", way_on(live)
        )

    def again(self, top: LiveSession, children: Sequence[LiveSession]) -> list[Move]:
        """Give what takes a settled parent into a new generation: what did not succeed goes again,
        and all of it when all succeeded.
        """
        generation = max(live.record.generation for live in (top, *children)) + 1
        unmet = [live for live in children if live.record.state is not SessionState.COMPLETED]
        continued = SessionContinued(
            generation=generation, after_step=_last_step(top.record), reason=_RESUMED
        )
        moves: list[Move] = [
            (top, (continued, *top.moving(SessionState.RUNNING, "delegates again")))
        ]
        for live in unmet or children:
            record = live.record
            alone = SessionContinued(generation=generation, after_step=_last_step(record))
            if live.turn is not None:
                # It was resumed by itself before: it only has to count, and not to be held.
                moves.append((live, (alone, *live.flagging(paused=False, reason=_RESUMED))))
            elif record.state in {SessionState.CREATED, SessionState.WAITING_FOR_USER}:
                moves.append((live, (alone, self.queueing(record.serial))))
            else:
                moves.append((live, self.going_on(live, generation)))
        return moves

    def onward(self, top: LiveSession, children: Sequence[LiveSession]) -> list[Move]:
        """Give what takes an unsettled parent on: its idle and its paused children go.

        Raises:
            WrongStateError: none of them needs it.
        """
        ready = [
            live
            for live in children
            if live.is_idle or (live.turn is not None and live.record.paused)
        ]
        if not ready:
            asking = [
                live.session_id
                for live in children
                if live.record.state is SessionState.WAITING_FOR_USER
            ]
            remedy = f"Answer what {asking[0]} asks." if asking else way_on(top)
            raise WrongStateError(
                f"Session {top.session_id} is {top.record.state} and needs no resume.", remedy
            )
        moves = [(live, self.going_on(live, live.record.generation)) for live in ready]
        return [(top, top.flagging(paused=False)), *moves]


def _last_step(record: Session) -> int:
    # A record from before the number was kept has only the count.
    return max(record.last_step, record.steps)


def way_on(live: LiveSession) -> str:
    """Say what can be done with a session in its present state."""
    match live.record.state:
        case SessionState.CREATED:
            return "Start it."
        case SessionState.WAITING_FOR_USER:
            return "Answer its question." if live.turn is not None else "Resume it or write to it."
        case state if state.is_terminal:
            return "Resume it."
        case _:
            return "It is at work: steer, pause or stop it."


def check_unsettled(live: LiveSession) -> None:
    """Refuse what only a session that has not ended can hear. Raises WrongStateError."""
    if live.record.state.is_terminal:
        raise WrongStateError(
            f"Session {live.session_id} is {live.record.state}.",
            f"Resume it first: switchboard sessions resume {live.session_id}",
        )
