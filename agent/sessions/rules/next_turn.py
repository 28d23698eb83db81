"""Which turn comes next: first a plan or none, after an end one at once or after a loss; pure.

Not the carrying out of it (`agent.sessions.turns.turns`). Invariants: a review turn is followed by
nothing and leaves the state alone; a session that somebody drives never goes on by itself, and none
does more often than the settings let it (CONTRACTS 1.10).
"""

from collections.abc import Iterable
from dataclasses import replace
from secrets import token_hex

from agent.loop.task_context import Following, TaskKind
from agent.protocol import RecoveryScheduled
from agent.records import DeviceInfo, DeviceState
from agent.sessions.registry.live_session import LiveSession, Turn, may_delegate
from agent.sessions.rules.attached_rules import held_back
from agent.sessions.rules.turn_outcome import Ending, end_of_review
from agent.settings import RecoverySettings

RECOVERY_PAUSES_S = (1.0, 5.0, 20.0)
"""How long a session lets things be before each time it goes on by itself."""


def what_follows(
    live: LiveSession, turn: Turn, ending: Ending, settings: RecoverySettings
) -> tuple[Ending, Turn | None]:
    """Return how a turn ends in its session, and the turn that follows it at once."""
    if turn.kind.is_review_turn:
        return end_of_review(turn, ending, live.record.state), None
    recovering = _recovering(live, turn, ending, settings)
    if recovering is not None:
        return recovering
    if ending.following is Following.CHILDREN:
        return held_back(live, turn, ending), None
    # A hint that came too late for the last step is not lost: it gets a turn of its own, and only
    # one: a task that takes no hints would otherwise be begun, and paid for, without end.
    late = any(hint.message_id not in turn.offered for hint in live.steering)
    if ending.following is Following.REGULAR_TURN or (ending.completed and late):
        # Nothing is put off: the session works on.
        return ending, _next(turn, turn.kind if late else TaskKind.REGULAR)
    return held_back(live, turn, ending), None


def needs_plan(live: LiveSession, devices: Iterable[DeviceInfo]) -> bool:
    """Return whether a session has to find out first who does its work (CONTRACTS 1.9).

    It does when it may delegate, names neither phone nor app, and there is a choice.
    """
    record = live.record
    if live.delegates or not may_delegate(record):
        return False
    if record.serial or record.needs or record.target_package or record.job_id:
        return False
    return sum(info.state is DeviceState.ONLINE for info in devices) > 1


def new_turn_id() -> str:
    return f"t-{token_hex(6)}"


def _recovering(
    live: LiveSession, turn: Turn, ending: Ending, settings: RecoverySettings
) -> tuple[Ending, Turn] | None:
    """Go on by itself after a loss that may pass, if nobody drives it and it may try again."""
    attempt = live.record.recoveries + 1
    if not ending.recovers or live.record.held or attempt > settings.retries:
        return None
    pause_s = RECOVERY_PAUSES_S[min(attempt, len(RECOVERY_PAUSES_S)) - 1]
    scheduled = RecoveryScheduled(
        attempt=attempt,
        limit=settings.retries,
        wait_ms=round(pause_s * 1000),
        reason="It could not continue.",
    )
    following = _next(turn, turn.kind)
    following.pause_s = pause_s
    following.patience_s = settings.device_grace_s
    msgs = (*ending.msgs, scheduled)
    return replace(ending, msgs=msgs, state=live.record.state, reason=""), following


def _next(turn: Turn, kind: TaskKind) -> Turn:
    # What it has begun on one phone it does not go on with on another.
    errand = None if turn.errand is None else replace(turn.errand, others=None)
    return Turn(new_turn_id(), errand, kind=kind, runner=turn.runner)
