"""Sessions and the questions they ask."""

from __future__ import annotations

from enum import StrEnum

from agent.records.observation import PlanItem, TimeSplit, Usage
from agent.records.record import Record


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
