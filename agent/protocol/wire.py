"""The closed unions of ops and events, the envelope, and JSON both ways."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import msgspec

from agent.errors import RpcCode, UsageError
from agent.protocol.base import EventBase, OpBase
from agent.protocol.events.device_events import (
    AdbServerChanged,
    DeviceChanged,
    JobChanged,
    ShutdownComplete,
    WheelActed,
    WheelHandedBack,
    WheelTaken,
)
from agent.protocol.events.job_events import JobsDropped, RunChanged
from agent.protocol.events.notice_events import NoticePosted, NoticeWithdrawn
from agent.protocol.events.record_events import (
    SessionDismissed,
    SessionKept,
    SessionPruned,
    SessionRolledBack,
    SessionsDeleted,
    SessionTagged,
)
from agent.protocol.events.session_events import (
    ErrorEvent,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    ResultPublished,
    SessionAssigned,
    SessionConfigured,
    SessionContinued,
    SessionDeferred,
    SessionFlagsChanged,
    SessionStateChanged,
    SteerApplied,
    TaskComplete,
    TaskStarted,
    TextLetThrough,
    TextRedacted,
    TurnAborted,
    UserMessage,
    WarningEvent,
)
from agent.protocol.events.step_events import (
    AgentMessage,
    AllowanceUsed,
    BudgetExtended,
    FactsUpdate,
    ObservationRecorded,
    PlanUpdate,
    StepCompleted,
    StepStarted,
    StreamError,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.protocol.events.tree_events import (
    HistoryCompacted,
    RecoveryScheduled,
    ReviewPublished,
    SteerEdited,
    SteerWithdrawn,
    TargetObserved,
    TargetsPlanned,
)
from agent.protocol.events.verification_events import VerificationRecorded
from agent.protocol.events.watch_events import CommitmentChanged, WatcherChanged
from agent.protocol.ops.device_ops import (
    DeviceDismiss,
    DeviceTag,
    SessionMove,
    WheelAct,
    WheelHandBack,
    WheelTake,
)
from agent.protocol.ops.direct_ops import DirectCall
from agent.protocol.ops.job_ops import AnyJobOp
from agent.protocol.ops.look_ops import DeviceExamine, DeviceLog, DeviceLook, DeviceRepair
from agent.protocol.ops.notice_ops import NoticeDone, NoticeReply, NoticeSend
from agent.protocol.ops.record_ops import (
    SessionClear,
    SessionDelete,
    SessionDismiss,
    SessionFork,
    SessionImport,
    SessionKeep,
    SessionPrune,
    SessionRollback,
    SessionTag,
)
from agent.protocol.ops.session_ops import (
    Interrupt,
    SessionAttach,
    SessionCancel,
    SessionCreate,
    SessionDetach,
    SessionLetThrough,
    SessionPause,
    SessionResume,
    SessionStart,
    UserInput,
    UserInputAnswer,
)
from agent.protocol.ops.tree_ops import (
    SessionCompact,
    SessionReview,
    SteerEdit,
    SteerWithdraw,
    TargetControl,
)
from agent.protocol.ops.verification_ops import SessionVerify
from agent.protocol.ops.watch_ops import (
    CommitmentCreate,
    CommitmentSearch,
    CommitmentUpdate,
    WatcherCreate,
    WatcherList,
    WatcherRead,
    WatcherShow,
    WatcherStop,
)
from agent.protocol.routes import RouteGiven, SessionReplay
from agent.records import (
    Commitment,
    DirectView,
    Job,
    PhoneFinding,
    PhoneLook,
    RunRecord,
    TargetResult,
    Watcher,
)

PROTOCOL_VERSION = 1


class Shutdown(OpBase, frozen=True, kw_only=True, tag="shutdown"):
    """Close the core: turns in flight are left to be resumed."""


Op: TypeAlias = (
    SessionCreate
    | SessionStart
    | UserInput
    | SessionLetThrough
    | UserInputAnswer
    | Interrupt
    | SessionPause
    | SessionResume
    | SessionCancel
    | SessionAttach
    | SessionDetach
    | NoticeReply
    | NoticeDone
    | NoticeSend
    | SessionFork
    | SessionReplay
    | SessionRollback
    | SessionKeep
    | SessionTag
    | SessionDismiss
    | SessionVerify
    | SessionDelete
    | SessionClear
    | SessionPrune
    | SessionImport
    | SessionReview
    | SessionCompact
    | SteerEdit
    | SteerWithdraw
    | TargetControl
    | DirectCall
    | SessionMove
    | DeviceTag
    | DeviceDismiss
    | DeviceLook
    | DeviceLog
    | DeviceExamine
    | DeviceRepair
    | WheelTake
    | WheelAct
    | WheelHandBack
    | AnyJobOp
    | WatcherCreate
    | WatcherList
    | WatcherShow
    | WatcherStop
    | WatcherRead
    | CommitmentCreate
    | CommitmentSearch
    | CommitmentUpdate
    | Shutdown
)


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one op came to."""

    submission_id: str
    event_id: int = 0
    """The newest event when the op had been carried out: no effect of it has a higher id."""
    session_id: str = ""
    child_ids: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    """The sessions that a clear, a delete or a prune is done with."""
    failed_ids: dict[str, str] = {}
    """The sessions that a clear could not do away with, and why."""
    remaining_ids: tuple[str, ...] = ()
    """The sessions that are left after a clear."""
    skipped_lines: int = 0
    """Broken lines of an imported rollout."""
    target: TargetResult | None = None
    """What a call about a session's app came to."""
    direct: DirectView | None = None
    """What a direct session shows."""
    look: PhoneLook | None = None
    lines: tuple[str, ...] = ()
    """Of a phone's log, the newest last."""
    findings: tuple[PhoneFinding, ...] = ()
    job: Job | None = None
    jobs: tuple[Job, ...] = ()
    after: str = ""
    """Where the next page of the queue begins; empty at its end."""
    runs: tuple[RunRecord, ...] = ()
    """Of one job, the newest first."""
    watcher: Watcher | None = None
    watchers: tuple[Watcher, ...] = ()
    commitment: Commitment | None = None
    commitments: tuple[Commitment, ...] = ()


