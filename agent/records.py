"""The nouns: what a session, device, question, job, observation, element or action is.

Frozen msgspec structs that go to JSON and back without loss. No behaviour beyond what follows from
a record's own fields; no I/O. Invariants: coordinates are normalized to [0, 1] with the origin at
the top left; times are integer milliseconds since the epoch; durations carry their unit.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every stored record."""


# --- geometry ----------


class Point(Record, frozen=True, kw_only=True):
    """A place on a screen; x and y in [0, 1]."""

    x: float
    y: float


class Bounds(Record, frozen=True, kw_only=True):
    """A rectangle on a screen; edges in [0, 1]."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def center(self) -> Point:
        """The middle of the rectangle."""
        return Point(x=(self.left + self.right) / 2, y=(self.top + self.bottom) / 2)


# --- devices ----------


class DeviceState(StrEnum):
    """What the adb server says of a device; the words are adb's own."""

    ONLINE = "device"
    OFFLINE = "offline"
    UNAUTHORIZED = "unauthorized"
    AUTHORIZING = "authorizing"
    CONNECTING = "connecting"
    NO_PERMISSIONS = "no permissions"
    RECOVERY = "recovery"
    SIDELOAD = "sideload"
    BOOTLOADER = "bootloader"
    GONE = "gone"
    UNKNOWN = "unknown"


class DeviceInfo(Record, frozen=True, kw_only=True):
    """One phone or emulator as the operator knows it."""

    serial: str
    state: DeviceState
    model: str = ""
    android: str = ""
    width_px: int = 0
    height_px: int = 0
    virtual: bool = False
    driver: str = ""
    """Who holds the lease: a session id, "operator", or empty."""
    note: str = ""
    """Why the device cannot be used and what to do about it, when it cannot."""


class AppInfo(Record, frozen=True, kw_only=True):
    """One installed app that can be started."""

    package: str
    label: str = ""


class Foreground(Record, frozen=True, kw_only=True):
    """The app in front; the keyboard, the shade and system windows never count."""

    package: str
    activity: str = ""
    keyboard_shown: bool = False


class FrameSource(StrEnum):
    """Where a frame came from."""

    SCRCPY = "scrcpy"
    CAPTURE = "capture"
    STORED = "stored"


class FrameStatus(StrEnum):
    """What a frame is worth now; the honest label of the console."""

    LIVE = "live"
    STATIC = "static"
    STALE = "stale"
    SECURE = "secure"
    LOST = "lost"
    ERROR = "error"


class Frame(Record, frozen=True, kw_only=True):
    """A stored picture of a device's screen; its bytes are the blob with this digest."""

    digest: str
    width_px: int
    height_px: int
    captured_ms: int
    source: FrameSource = FrameSource.CAPTURE
    media_type: str = "image/png"


class LiveFrame(Record, frozen=True, kw_only=True):
    """The newest picture of a device, at the size a reader asked for; never stored."""

    serial: str
    width_px: int
    height_px: int
    rgb: bytes
    """height_px × width_px × 3 bytes, row by row; empty when the status is lost or error."""
    captured_ms: int
    source: FrameSource
    status: FrameStatus
    detail: str = ""
    """What is wrong, in a sentence, when the status is lost or error."""


# --- observation ----------


class UiNode(Record, frozen=True, kw_only=True):
    """One node of a UI tree, as the device reported it, in document order."""

    text: str = ""
    description: str = ""
    hint: str = ""
    resource_id: str = ""
    class_name: str = ""
    package: str = ""
    bounds: Bounds
    depth: int = 0
    parent: int = -1
    """Index of the parent in the tree's node list; −1 for a root."""
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False


class Element(Record, frozen=True, kw_only=True):
    """A numbered node that a model may name."""

    number: int
    key: str
    """Stable across captures: resource id, class, label and position cell."""
    kind: str
    label: str
    value: str = ""
    """What an editable field holds; always empty for a password."""
    bounds: Bounds
    resource_id: str = ""
    class_name: str = ""
    package: str = ""
    clickable: bool = False
    editable: bool = False
    scrollable: bool = False
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focused: bool = False
    selected: bool = False
    password: bool = False
    long_clickable: bool = False
    is_new: bool = False


class Observation(Record, frozen=True, kw_only=True):
    """Frame, elements and foreground app of one moment."""

    started_ms: int
    ended_ms: int
    foreground: Foreground
    elements: tuple[Element, ...] = ()
    fingerprint: str = ""
    change: str = ""
    screen_text: str = ""
    frame: Frame | None = None
    tree_digest: str = ""
    tree_note: str = ""
    """Why there is no UI tree, when there is none."""


# --- what an agent does ----------


