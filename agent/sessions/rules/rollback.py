"""Which of a session's events count: what was rolled back is hidden, never deleted. Pure.

Not the op (`agent.sessions.lifecycle.archive`) and not the transcript, which folds the same event
by itself. Invariant: hidden events stay hidden, and events after a rollback are seen.
"""

from collections.abc import Sequence

from agent import protocol
from agent.errors import UsageError
from agent.records import SessionState


def visible(events: Sequence[protocol.Event]) -> tuple[protocol.Event, ...]:
    """Leave out what was rolled back, and the rollbacks themselves."""
    seen: list[protocol.Event] = []
    for event in events:
        if isinstance(event.msg, protocol.SessionRolledBack):
            while seen and seen[-1].seq >= event.msg.from_seq:
                seen.pop()
        else:
            seen.append(event)
    return tuple(seen)


def beginnings(events: Sequence[protocol.Event]) -> tuple[int, ...]:
    """Return the seq of the first event of each turn that counts.

    That is what asked for the turn, a message, a resume or the move to QUEUED, when one did.
    """
    begun: list[int] = []
    asked_seq = 0
    in_turn = False
    for event in visible(events):
        match event.msg:
            case protocol.TaskStarted():
                begun.append(asked_seq or event.seq)
                asked_seq, in_turn = 0, True
            case protocol.TaskComplete() | protocol.TurnAborted():
                asked_seq, in_turn = 0, False
            case (
                protocol.UserMessage()
                | protocol.SessionContinued()
                | protocol.SessionStateChanged(state=SessionState.QUEUED)
            ) if not in_turn:
                asked_seq = asked_seq or event.seq
            case _:
                pass
    return tuple(begun)


def rolled_back(events: Sequence[protocol.Event], turns: int) -> protocol.SessionRolledBack:
    """Return the fact that hides the newest turns; all of them when there are fewer.

    Raises:
        UsageError: not a positive number, or no turn is left to hide.
    """
    if turns < 1:
        raise UsageError(f"{turns} turns cannot be rolled back.", "Name a number from 1.")
    begun = beginnings(events)
    if not begun:
        raise UsageError("The session has no turn that could be rolled back.")
    hidden = min(turns, len(begun))
    return protocol.SessionRolledBack(turns=hidden, from_seq=begun[-hidden])
