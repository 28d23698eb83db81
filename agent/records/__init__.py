"""The nouns: what a session, device, question, job, observation, element or action is.

Frozen msgspec structs that go to JSON and back without loss. No behaviour beyond what follows from
a record's own fields; no I/O. Invariants: coordinates are normalized to [0, 1] with the origin at
the top left; times are integer milliseconds since the epoch; durations carry their unit.
"""

from __future__ import annotations

from agent.records.devices import (
    AppInfo,
    DeviceInfo,
    DeviceState,
    Foreground,
    Frame,
    FrameSource,
    FrameStatus,
    LiveFrame,
    Transport,
)
from agent.records.jobs import (
    LATEST_MS,
    Job,
    JobStatus,
    JobType,
    Misfire,
    Moment,
    QuietHours,
    Schedule,
    Trigger,
)
from agent.records.notices import Notice, NoticeKind
from agent.records.observation import (
    ActionOutcome,
    Element,
    Observation,
    PlanItem,
    PlanStatus,
    TimeSplit,
    UiNode,
    Usage,
)
from agent.records.record import (
    Bounds,
    Point,
    Record,
)
from agent.records.reviews import Finding, Review
from agent.records.search import SearchHit
from agent.records.sessions import (
    Answer,
    AtLimit,
    Autonomy,
    Budget,
    BudgetKind,
    Question,
    QuestionKind,
    QuestionOption,
    QuestionPart,
    Session,
    SessionKind,
    SessionState,
    Subject,
)
from agent.records.targets import (
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
    TargetStatus,
)

__all__ = [
    "LATEST_MS",
    "ActionOutcome",
    "Answer",
    "AppInfo",
    "AtLimit",
    "Autonomy",
    "Bounds",
    "Budget",
    "BudgetKind",
    "DeviceInfo",
    "DeviceState",
    "Element",
    "Finding",
    "Foreground",
    "Frame",
    "FrameSource",
    "FrameStatus",
    "Job",
    "JobStatus",
    "JobType",
    "LiveFrame",
    "Misfire",
    "Moment",
    "Notice",
    "NoticeKind",
    "Observation",
    "PlanItem",
    "PlanStatus",
    "Point",
    "Question",
    "QuestionKind",
    "QuestionOption",
    "QuestionPart",
    "QuietHours",
    "Record",
    "Review",
    "Schedule",
    "SearchHit",
    "Session",
    "SessionKind",
    "SessionState",
    "Subject",
    "TargetAction",
    "TargetPresentation",
    "TargetResult",
    "TargetRuntime",
    "TargetStatus",
    "TimeSplit",
    "Transport",
    "Trigger",
    "UiNode",
    "Usage",
]
