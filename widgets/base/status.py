"""Define glyph, word and colour of every state, so that all read without colour.

Tables only. Invariant: every member of an enum has an entry, and no two states of one enum share
both glyph and word.
"""

from typing import NamedTuple

from agent import records
from agent.state.reducer import AttentionKind, Tone


class Mark(NamedTuple):
    """The display of a state: one cell, a word, and the name of a theme colour."""

    glyph: str
    word: str
    style: str


QUEUED = Mark("◌", "queued", "$muted")
_SESSION = {
    records.SessionState.CREATED: Mark("·", "draft", "$muted"),
    records.SessionState.QUEUED: QUEUED,
    records.SessionState.RUNNING: Mark("●", "running", "$live"),
    records.SessionState.WAITING_FOR_USER: Mark("○", "idle", "$muted"),
    records.SessionState.COMPLETED: Mark("✓", "done", "$good"),
    records.SessionState.FAILED: Mark("×", "failed", "$bad"),
    records.SessionState.CANCELLED: Mark("–", "cancelled", "$faint"),
}
ASKS = Mark("?", "asks you", "$ask")
ACT_DONE = Mark("✓", "act done", "$good")
PAUSED = Mark("‖", "paused", "$warn")
UNVERIFIED = Mark("≈", "unverified", "$warn")
STOPPED = Mark("□", "stopped", "$muted")
WRONG = Mark("≠", "wrong", "$bad")
HELD = Mark("◇", "held", "$warn")
LOST = Mark("!", "device away", "$bad")
HOST_AWAY = Mark("!", "host away", "$bad")

DELEGATES = Mark("◆", "subtasks running", "$live")


def of_session(
    session: records.Session, *, asks: bool = False, delegates: bool = False, stranded: bool = False
) -> Mark:
    """Return a session's mark; a flag that needs a person wins over the state.

    Args:
        session: its record.
        asks: whether a question of its own is open, which the record does not tell.
        delegates: whether a child of it has not ended.
        stranded: whether its host is gone, which that host could not store.
    """
    if session.state is records.SessionState.COMPLETED and not session.dry_run:
        if session.verdict is records.GoalVerdict.NOT_MET:
            return WRONG
        if not session.is_verified:
            return UNVERIFIED
        if session.one_act:
            return ACT_DONE
    if session.state.is_terminal:
        return _SESSION[session.state]
    if stranded:
        return HOST_AWAY
    if session.lost:
        return LOST
    if asks:
        return ASKS
    if session.paused:
        return PAUSED
    if session.held and not session.turn_id:
        # Driven by somebody and at work, it runs; at rest, it waits to be let go.
        return HELD
    if delegates and session.state is records.SessionState.WAITING_FOR_USER:
        return DELEGATES
    if session.stopped and session.state is records.SessionState.WAITING_FOR_USER:
        return STOPPED
    return _SESSION[records.SessionState.QUEUED if session.awaits_phone else session.state]


def state_word(session: records.Session, *, asks: bool = False) -> str:
    """Return the word for a session's state, regardless of flags and verdicts.

    Args:
        session: its record.
        asks: whether it has an open question, which the record does not contain.
    """
    if asks and not session.state.is_terminal:
        return ASKS.word
    if session.stopped and session.state is records.SessionState.WAITING_FOR_USER:
        return STOPPED.word
    return _SESSION[records.SessionState.QUEUED if session.awaits_phone else session.state].word


_DEVICE = {
    records.DeviceState.ONLINE: Mark("●", "online", "$good"),
    records.DeviceState.OFFLINE: Mark("○", "offline", "$bad"),
    records.DeviceState.UNAUTHORIZED: Mark("!", "unauthorized", "$ask"),
    records.DeviceState.AUTHORIZING: Mark("◌", "authorizing", "$warn"),
    records.DeviceState.CONNECTING: Mark("◌", "connecting", "$warn"),
    records.DeviceState.NO_PERMISSIONS: Mark("!", "no permissions", "$bad"),
    records.DeviceState.RECOVERY: Mark("◇", "recovery", "$warn"),
    records.DeviceState.SIDELOAD: Mark("◇", "sideload", "$warn"),
    records.DeviceState.BOOTLOADER: Mark("◇", "bootloader", "$warn"),
    records.DeviceState.GONE: Mark("○", "away", "$faint"),
    records.DeviceState.UNKNOWN: Mark("·", "unknown", "$faint"),
}