class ActionOutcome(StrEnum):
    """How an action ended; a timed-out one is unknown until the next observation."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class PlanStatus(StrEnum):
    """Where one item of a plan stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class PlanItem(Record, frozen=True, kw_only=True):
    """One sub-goal."""

    step: str
    status: PlanStatus = PlanStatus.PENDING


class Usage(Record, frozen=True, kw_only=True):
    """What model calls cost so far."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    calls: int = 0

    def plus(self, other: Usage) -> Usage:
        """Add two usages."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            calls=self.calls + other.calls,
        )


class TimeSplit(Record, frozen=True, kw_only=True):
    """Where the milliseconds of a step, or of a session, went."""

    observe_ms: int = 0
    model_ms: int = 0
    act_ms: int = 0
    settle_ms: int = 0
    idle_ms: int = 0

    def plus(self, other: TimeSplit) -> TimeSplit:
        """Add two splits."""
        return TimeSplit(
            observe_ms=self.observe_ms + other.observe_ms,
            model_ms=self.model_ms + other.model_ms,
            act_ms=self.act_ms + other.act_ms,
            settle_ms=self.settle_ms + other.settle_ms,
            idle_ms=self.idle_ms + other.idle_ms,
        )


# --- sessions ----------


class SessionKind(StrEnum):
    """What place a session has in a tree."""

    AGENT = "agent_parent"
    GENIE = "genie_child"
    HOME = "home_session"


class SessionState(StrEnum):
    """The states of CONTRACTS 1.4; paused, held and lost are flags beside them."""

    CREATED = "CREATED"
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    WAITING_FOR_USER = "WAITING_FOR_USER"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_terminal(self) -> bool:
        """Whether only an explicit resume may leave this state."""
        return self in {SessionState.COMPLETED, SessionState.FAILED, SessionState.CANCELLED}


class Session(Record, frozen=True, kw_only=True):
    """A goal being pursued; a node of a session tree."""

    session_id: str
    goal: str
    created_ms: int
    kind: SessionKind = SessionKind.AGENT
    state: SessionState = SessionState.CREATED
    parent_id: str = ""
    title: str = ""
    serial: str = ""
    """The device it works on; empty until one is assigned, and on a parent that only delegates."""
    target_package: str = ""
    model: str = ""
    max_steps: int = 30
    job_id: int = 0
    """The job that opened it; 0 when a person did."""
    generation: int = 0
    """Continuation generation: rises by one with each resume of a terminal session."""
    paused: bool = False
    held: bool = False
    lost: bool = False
    updated_ms: int = 0
    turn_id: str = ""
    """The open turn; empty while the session is idle."""
    steps: int = 0
    """Steps that count against the limit."""
    last_step: int = 0
    """The number of the newest step, counted or not."""
    plan: tuple[PlanItem, ...] = ()
    usage: Usage = Usage()
    time: TimeSplit = TimeSplit()
    latest_question: str = ""
    latest_result: str = ""
    latest_error: str = ""
    latest_trace: str = ""


class QuestionKind(StrEnum):
    """What the operator is asked for."""

    QUESTION = "question"
    APPROVAL = "approval"


class QuestionOption(Record, frozen=True, kw_only=True):
    """One answer the asker offers."""

    label: str
    description: str = ""


class Question(Record, frozen=True, kw_only=True):
    """A thing the operator must say; stored, so that any client may answer it."""

    question_id: str
    session_id: str
    text: str
    asked_ms: int
    kind: QuestionKind = QuestionKind.QUESTION
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    secret: bool = False
    deadline_ms: int = 0
    """When silence becomes "no"; 0 = never."""
    call_id: str = ""
    """The tool call that the answer resolves."""
    step: int = 0


# --- jobs (CONTRACTS 2.1: the field names and types are the wire's) ----------


class JobType(StrEnum):
    """What a job does when it wakes."""

    AGENT_TURN = "agent_turn"
    SYSTEM_EVENT = "system_event"
    HEARTBEAT = "heartbeat"


class JobStatus(StrEnum):
    """Statuses of the newer schema."""

    ACTIVE = "active"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    AWAITING_REVIEW = "awaiting_review"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    DISPATCHED = "dispatched"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Durable scheduled work that starts sessions; all 17 fields are always on the wire."""

    id: int
    type: JobType
    title: str
    prompt: str
    payload_json: dict[str, Any]
    schedule_json: dict[str, Any]
    session_target: str
    delivery_json: dict[str, Any]
    status: JobStatus
    created_at: int
    updated_at: int
    next_run_at: int
    running_at: int
    last_run_at: int
    last_result: str
    failure_count: int
    failure_alert_at: int
