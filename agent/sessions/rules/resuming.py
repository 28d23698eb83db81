"""The events that resume sessions: after a pause, a stop, a crash, or from a terminal state.

Pure: `agent.sessions.lifecycle.operations` stores the events and begins turns. Invariant: only a
higher generation leaves a terminal state.
"""

from collections.abc import Sequence
from typing import TypeAlias

from agent.errors import WrongStateError
from agent.protocol import EventMsg, SessionContinued, SessionStateChanged, UserMessage
from agent.records import Session, SessionState
from agent.sessions.registry.device_assignment import Assignment
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.rules.device_requests import device_request_of
from agent.sessions.rules.rollup import is_part

Move: TypeAlias = tuple[LiveSession, tuple[EventMsg, ...]]
"""A session, and the events to store for it."""

_RESUMED = "resumed by the operator"


class Resuming:
    """Makes the events that resume sessions."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment

    def queueing(self, session: Session) -> SessionStateChanged:
        """Return a session's move to QUEUED, with what it waits for as the reason."""
        reason = self._assignment.why_waiting(device_request_of(session))
        return SessionStateChanged(state=SessionState.QUEUED, reason=reason)

    def continuing(
        self, live: LiveSession, reason: str, *, job_id: int = 0
    ) -> tuple[EventMsg, ...]:
        """Return the events that continue an idle session, for a person or a job."""
        record = live.record
        continued = SessionContinued(
            generation=record.generation,
            after_step=_last_step(record),
            reason=reason,
            job_id=job_id,
        )
        return (continued, self.queueing(record))

    def resume_one(
        self, live: LiveSession, generation: int, *, reason: str = _RESUMED
    ) -> tuple[EventMsg, ...]:
        """Return the events that resume one session that works itself.

        Args:
            generation: the new one, if it leaves a terminal state.
            reason: who resumes it, if it was idle or paused.

        Raises:
            WrongStateError: it is at work, waits for an answer, or is a draft.
        """
        record = live.record
        if live.turn is not None and record.paused:
            return live.flagging(paused=False, reason=reason)
        if record.state.is_terminal and live.turn is None:
            continued = SessionContinued(
                generation=generation,
                after_step=_last_step(record),
                reason=f"resumed from {record.state}",
            )
            unflagged = live.flagging(paused=False, lost=False)
            return (continued, *unflagged, self.queueing(record))
        if live.is_idle:
            return self.continuing(live, reason)
        raise WrongStateError(
            f"Session {live.session_id} is {record.state} and does not need to be resumed.",
            way_on(live),
        )

    def resume_with(
        self, live: LiveSession, generation: int, prompt: UserMessage
    ) -> tuple[EventMsg, ...]:
        """Return the events of a session that ended and goes on with another prompt."""
        continued, *others = self.resume_one(live, generation)
        # After what begins the generation, or the goal would be its prompt.
        return (continued, prompt, *others)

    def resume_tree(self, top: LiveSession, children: Sequence[LiveSession]) -> list[Move]:
        """Return what opens a new generation of a settled parent: what did not succeed runs again,
        and all of it when all succeeded.
        """
        parts = [live for live in children if is_part(top.record, live.record)]
        unmet = [live for live in parts if live.record.state is not SessionState.COMPLETED]
        return self._with_parent(top, children, unmet or parts)

    def resume_part(
        self, top: LiveSession, children: Sequence[LiveSession], part: LiveSession
    ) -> list[Move]:
        """Return what takes one part of a settled parent on: the parent goes on with it, or nobody
        would hear what it asks.

        Raises:
            WrongStateError: it is of a plan that was replaced, or is not settled.
        """
        _check_part(top, part)
        return self._with_parent(top, children, [part])

    def next_generation(self, live: LiveSession, parent: LiveSession | None) -> int:
        """Return the generation in which a session goes on by itself; its parent counts it there.

        Raises:
            WrongStateError: it is settled, and its parent's plan is not the one that it is of.
        """
        own = live.record.generation + 1
        if parent is None or not live.record.state.is_terminal:
            return own
        if not parent.delegates:
            raise _of_earlier_plan(live, parent)
        _check_part(parent, live)
        return max(own, parent.record.generation)

    def _with_parent(
        self, top: LiveSession, children: Sequence[LiveSession], going: Sequence[LiveSession]
    ) -> list[Move]:
        generation = max(live.record.generation for live in (top, *children)) + 1
        continued = SessionContinued(
            generation=generation, after_step=_last_step(top.record), reason=_RESUMED
        )
        moves: list[Move] = [
            (top, (continued, *top.moving(SessionState.RUNNING, "delegates again")))
        ]
        for live in going:
            record = live.record
            alone = SessionContinued(generation=generation, after_step=_last_step(record))
            if live.turn is not None:
                # It was resumed by itself before: it only has to count, and not to be held.
                moves.append((live, (alone, *live.flagging(paused=False, reason=_RESUMED))))
            elif record.state in {SessionState.CREATED, SessionState.WAITING_FOR_USER}:
                moves.append((live, (alone, self.queueing(record))))
            else:
                moves.append((live, self.resume_one(live, generation)))
        return moves

    def onward(self, top: LiveSession, children: Sequence[LiveSession]) -> list[Move]:
        """Return what takes an unsettled parent on: its idle and its paused children go.

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
                f"Session {top.session_id} is {top.record.state} and does not need to be resumed.",
                remedy,
            )
        moves = [(live, self.resume_one(live, live.record.generation)) for live in ready]
        return [(top, top.flagging(paused=False)), *moves]


def _check_part(parent: LiveSession, part: LiveSession) -> None:
    if not is_part(parent.record, part.record):
        raise _of_earlier_plan(part, parent)


def _of_earlier_plan(part: LiveSession, parent: LiveSession) -> WrongStateError:
    return WrongStateError(
        f"Session {part.session_id} is part of an earlier plan of {parent.session_id}.",
        f"See what is done now: switchboard sessions show {parent.session_id}",
    )


def _last_step(record: Session) -> int:
    # A record from before the number was kept has only the count.
    return max(record.last_step, record.steps)


def way_on(live: LiveSession) -> str:
    """Return what can be done with a session in its present state."""
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
