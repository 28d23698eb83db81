"""A session in memory: its record, its open turn, and the operator's hints that wait.

Not a state of its own: the record is what folding the stored events gives, never edited. Invariant:
`turn` and `steering` change only under `lock`, or before anybody else can see the session.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent import protocol
from agent.errors import SwitchboardError
from agent.loop.task_context import Grant, Steering, TaskKind
from agent.models.model import ToolCall
from agent.placement.needs import Needs
from agent.records import Session, SessionKind, SessionState
from agent.safety.redacting.requested_details import Detail, all_requested_in
from agent.store.leases import Lease
from agent.store.store import EventDraft


@dataclass(frozen=True, kw_only=True)
class Errand:
    """A job's instructions for a turn of a session: nobody may be watching, so it has limits."""

    job_id: int
    deadline_s: float = 0.0  # Seconds for the task; 0 = none.
    max_steps: int = 0  # Counted steps for the prompt; 0 = the session's.
    grant: Grant | None = None  # The one action that a person approved.
    call: ToolCall | None = None  # The one call to carry out instead of asking a model.
    output_schema: str = ""  # The JSON Schema of its result; empty: any text.
    requires: tuple[str, ...] = ()  # What it has to meet beside its prompt.
    others: Needs | None = None  # Other phones that will do; None: only the session's own.


@dataclass(eq=False)
class Turn:
    """One turn: from the wait for a device until its end is stored."""

    turn_id: str
    errand: Errand | None = None
    """Set when a job started it."""
    kind: TaskKind = TaskKind.REGULAR
    pause_s: float = 0.0
    """How long it waits before it begins, when it resumes after a loss."""
    patience_s: float = 0.0
    """How long it waits for its device; 0: forever."""
    runner: asyncio.Task[None] | None = None
    """The asyncio task that runs the turn, and a turn that follows it at once."""
    aborting: protocol.AbortReason | None = None
    """Why it is being ended early; set before the runner is cancelled."""
    started: bool = False
    """Its start is stored, so its end has to be."""
    offered: frozenset[str] = frozenset()
    """The ids of the hints that waited when it started, which it could apply."""
    finishing: bool = False
    """The task ended by itself and its end is being stored: too late to abort."""
    said: tuple[str, ...] = ()
    """The operator's own words so far, oldest first."""
    asked_for: frozenset[Detail] = frozenset()
    """The personal details that these words ask for, which are not redacted in it."""
    mute: bool = False
    """Its end is on its way to the store: nothing may be stored after it."""
    lease: Lease | None = None
    """The right to its phone; what it stores goes under it."""
    out_of_patience: bool = False
    """It has waited for its device for as long as it may."""
    unstored: bool = False
    """It has ended, and the store has yet to take that in."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once its end is stored, or once it ended before it began."""
    follows: "Turn | None" = None
    """What goes on once the end of an `unstored` one is stored."""

    def hear(self, texts: Iterable[str]) -> None:
        """Take in words of the operator."""
        new = tuple(texts)
        self.said += new
        self.asked_for |= all_requested_in(new)

    @property
    def background(self) -> bool:
        """Whether nobody may be watching."""
        return self.errand is not None

    @property
    def deadline_s(self) -> float:
        """Seconds for the task; 0 = none."""
        return 0.0 if self.errand is None else self.errand.deadline_s

    @property
    def max_steps(self) -> int:
        """Counted steps for the prompt; 0 = the session's."""
        return 0 if self.errand is None else self.errand.max_steps


@dataclass(eq=False)
class LiveSession:
    """One session that somebody works with."""

    record: Session
    child_ids: tuple[str, ...] = ()
    newest_children: int = 0
    """The highest generation among its children."""
    turn: Turn | None = None
    steering: list[Steering] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    may_go: asyncio.Event = field(default_factory=asyncio.Event)
    """Clear while the session is paused."""
    parked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while its turn waits between two steps, or before an action, because it is paused."""
    disturbed_ms: int = 0
    """When its device last was away, or somebody else's: what was seen before is old."""

    def __post_init__(self) -> None:
        self.see(self.record)

    @property
    def session_id(self) -> str:
        return self.record.session_id

    @property
    def delegates(self) -> bool:
        """Whether children do the work in its present generation.

        One that was taken on with a new prompt has only those of the past, until it plans anew.
        """
        return bool(self.child_ids) and self.newest_children >= self.record.generation

    @property
    def in_tree(self) -> bool:
        """Whether it has a parent or children."""
        return bool(self.child_ids or self.record.parent_id)

    @property
    def is_at_work(self) -> bool:
        """Whether a turn of its own is open: not one that only reads it."""
        return self.turn is not None and not self.turn.kind.is_review_turn

    @property
    def lease(self) -> Lease | None:
        """The lease of its open turn on a phone."""
        return None if self.turn is None else self.turn.lease

    @property
    def is_idle(self) -> bool:
        """Whether it waits for the operator to go on, with no turn open."""
        return self.turn is None and self.record.state is SessionState.WAITING_FOR_USER

    @property
    def is_forsaken(self) -> bool:
        """Whether it is said to be at work, and nobody here works on it: its lease was lost."""
        at_work = self.record.state in {SessionState.QUEUED, SessionState.RUNNING}
        return self.turn is None and at_work and not self.delegates

    def see(self, record: Session) -> None:
        """Take in the record as it now is."""
        self.record = record
        if record.paused:
            self.may_go.clear()
        else:
            self.may_go.set()

    def drafts(self, *msgs: protocol.EventMsg, submission_id: str = "") -> tuple[EventDraft, ...]:
        """Make drafts of facts about this session."""
        return tuple(EventDraft(self.session_id, msg, submission_id) for msg in msgs)

    def moving(
        self, state: SessionState, reason: str = "", *, stopped: bool = False
    ) -> tuple[protocol.EventMsg, ...]:
        """Return the move to a state, by a stop or not; nothing when the session is there."""
        if self.record.state is state:
            return ()
        return (protocol.SessionStateChanged(state=state, reason=reason, stopped=stopped),)

    def flagging(
        self,
        *,
        paused: bool | None = None,
        lost: bool | None = None,
        lost_until_ms: int = 0,
        held: bool | None = None,
        driver: str | None = None,
        reason: str = "",
    ) -> tuple[protocol.EventMsg, ...]:
        """Return the change of flags; nothing when they are so already."""
        now = self.record
        before = (now.paused, now.held, now.lost, now.driver)
        wanted = (
            now.paused if paused is None else paused,
            now.held if held is None else held,
            now.lost if lost is None else lost,
            now.driver if driver is None else driver,
        )
        if wanted == before:
            return ()
        paused, held, lost, driver = wanted
        until_ms = (lost_until_ms or now.lost_until_ms) if lost else 0
        return (
            protocol.SessionFlagsChanged(
                paused=paused,
                held=held,
                lost=lost,
                lost_until_ms=until_ms,
                driver=driver,
                reason=reason,
            ),
        )


def may_delegate(session: Session) -> bool:
    return session.kind is SessionKind.AGENT and not session.parent_id


def error_event(error: SwitchboardError, *, retryable: bool = False) -> protocol.ErrorEvent:
    """Make the fact that something failed."""
    return protocol.ErrorEvent(
        message=error.message, kind=error.kind, remedy=error.remedy, retryable=retryable
    )