def of_device(device: records.DeviceInfo) -> Mark:
    """Return a device's mark."""
    return _DEVICE[device.state]


TARGET = {
    records.TargetRuntime.NONE: "",
    records.TargetRuntime.ATTACHED: "",
    records.TargetRuntime.DETACHED_LAUNCHING: "app starting, hidden",
    records.TargetRuntime.DETACHED_HIDDEN: "app hidden",
    records.TargetRuntime.DETACHED_SHOWN: "app on a display of its own",
    records.TargetRuntime.MISSING: "app lost its display",
}
"""Where the app of a session is, when it is not in front like any other."""

JOB = {
    records.JobStatus.ACTIVE: Mark("◔", "active", "$live"),
    records.JobStatus.QUEUED: Mark("◌", "queued", "$muted"),
    records.JobStatus.RUNNING: Mark("●", "running", "$live"),
    records.JobStatus.WAITING: Mark("○", "waiting", "$warn"),
    records.JobStatus.AWAITING_REVIEW: Mark("?", "review", "$ask"),
    records.JobStatus.PAUSED: Mark("‖", "paused", "$warn"),
    records.JobStatus.COMPLETED: Mark("✓", "done", "$good"),
    records.JobStatus.FAILED: Mark("×", "failed", "$bad"),
    records.JobStatus.STOPPED: Mark("–", "stopped", "$faint"),
    records.JobStatus.DISPATCHED: Mark("→", "dispatched", "$muted"),
}
WATCHER = {
    records.WatcherStatus.ACTIVE: Mark("◔", "looking", "$live"),
    records.WatcherStatus.FIRED: Mark("◎", "found", "$good"),
    records.WatcherStatus.STOPPED: Mark("–", "stopped", "$faint"),
}
COMMITMENT = {
    records.CommitmentStatus.PENDING: Mark("○", "to do", "$muted"),
    records.CommitmentStatus.ACTIVE: Mark("◔", "later", "$live"),
    records.CommitmentStatus.SNOOZED: Mark("◌", "snoozed", "$muted"),
    records.CommitmentStatus.FIRED: Mark("◷", "due", "$ask"),
    records.CommitmentStatus.COMPLETED: Mark("✓", "done", "$good"),
    records.CommitmentStatus.DISMISSED: Mark("–", "dismissed", "$faint"),
}
PLAN = {
    records.PlanStatus.PENDING: Mark("○", "to do", "$muted"),
    records.PlanStatus.IN_PROGRESS: Mark("▸", "doing", "$live"),
    records.PlanStatus.COMPLETED: Mark("✓", "done", "$good"),
}
OUTCOME = {
    records.ActionOutcome.DONE: Mark("✓", "done", "$good"),
    records.ActionOutcome.FAILED: Mark("×", "failed", "$bad"),
    records.ActionOutcome.UNKNOWN: Mark("?", "unknown", "$warn"),
}
UNDER_WAY = Mark("…", "under way", "$muted")
ATTENTION = {
    AttentionKind.QUESTION: Mark("?", "asks", "$ask"),
    AttentionKind.APPROVAL: Mark("◆", "approve", "$ask"),
    AttentionKind.LOST: Mark("!", "away", "$bad"),
    AttentionKind.DEVICE: Mark("!", "device", "$warn"),
    AttentionKind.COMMITMENT: Mark("◷", "due", "$ask"),
    AttentionKind.WATCHER: Mark("◎", "found", "$ask"),
    AttentionKind.RESULT: Mark("→", "result", "$ask"),
    AttentionKind.FAILED: Mark("×", "failed", "$bad"),
}
TONE = {
    Tone.INFO: Mark("·", "", "$muted"),
    Tone.RESULT: Mark("✓", "", "$good"),
    Tone.WARNING: Mark("!", "", "$warn"),
    Tone.ERROR: Mark("×", "", "$bad"),
}