EventMsg: TypeAlias = (
    SessionConfigured
    | SessionStateChanged
    | SessionFlagsChanged
    | SessionAssigned
    | SessionContinued
    | SessionDeferred
    | TaskStarted
    | TaskComplete
    | TurnAborted
    | UserMessage
    | TextRedacted
    | TextLetThrough
    | SteerApplied
    | StepStarted
    | ObservationRecorded
    | AgentMessage
    | ToolCallRequested
    | ToolCallFinished
    | StepCompleted
    | PlanUpdate
    | FactsUpdate
    | RequestUserInput
    | QuestionAnswered
    | QuestionClosed
    | VerificationRecorded
    | ResultPublished
    | ErrorEvent
    | WarningEvent
    | StreamError
    | BudgetExtended
    | AllowanceUsed
    | SessionRolledBack
    | SessionKept
    | SessionTagged
    | SessionDismissed
    | SessionPruned
    | SessionsDeleted
    | TargetsPlanned
    | RouteGiven
    | TargetObserved
    | RecoveryScheduled
    | SteerEdited
    | SteerWithdrawn
    | ReviewPublished
    | HistoryCompacted
    | NoticePosted
    | NoticeWithdrawn
    | DeviceChanged
    | AdbServerChanged
    | WheelTaken
    | WheelActed
    | WheelHandedBack
    | JobChanged
    | RunChanged
    | JobsDropped
    | WatcherChanged
    | CommitmentChanged
    | ShutdownComplete
)

OF_NO_SESSION: frozenset[type[EventBase]] = frozenset(
    {
        AdbServerChanged,
        CommitmentChanged,
        DeviceChanged,
        JobChanged,
        JobsDropped,
        NoticePosted,
        NoticeWithdrawn,
        RunChanged,
        SessionsDeleted,
        ShutdownComplete,
        WatcherChanged,
    }
)
"""Facts of the whole store. In the past of one session somebody else put them there."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A stored fact. `event_id` orders the whole store, `seq` (from 1) orders one session.

    `session_id` is empty for facts of no session (devices, jobs, shutdown).
    """

    event_id: int
    session_id: str = ""
    seq: int = 0
    ts_ms: int
    submission_id: str = ""
    msg: EventMsg


_encoder = msgspec.json.Encoder()


# Made when first needed: a hundred structs take longer than the console has until its first paint.
@cache
def _op_decoder() -> msgspec.json.Decoder[Op]:
    return msgspec.json.Decoder(Op)


@cache
def _event_decoder() -> msgspec.json.Decoder[Event]:
    return msgspec.json.Decoder(Event)


@cache
def _msg_decoder() -> msgspec.json.Decoder[EventMsg]:
    return msgspec.json.Decoder(EventMsg)


def encode(value: Op | Event | EventMsg | Reply) -> bytes:
    """Encode as one line of JSON, without the newline."""
    return _encoder.encode(value)


def decode_op(data: bytes | str) -> Op:
    """Decode an op from outside.

    Raises:
        UsageError: malformed JSON, an unknown type, or a field that is missing, unknown or wrong.
    """
    try:
        return _op_decoder().decode(data)
    except msgspec.ValidationError as error:
        raise UsageError(f"The op is not valid: {error}.", "Correct the field it names.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        malformed = UsageError(f"The op is not JSON: {error}.")
        malformed.code = RpcCode.PARSE
        raise malformed from error


def decode_event(data: bytes | str) -> Event:
    """Decode an event envelope; msgspec's own errors tell what is wrong."""
    return _event_decoder().decode(data)


def decode_msg(data: bytes | str) -> EventMsg:
    """Decode the body of an event; msgspec's own errors tell what is wrong."""
    return _msg_decoder().decode(data)
