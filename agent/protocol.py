"""The verbs: every Op (a request, down) and every Event (a fact, up), tagged and versioned.

JSON both ways: the tag is `type` in snake_case, as in Codex. Ops come from outside and are decoded
strictly: an unknown field is an error that names it. Events are our own past and are decoded
leniently, so that an older Switchboard can read a newer store. Nothing here does anything.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from agent.errors import ErrorKind, RpcCode, UsageError
from agent.records import (
    ActionOutcome,
    DeviceInfo,
    Element,
    Job,
    JobType,
    Observation,
    PlanItem,
    Point,
    Question,
    Session,
    SessionState,
    TimeSplit,
    Usage,
)

PROTOCOL_VERSION = 1

# --- ops ----------


class _Op(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """Base of every request."""


class Target(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One delegated objective of an agent session: a genie child will pursue it."""

    objective: str
    serial: str = ""
    package: str = ""


class SessionCreate(_Op, frozen=True, kw_only=True, tag="session_create"):
    """Create a session; the reply names it. With targets it delegates, else it works itself."""

    goal: str
    title: str = ""
    serial: str = ""
    target_package: str = ""
    targets: tuple[Target, ...] = ()
    model: str = ""
    max_steps: int = 0
    """0 = the setting."""
    start: bool = True
    """False leaves a draft in CREATED."""


class SessionStart(_Op, frozen=True, kw_only=True, tag="session_start"):
    """Start a draft."""

    session_id: str


class UserInput(_Op, frozen=True, kw_only=True, tag="user_input"):
    """Steer the running turn, or begin a new turn of an idle session."""

    session_id: str
    text: str


class UserInputAnswer(_Op, frozen=True, kw_only=True, tag="user_input_answer"):
    """Answer a question; the first answer wins, later ones are refused as wrong state."""

    question_id: str
    answer: str
    expired: bool = False
    """Nobody answered in time: close the question without an answer, which is then ignored."""


