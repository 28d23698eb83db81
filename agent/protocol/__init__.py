"""The verbs: every Op (a request, down) and every Event (a fact, up), tagged and versioned.

JSON both ways: the tag is `type` in snake_case, as in Codex. Ops come from outside and are decoded
strictly: an unknown field is an error that names it. Events are our own past and are decoded
leniently, so that an older Switchboard can read a newer store. Nothing here does anything.
"""

from __future__ import annotations

from agent.protocol.job_ops import (
    JobCreate,
    JobList,
    JobStop,
)
from agent.protocol.rack_events import (
    DeviceChanged,
    JobChanged,
    ShutdownComplete,
)
from agent.protocol.session_events import (
    AbortReason,
    ErrorEvent,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    ResultPublished,
    SessionAssigned,
    SessionConfigured,
    SessionContinued,
    SessionFlagsChanged,
    SessionStateChanged,
    SteerApplied,
    TaskComplete,
    TaskStarted,
    TurnAborted,
    UserMessage,
    WarningEvent,
)
from agent.protocol.session_ops import (
    Interrupt,
    SessionCancel,
    SessionCreate,
    SessionPause,
    SessionResume,
    SessionStart,
    Target,
    UserInput,
    UserInputAnswer,
)
from agent.protocol.step_events import (
    AgentMessage,
    ObservationRecorded,
    PlanUpdate,
    StepCompleted,
    StepStarted,
    StreamError,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.protocol.wire import (
    PROTOCOL_VERSION,
    Event,
    EventMsg,
    Op,
    Reply,
    Shutdown,
    decode_event,
    decode_msg,
    decode_op,
    encode,
)

__all__ = [
    "PROTOCOL_VERSION",
    "AbortReason",
    "AgentMessage",
    "DeviceChanged",
    "ErrorEvent",
    "Event",
    "EventMsg",
    "Interrupt",
    "JobChanged",
    "JobCreate",
    "JobList",
    "JobStop",
    "ObservationRecorded",
    "Op",
    "PlanUpdate",
    "QuestionAnswered",
    "QuestionClosed",
    "Reply",
    "RequestUserInput",
    "ResultPublished",
    "SessionAssigned",
    "SessionCancel",
    "SessionConfigured",
    "SessionContinued",
    "SessionCreate",
    "SessionFlagsChanged",
    "SessionPause",
    "SessionResume",
    "SessionStart",
    "SessionStateChanged",
    "Shutdown",
    "ShutdownComplete",
    "SteerApplied",
    "StepCompleted",
    "StepStarted",
    "StreamError",
    "Target",
    "TaskComplete",
    "TaskStarted",
    "ToolCallFinished",
    "ToolCallRequested",
    "TurnAborted",
    "UserInput",
    "UserInputAnswer",
    "UserMessage",
    "WarningEvent",
    "decode_event",
    "decode_msg",
    "decode_op",
    "encode",
]
