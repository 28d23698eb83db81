"""Glyph, word and colour of every state, in that order, so that all read without colour.

Tables only. Invariant: every member of an enum has an entry, and no two states of one enum share
both glyph and word.
"""

from __future__ import annotations

from typing import NamedTuple

from agent.records import (
    ActionOutcome,
    CommitmentStatus,
    DeviceInfo,
    DeviceState,
    GoalVerdict,
    JobStatus,
    PlanStatus,
    Session,
    SessionState,
    TargetRuntime,
    WatcherStatus,
)
from agent.state.reducer import AttentionKind, Tone


class Mark(NamedTuple):
    """How a state looks: one cell, a word, and the name of a theme colour."""

    glyph: str
    word: str
    style: str


QUEUED = Mark("◌", "queued", "$muted")
_SESSION = {
    SessionState.CREATED: Mark("·", "draft", "$muted"),
    SessionState.QUEUED: QUEUED,
    SessionState.RUNNING: Mark("●", "running", "$live"),
    SessionState.WAITING_FOR_USER: Mark("○", "idle", "$muted"),
    SessionState.COMPLETED: Mark("✓", "done", "$good"),
    SessionState.FAILED: Mark("×", "failed", "$bad"),
    SessionState.CANCELLED: Mark("–", "cancelled", "$faint"),
}
ASKS = Mark("?", "asks you", "$ask")
ACT_DONE = Mark("✓", "act done", "$good")
PAUSED = Mark("‖", "paused", "$warn")
UNVERIFIED = Mark("≈", "unverified", "$warn")
STOPPED = Mark("□", "stopped", "$muted")
WRONG = Mark("≠", "wrong", "$bad")
HELD = Mark("◇", "held", "$warn")
LOST = Mark("!", "device away", "$bad")


DELEGATES = Mark("◆", "subtasks running", "$live")


def of_session(session: Session, *, asks: bool = False, delegates: bool = False) -> Mark:
    """Return how a session stands; a flag that needs a person wins over the state."""
    if session.state is SessionState.COMPLETED and not session.dry_run:
        if session.verdict is GoalVerdict.NOT_MET:
            return WRONG
        if not session.is_verified:
            return UNVERIFIED
        if session.one_act:
            return ACT_DONE
    if session.state.is_terminal:
        return _SESSION[session.state]
    if session.lost:
        return LOST
    if asks:
        return ASKS
    if session.paused:
        return PAUSED
    if session.held and not session.turn_id:
        # Driven by somebody and at work, it runs; at rest, it waits to be let go.
        return HELD
    if delegates and session.state is SessionState.WAITING_FOR_USER:
        return DELEGATES
    if session.stopped and session.state is SessionState.WAITING_FOR_USER:
        return STOPPED
    return _SESSION[SessionState.QUEUED if session.awaits_phone else session.state]


def state_word(session: Session, *, asks: bool = False) -> str:
    """Return the word for a session's state, whatever flags and verdicts stand beside it.

    Args:
        session: its record.
        asks: whether a question of its own is open, which the record does not tell.
    """
    if asks and not session.state.is_terminal:
        return ASKS.word
    if session.stopped and session.state is SessionState.WAITING_FOR_USER:
        return STOPPED.word
    return _SESSION[SessionState.QUEUED if session.awaits_phone else session.state].word


_DEVICE = {
    DeviceState.ONLINE: Mark("●", "online", "$good"),
    DeviceState.OFFLINE: Mark("○", "offline", "$bad"),
    DeviceState.UNAUTHORIZED: Mark("!", "unauthorized", "$ask"),
    DeviceState.AUTHORIZING: Mark("◌", "authorizing", "$warn"),
    DeviceState.CONNECTING: Mark("◌", "connecting", "$warn"),
    DeviceState.NO_PERMISSIONS: Mark("!", "no permissions", "$bad"),
    DeviceState.RECOVERY: Mark("◇", "recovery", "$warn"),
    DeviceState.SIDELOAD: Mark("◇", "sideload", "$warn"),
    DeviceState.BOOTLOADER: Mark("◇", "bootloader", "$warn"),
    DeviceState.GONE: Mark("○", "away", "$faint"),
    DeviceState.UNKNOWN: Mark("·", "unknown", "$faint"),
}


def of_device(device: DeviceInfo) -> Mark:
    """Return how a device stands."""
    return _DEVICE[device.state]


TARGET = {
    TargetRuntime.NONE: "",
    TargetRuntime.ATTACHED: "",
    TargetRuntime.DETACHED_LAUNCHING: "app starting, hidden",
    TargetRuntime.DETACHED_HIDDEN: "app hidden",
    TargetRuntime.DETACHED_SHOWN: "app on a display of its own",
    TargetRuntime.MISSING: "app lost its display",
}
"""Where the app of a session is, when it is not in front like any other."""

JOB = {
    JobStatus.ACTIVE: Mark("◔", "active", "$live"),
    JobStatus.QUEUED: Mark("◌", "queued", "$muted"),
    JobStatus.RUNNING: Mark("●", "running", "$live"),
    JobStatus.WAITING: Mark("○", "waiting", "$warn"),
    JobStatus.AWAITING_REVIEW: Mark("?", "review", "$ask"),
    JobStatus.PAUSED: Mark("‖", "paused", "$warn"),
    JobStatus.COMPLETED: Mark("✓", "done", "$good"),
    JobStatus.FAILED: Mark("×", "failed", "$bad"),
    JobStatus.STOPPED: Mark("–", "stopped", "$faint"),
    JobStatus.DISPATCHED: Mark("→", "dispatched", "$muted"),
}
WATCHER = {
    WatcherStatus.ACTIVE: Mark("◔", "looking", "$live"),
    WatcherStatus.FIRED: Mark("◎", "found", "$good"),
    WatcherStatus.STOPPED: Mark("–", "stopped", "$faint"),
}
COMMITMENT = {
    CommitmentStatus.PENDING: Mark("○", "to do", "$muted"),
    CommitmentStatus.ACTIVE: Mark("◔", "later", "$live"),
    CommitmentStatus.SNOOZED: Mark("◌", "snoozed", "$muted"),
    CommitmentStatus.FIRED: Mark("◷", "due", "$ask"),
    CommitmentStatus.COMPLETED: Mark("✓", "done", "$good"),
    CommitmentStatus.DISMISSED: Mark("–", "dismissed", "$faint"),
}
PLAN = {
    PlanStatus.PENDING: Mark("○", "to do", "$muted"),
    PlanStatus.IN_PROGRESS: Mark("▸", "doing", "$live"),
    PlanStatus.COMPLETED: Mark("✓", "done", "$good"),
}
OUTCOME = {
    ActionOutcome.DONE: Mark("✓", "done", "$good"),
    ActionOutcome.FAILED: Mark("×", "failed", "$bad"),
    ActionOutcome.UNKNOWN: Mark("?", "unknown", "$warn"),
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
