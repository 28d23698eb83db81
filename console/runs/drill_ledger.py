"""What a drill lost: judge a session's events, those that were published beside those stored.

No I/O and no clock. Invariant: nothing is counted as kept that is not in the store, and an action
counts as repeated unless a look at the screen stands between the two.
"""

from collections.abc import Sequence

import msgspec

from agent import protocol
from agent.records import ActionOutcome, DeviceState


class DrillResult(msgspec.Struct, frozen=True, kw_only=True):
    """One fault against one session."""

    fault: str
    outcome: str
    """How the session ended: its state's word, or `timed out`."""
    recovered: bool
    """Whether the session completed and the phone's own state says that the goal is reached."""
    events_published: int
    events_stored: int
    events_lost: int
    """Published and not stored the same, stored and not published, or missing from the order."""
    steps: int
    steps_repeated: int
    """Actions sent again without a look between."""
    noticed_ms: int | None
    """From the fault to the first event that tells of it; None when none had to."""
    took_ms: int
    error: str = ""
    kept_in: str = ""
    """The drill's data directory, where it was kept."""

    @property
    def lost_something(self) -> bool:
        """Whether anything was lost: an event, an action's once, or the goal."""
        return bool(self.events_lost or self.steps_repeated or not self.recovered)


def events_lost(published: Sequence[protocol.Event], stored: Sequence[protocol.Event]) -> int:
    """Count what was published otherwise than stored, stored unpublished, or left a gap."""
    seen = {event.event_id: protocol.encode(event) for event in published}
    kept = {event.event_id: protocol.encode(event) for event in stored}
    different = sum(kept.get(number) != data for number, data in seen.items())
    unpublished = sum(number not in seen for number in kept)
    twice = len(published) - len(seen)
    gaps = max(kept, default=0) - len(kept)
    return different + unpublished + twice + gaps + _gaps_within(stored)


def _gaps_within(stored: Sequence[protocol.Event]) -> int:
    """Count the numbers that are missing from the sessions' own order."""
    newest: dict[str, int] = {}
    missing = 0
    for event in stored:
        if event.session_id:
            missing += event.seq - newest.get(event.session_id, 0) - 1
            newest[event.session_id] = event.seq
    return missing


def steps_repeated(stored: Sequence[protocol.Event]) -> int:
    """Count actions that were sent again, the same, without an observation between."""
    repeated = 0
    unseen: set[tuple[str, str]] = set()
    refused: dict[str, tuple[str, str]] = {}
    for event in stored:
        match event.msg:
            case protocol.ObservationRecorded():
                unseen.clear()
            case protocol.ToolCallRequested(kind="action") as call:
                what = (call.tool, call.arguments)
                repeated += what in unseen
                unseen.add(what)
                refused[call.call_id] = what
            case protocol.ToolCallFinished(outcome=ActionOutcome.FAILED) as finished:
                # It is known not to have happened: sending it again repeats nothing.
                unseen.discard(refused.get(finished.call_id, ("", "")))
            case _:
                pass
    return repeated


def steps_taken(stored: Sequence[protocol.Event]) -> int:
    """Count the steps that were begun."""
    return sum(isinstance(event.msg, protocol.StepStarted) for event in stored)


def tells_of_trouble(event: protocol.Event) -> bool:
    """Return whether an operator who sees this event knows that something is wrong."""
    match event.msg:
        case protocol.DeviceChanged(device=device):
            return device.state is not DeviceState.ONLINE
        case protocol.SessionFlagsChanged(lost=lost):
            return lost
        case protocol.ObservationRecorded(observation=observation):
            return bool(observation.tree_note) or observation.frame is None
        case protocol.ToolCallFinished(outcome=outcome):
            return outcome is not ActionOutcome.DONE
        case (
            protocol.ErrorEvent()
            | protocol.WarningEvent()
            | protocol.StreamError()
            | protocol.TurnAborted()
        ):
            return True
        case _:
            return False
