"""Define the ops on watchers and commitments."""

from typing import Any, ClassVar, TypeAlias

import msgspec

from agent.protocol.base import CreatingOp, OpBase
from agent.records import (
    STOPPING,
    Allows,
    CommitmentStatus,
    Evaluator,
    NotifyOn,
    Origin,
    Right,
    WatcherType,
)


class WatcherCreate(CreatingOp, frozen=True, kw_only=True, tag="watcher_create"):
    """Look out for something from now on; the reply carries the watcher."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the watcher"

    watcher_type: WatcherType
    title: str = ""
    """Empty: what it looks for."""
    serial: str = ""
    package: str = ""
    sender: str = ""
    texts: tuple[str, ...] = ()
    match_any: bool = False
    meaning: str = ""
    """For `semantic_match`: what must be so, in words."""
    url: str = ""
    evaluator: Evaluator = Evaluator.HASH_CHANGE
    notify_on: NotifyOn = NotifyOn.REPLY
    next_run_at: int = 0
    """When a time watcher fires, in ms since the epoch."""
    interval_ms: int = 0
    """How often it looks; 0 for what suits its type. Of a time watcher: how often it fires."""
    recurring: bool = False
    deadline_at: int = 0
    prompt: str = ""
    """What a job does that each match starts."""
    tool: str = ""
    """In its place, the one tool that the job calls."""
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    """What it is called with; `{{event.title}}` and the like stand for what was seen."""
    session_target: str = "isolated"
    delivery_mode: str = "notification"
    notification_text: str = ""


class WatcherList(OpBase, frozen=True, kw_only=True, tag="watcher_list"):
    """List watchers, newest first; the query is a case-insensitive substring."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the watchers"
    changes_nothing: ClassVar[bool] = True

    query: str = ""
    limit: int = 50
    before: int = 0  # Only those with a smaller id; 0 for the newest.


class WatcherShow(OpBase, frozen=True, kw_only=True, tag="watcher_show"):
    """Return one watcher."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the watcher"
    changes_nothing: ClassVar[bool] = True

    watcher_id: int


class WatcherStop(OpBase, frozen=True, kw_only=True, tag="watcher_stop"):
    """Stop watchers for good: one by id, those that match a query, or all active ones."""

    needs: ClassVar[tuple[Right, ...]] = STOPPING
    stops: ClassVar[bool] = True
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the watchers that were stopped"

    watcher_id: int = 0
    query: str = ""
    all: bool = False


class WatcherRead(OpBase, frozen=True, kw_only=True, tag="watcher_read"):
    """Mark a watcher's last match as seen."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the watcher"

    watcher_id: int


class CommitmentCreate(CreatingOp, frozen=True, kw_only=True, tag="commitment_create"):
    """Create a commitment; the reply carries it."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the commitment"

    title: str
    description: str = ""
    due_at: int = 0
    """In ms since the epoch; 0: it waits to be done, and is never due by itself."""
    expires_at: int = 0
    confidence: float | None = None
    """0 to 1; None for what is usual: 0.8, and 0.75 where it is from a notification."""
    evidence: dict[str, Any] = msgspec.field(default_factory=dict)
    origin: Origin | None = None
    """The notification that it is from: what that says on the phone becomes its evidence."""


class CommitmentSearch(OpBase, frozen=True, kw_only=True, tag="commitment_search"):
    """List commitments, newest first; the query is a case-insensitive substring."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the commitments"
    changes_nothing: ClassVar[bool] = True

    query: str = ""
    limit: int = 50
    before: int = 0


class CommitmentUpdate(OpBase, frozen=True, kw_only=True, tag="commitment_update"):
    """Complete, snooze, dismiss or reopen a commitment."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the commitment"

    commitment_id: int
    status: CommitmentStatus
    due_at: int = 0  # When a snoozed or taken-up one is due; 0: a snoozed one in an hour.


AnyWatchOp: TypeAlias = (
    WatcherCreate
    | WatcherList
    | WatcherShow
    | WatcherStop
    | WatcherRead
    | CommitmentCreate
    | CommitmentSearch
    | CommitmentUpdate
)