class Interrupt(_Op, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the turn of a session; it becomes idle and can be resumed. Empty id: every session."""

    session_id: str = ""


class SessionPause(_Op, frozen=True, kw_only=True, tag="session_pause"):
    """Hold the turn before its next step."""

    session_id: str


class SessionResume(_Op, frozen=True, kw_only=True, tag="session_resume"):
    """Go on: after a pause, a stop, a crash or, with a new generation, from a terminal state."""

    session_id: str


class SessionCancel(_Op, frozen=True, kw_only=True, tag="session_cancel"):
    """End a session; on an agent session, its whole tree. Idempotent."""

    session_id: str


class JobCreate(_Op, frozen=True, kw_only=True, tag="job_create"):
    """Store a job; the reply carries it."""

    title: str
    prompt: str = ""
    job_type: JobType = JobType.AGENT_TURN
    next_run_at: int = 0
    """When it first runs, in ms since the epoch; 0 = in 15 s."""
    interval_ms: int = 0
    """0 = once; else at least 15,000."""
    session_target: str = "main"
    serial: str = ""
    delivery_mode: str = "notification"
    notification_text: str = ""


class JobList(_Op, frozen=True, kw_only=True, tag="job_list"):
    """List jobs, newest first; the query is a case-insensitive substring."""

    query: str = ""
    limit: int = 50


class JobStop(_Op, frozen=True, kw_only=True, tag="job_stop"):
    """Stop a job for good; a run under way is interrupted and its late result is not kept."""

    job_id: int


class Shutdown(_Op, frozen=True, kw_only=True, tag="shutdown"):
    """Close the core: turns in flight are left to be resumed."""


Op: TypeAlias = (
    SessionCreate
    | SessionStart
    | UserInput
    | UserInputAnswer
    | Interrupt
    | SessionPause
    | SessionResume
    | SessionCancel
    | JobCreate
    | JobList
    | JobStop
    | Shutdown
)


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one op came to."""

    submission_id: str
    session_id: str = ""
    child_ids: tuple[str, ...] = ()
    job: Job | None = None
    jobs: tuple[Job, ...] = ()


# --- events ----------


class _Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Base of every fact."""


class SessionConfigured(_Event, frozen=True, kw_only=True, tag="session_configured"):
    """First of every session: what it was created as."""

    session: Session


class SessionStateChanged(_Event, frozen=True, kw_only=True, tag="session_state_changed"):
    """The session moved to another state; the reason is for people."""

    state: SessionState
    reason: str = ""


class SessionFlagsChanged(_Event, frozen=True, kw_only=True, tag="session_flags_changed"):
    """One of the flags beside the state changed; all three are given."""

    paused: bool = False
    held: bool = False
    lost: bool = False
    reason: str = ""


class SessionAssigned(_Event, frozen=True, kw_only=True, tag="session_assigned"):
    """The session got, or lost, its device."""

    serial: str


class SessionContinued(_Event, frozen=True, kw_only=True, tag="session_continued"):
    """The session goes on after a terminal state or a restart of the core."""

    generation: int
    after_step: int
    reason: str = ""


class AbortReason(StrEnum):
    """Why a turn ended early."""

    INTERRUPTED = "interrupted"
    REPLACED = "replaced"
    BUDGET_LIMITED = "budget_limited"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """Something it needs failed: the model, the phone, the store; the same turn may work later."""
    RECOVERED = "recovered"
    """The core died under the turn; found at the next start."""


class TaskStarted(_Event, frozen=True, kw_only=True, tag="task_started"):
    """A turn began; kind is regular, plan, review or compact."""

    turn_id: str
    kind: str = "regular"


class TaskComplete(_Event, frozen=True, kw_only=True, tag="task_complete"):
    """A turn ran to its end."""

    turn_id: str
    last_agent_message: str = ""


class TurnAborted(_Event, frozen=True, kw_only=True, tag="turn_aborted"):
    """A turn ended early; surfaces exactly once."""

    turn_id: str
    reason: AbortReason


class UserMessage(_Event, frozen=True, kw_only=True, tag="user_message"):
    """The operator wrote; steering waits until a step applies it."""

    text: str
    message_id: str
    steer: bool = False


class SteerApplied(_Event, frozen=True, kw_only=True, tag="steer_applied"):
    """A step took the steering in."""

    message_id: str
    step: int


class StepStarted(_Event, frozen=True, kw_only=True, tag="step_started"):
    """Observe–think–act begins."""

    step: int


class ObservationRecorded(_Event, frozen=True, kw_only=True, tag="observation_recorded"):
    """What the session saw."""

    step: int
    observation: Observation


class AgentMessage(_Event, frozen=True, kw_only=True, tag="agent_message"):
    """What the model said beside its tool call."""

    step: int
    text: str


class ToolCallRequested(_Event, frozen=True, kw_only=True, tag="tool_call_requested"):
    """The model chose a tool; for an action the intent, stored before the phone is touched."""

    step: int
    call_id: str
    tool: str
    arguments: str
    """JSON object, as the model wrote it, cleaned."""
    kind: str = "action"
    """observe, action or control."""
    element: Element | None = None
    point: Point | None = None
    prompt_digest: str = ""
    reply_digest: str = ""


class ToolCallFinished(_Event, frozen=True, kw_only=True, tag="tool_call_finished"):
    """What the tool call came to; the text is what the model reads."""

    step: int
    call_id: str
    outcome: ActionOutcome
    text: str


class StepCompleted(_Event, frozen=True, kw_only=True, tag="step_completed"):
    """Observe–think–act ended."""

    step: int
    time: TimeSplit
    usage: Usage
    counted: bool = True
    """Whether the step counts against the limit; updating the plan does not."""


class PlanUpdate(_Event, frozen=True, kw_only=True, tag="plan_update"):
    """The plan as it now is."""

    plan: tuple[PlanItem, ...]
    explanation: str = ""


class RequestUserInput(_Event, frozen=True, kw_only=True, tag="request_user_input"):
    """A question is open."""

    question: Question


class QuestionAnswered(_Event, frozen=True, kw_only=True, tag="question_answered"):
    """The first answer arrived; empty when the question was secret."""

    question_id: str
    answer: str
    answered_by: str = "operator"


class QuestionClosed(_Event, frozen=True, kw_only=True, tag="question_closed"):
    """A question ended without an answer: superseded, expired, void, or its turn ended."""

    question_id: str
    reason: str


class ResultPublished(_Event, frozen=True, kw_only=True, tag="result_published"):
    """What the session achieved, in its own words."""

    text: str


class ErrorEvent(_Event, frozen=True, kw_only=True, tag="error"):
    """Something failed; when it ended a session the state change follows."""

    message: str
    kind: ErrorKind = ErrorKind.INTERNAL
    remedy: str = ""
    retryable: bool = False


class WarningEvent(_Event, frozen=True, kw_only=True, tag="warning"):
    """Something the operator should know and nothing failed."""

    message: str


class StreamError(_Event, frozen=True, kw_only=True, tag="stream_error"):
    """A model call failed and will be tried again."""

    message: str
    attempt: int
    delay_ms: int


class DeviceChanged(_Event, frozen=True, kw_only=True, tag="device_changed"):
    """A device appeared, changed state, changed driver or went away."""

    device: DeviceInfo


class JobChanged(_Event, frozen=True, kw_only=True, tag="job_changed"):
    """A job was created, claimed, finished, stopped or repaired; the record is whole."""

    job: Job
    reason: str = ""


class ShutdownComplete(_Event, frozen=True, kw_only=True, tag="shutdown_complete"):
    """The core has closed in order."""


EventMsg: TypeAlias = (
    SessionConfigured
    | SessionStateChanged
    | SessionFlagsChanged
    | SessionAssigned
    | SessionContinued
    | TaskStarted
    | TaskComplete
    | TurnAborted
    | UserMessage
    | SteerApplied
    | StepStarted
    | ObservationRecorded
    | AgentMessage
    | ToolCallRequested
    | ToolCallFinished
    | StepCompleted
    | PlanUpdate
    | RequestUserInput
    | QuestionAnswered
    | QuestionClosed
    | ResultPublished
    | ErrorEvent
    | WarningEvent
    | StreamError
    | DeviceChanged
    | JobChanged
    | ShutdownComplete
)


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored fact. `event_id` orders the whole store, `seq` (from 1) orders one session.

    `session_id` is empty for facts of no session (devices, jobs, shutdown).
    """

    event_id: int
    session_id: str = ""
    seq: int = 0
    ts_ms: int
    submission_id: str = ""
    msg: EventMsg


# --- both ways ----------

_op_decoder: msgspec.json.Decoder[Op] = msgspec.json.Decoder(Op)
_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_msg_decoder: msgspec.json.Decoder[EventMsg] = msgspec.json.Decoder(EventMsg)
_encoder = msgspec.json.Encoder()


def encode(value: Op | Event | EventMsg | Reply) -> bytes:
    """Encode as one line of JSON, without the newline."""
    return _encoder.encode(value)


def decode_op(data: bytes | str) -> Op:
    """Decode an op from outside.

    Raises:
        UsageError: malformed JSON, an unknown type, or a field that is missing, unknown or wrong.
    """
    try:
        return _op_decoder.decode(data)
    except msgspec.ValidationError as error:
        raise UsageError(f"The op is not valid: {error}.", "Correct the field it names.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        malformed = UsageError(f"The op is not JSON: {error}.")
        malformed.code = RpcCode.PARSE
        raise malformed from error


def decode_event(data: bytes | str) -> Event:
    """Decode an event envelope; msgspec's own errors tell what is wrong."""
    return _event_decoder.decode(data)


def decode_msg(data: bytes | str) -> EventMsg:
    """Decode the body of an event; msgspec's own errors tell what is wrong."""
    return _msg_decoder.decode(data)
