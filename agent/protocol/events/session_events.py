"""Define the events of a session: its state, its turns, its questions."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from agent.errors import ErrorKind
from agent.protocol.base import EventBase
from agent.records import FieldSource, Question, Session, SessionState, Speaker


class SessionConfigured(EventBase, frozen=True, kw_only=True, tag="session_configured"):
    """First event of every session: its initial record."""

    session: Session


class SessionStateChanged(EventBase, frozen=True, kw_only=True, tag="session_state_changed"):
    """The session moved to another state; the reason is for people."""

    state: SessionState
    reason: str = ""
    stopped: bool = False
    """Whether a stop put it there; a turn that had not begun says nothing of its end."""


class SessionFlagsChanged(EventBase, frozen=True, kw_only=True, tag="session_flags_changed"):
    """A flag beside the state changed; all flags are given."""

    paused: bool = False
    held: bool = False
    lost: bool = False
    lost_until_ms: int = 0  # When a session that is lost gives up; 0 = it is not lost.
    driver: str = ""
    reason: str = ""


class SessionDeferred(EventBase, frozen=True, kw_only=True, tag="session_deferred"):
    """A held session will enter this state when it is released."""

    state: SessionState
    reason: str = ""


class SessionAssigned(EventBase, frozen=True, kw_only=True, tag="session_assigned"):
    """The session got, or lost, its device."""

    serial: str


class SessionHosted(EventBase, frozen=True, kw_only=True, tag="session_hosted"):
    """The session belongs to a host of the fleet from now on, and to a phone there."""

    host: str
    serial: str = ""
    goes_on: bool = False  # Whether it was running; then that host continues it.
    reason: str = ""


class SessionWaits(EventBase, frozen=True, kw_only=True, tag="session_waits"):
    """The reason why the session waits for a phone changed; for display."""

    reason: str


class SessionContinued(EventBase, frozen=True, kw_only=True, tag="session_continued"):
    """The session continues after a terminal state or a restart of the core."""

    generation: int
    after_step: int
    reason: str = ""
    job_id: int = 0  # The job that it goes on for; 0 = a person.


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
    AWAITING_REVIEW = "awaiting_review"
    """A job's turn wants to act: it gives the phone back until a person has looked."""


class TaskStarted(EventBase, frozen=True, kw_only=True, tag="task_started"):
    """A turn began; kind is regular, plan, review or compact."""

    turn_id: str
    kind: str = "regular"


class TaskComplete(EventBase, frozen=True, kw_only=True, tag="task_complete"):
    """A turn ran to its end."""

    turn_id: str
    last_agent_message: str = ""


class TurnAborted(EventBase, frozen=True, kw_only=True, tag="turn_aborted"):
    """A turn ended early; surfaces exactly once."""

    turn_id: str
    reason: AbortReason


class UserMessage(EventBase, frozen=True, kw_only=True, tag="user_message"):
    """The operator wrote; steering waits until a step applies it."""

    text: str
    message_id: str
    speaker: Speaker = Speaker.OPERATOR
    said: str = ""
    """The operator's own words in the text, where it tells of more; empty: all of it."""
    steer: bool = False
    job_id: int = 0
    """The job that it is the prompt of; 0 = the operator's own words."""
    output_schema: str = ""
    """The JSON Schema that the result of a job's prompt has to fit, as JSON."""
    requires: tuple[str, ...] = ()
    """Requirements of a job's prompt beside those in its words."""


class TextRedacted(EventBase, frozen=True, kw_only=True, tag="text_redacted"):
    """What looks like a secret was redacted in a text of the operator before it was stored."""

    kinds: tuple[str, ...]  # CARD, SSN, CVV, PIN, CODE, PASSWORD or KEY.
    where: str  # The text: goal, message, prompt or answer.


class TextLetThrough(EventBase, frozen=True, kw_only=True, tag="text_let_through"):
    """The operator let texts that look like secrets through; this session does not redact them."""

    texts: tuple[str, ...]
    """As they were written, in the clear: they stand in what the operator wrote too."""


class SteerApplied(EventBase, frozen=True, kw_only=True, tag="steer_applied"):
    """A step applied the hint."""

    message_id: str
    step: int


class RequestUserInput(EventBase, frozen=True, kw_only=True, tag="request_user_input"):
    """A question is open."""

    question: Question


class ApprovalGiven(EventBase, frozen=True, kw_only=True, tag="approval_given"):
    """An operator approved; the question stays open until enough have."""

    question_id: str
    yes_by: tuple[str, ...]  # All whose yes counts now, the newest last.
    people: int


class OperatorActed(EventBase, frozen=True, kw_only=True, tag="operator_acted"):
    """A signed-in operator submitted an op that may change something.

    It comes before what the op does; of no session where the op names none.
    """

    operator: str
    op: str  # The op's type.
    serial: str = ""  # The phone, where the op names one.


class QuestionAnswered(EventBase, frozen=True, kw_only=True, tag="question_answered"):
    """The first answer arrived; empty when the question was secret."""

    question_id: str
    answer: str
    answers: Mapping[str, tuple[str, ...]] = {}
    """By the id of each of several questions; those that were secret are left out."""
    answered_by: str = "operator"
    speaker: Speaker = Speaker.OPERATOR


class CloseReason(StrEnum):
    """Why a question closed without an answer, as the event says it; a copy of a session has its
    own words.
    """

    EXPIRED = "no answer in time; silence is no"
    NEWER_QUESTION = "superseded by a newer question"
    NEWER_MESSAGE = "superseded by a new message"
    TURN_ENDED = "its turn ended"
    JOB_STOPPED = "its job was stopped"
    CALL_WITHDRAWN = "its call was taken back"
    CORE_RESTARTED = "the core was restarted"


class QuestionClosed(EventBase, frozen=True, kw_only=True, tag="question_closed"):
    """A question closed without an answer: expired, superseded, or its turn ended."""

    question_id: str
    reason: str
    limit_ms: int = 0
    """The limit that was over when it expired, in milliseconds; 0 where it closed otherwise."""
    late_ms: int = 0
    """How long after its limit it closed, in milliseconds: no core ran, or the computer slept."""
    closed_by: str = ""
    """The client whose own limit it was; empty where it was the core's."""


class ResultPublished(EventBase, frozen=True, kw_only=True, tag="result_published"):
    """What the session achieved, in its own words."""

    text: str
    result: str = ""
    """The same as data, as JSON, where the session has an output schema."""
    sources: tuple[FieldSource, ...] = ()
    """Where each value of the data was read."""
    speaker: Speaker = Speaker.MODEL
    """Whose words the text is; a parent's is made of what its children said."""


class ErrorEvent(EventBase, frozen=True, kw_only=True, tag="error"):
    """Something failed; when it ended a session the state change follows."""

    message: str
    kind: ErrorKind = ErrorKind.INTERNAL
    remedy: str = ""
    retryable: bool = False


class WarningEvent(EventBase, frozen=True, kw_only=True, tag="warning"):
    """Something that the operator should know, but no failure."""

    message: str


AnySessionEvent: TypeAlias = (
    SessionConfigured
    | SessionStateChanged
    | SessionFlagsChanged
    | SessionDeferred
    | SessionAssigned
    | SessionHosted
    | SessionWaits
    | SessionContinued
    | TaskStarted
    | TaskComplete
    | TurnAborted
    | UserMessage
    | TextRedacted
    | TextLetThrough
    | SteerApplied
    | RequestUserInput
    | ApprovalGiven
    | OperatorActed
    | QuestionAnswered
    | QuestionClosed
    | ResultPublished
    | ErrorEvent
    | WarningEvent
)
