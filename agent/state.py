"""A pure reducer: fold events into what an operator sees. No I/O, no clock.

`fold_session` is the session record itself; the store keeps its result beside the events and the
runtime keeps it in memory, so both are what replaying the events gives. `reduce` is the whole
picture: session views with their transcripts, open questions, devices and jobs. Invariants: an
event that was folded already changes nothing; what an event does not touch is shared, not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Protocol, assert_never

import msgspec
from msgspec.structs import replace

from agent.protocol import (
    AgentMessage,
    BudgetExtended,
    DeviceChanged,
    ErrorEvent,
    Event,
    EventMsg,
    HistoryCompacted,
    JobChanged,
    ObservationRecorded,
    PlanUpdate,
    QuestionAnswered,
    QuestionClosed,
    RecoveryScheduled,
    RequestUserInput,
    ResultPublished,
    ReviewPublished,
    SessionAssigned,
    SessionConfigured,
    SessionContinued,
    SessionDeferred,
    SessionFlagsChanged,
    SessionKept,
    SessionPruned,
    SessionRolledBack,
    SessionsDeleted,
    SessionStateChanged,
    ShutdownComplete,
    SteerApplied,
    SteerEdited,
    SteerWithdrawn,
    StepCompleted,
    StepStarted,
    StreamError,
    TargetObserved,
    TargetsPlanned,
    TaskComplete,
    TaskStarted,
    ToolCallFinished,
    ToolCallRequested,
    TurnAborted,
    UserMessage,
    WarningEvent,
)
from agent.records import (
    BudgetKind,
    DeviceInfo,
    DeviceState,
    Job,
    Question,
    Session,
    SessionState,
)
from agent.text import one_line
from agent.transcript import (
    ActionView,
    Item,
    MessageItem,
    NoticeItem,
    QuestionItem,
    StepItem,
    Tone,
    Transcript,
    follow,
)

__all__ = [
    "ActionView",
    "Attention",
    "AttentionKind",
    "Item",
    "MessageItem",
    "NoticeItem",
    "QuestionItem",
    "SessionView",
    "State",
    "StepItem",
    "Tone",
    "Transcript",
    "attention",
    "failure_key",
    "fold_session",
    "from_overview",
    "reduce",
    "tree",
    "with_history",
    "with_session",
]


def fold_session(session: Session | None, event: Event) -> Session | None:
    """Fold one event into the record of its session.

    Args:
        session: the record before the event; None before the session's first event.
        event: an event of that session, or of no session, which changes nothing.

    Returns:
        The record after the event; None when the session's first event is missing.
    """
    if isinstance(event.msg, SessionConfigured):
        return replace(event.msg.session, updated_ms=event.ts_ms)
    if session is None or event.session_id != session.session_id:
        return session
    return replace(_fold_fact(session, event.msg), updated_ms=event.ts_ms)


def _fold_fact(session: Session, msg: EventMsg) -> Session:
    match msg:
        case SessionStateChanged(state=state):
            put_off = session.deferred if state is SessionState.WAITING_FOR_USER else None
            return replace(session, state=state, deferred=put_off)
        case SessionFlagsChanged(paused=paused, held=held, lost=lost, driver=driver):
            return replace(session, paused=paused, held=held, lost=lost, driver=driver)
        case SessionDeferred(state=state):
            return replace(session, deferred=state)
        case SessionAssigned(serial=serial):
            return replace(session, serial=serial)
        case SessionContinued(generation=generation):
            return replace(session, generation=generation)
        case TaskStarted(kind="review" | "compact"):
            # It reads the session and is no turn of it: a settled session stays as it is.
            return session
        case TaskStarted(turn_id=turn_id):
            # What it sees from now on is its own again, whatever was dropped before.
            return replace(session, turn_id=turn_id, pruned=False)
        case TaskComplete():
            return replace(session, turn_id="", recoveries=0)
        case TurnAborted():
            return replace(session, turn_id="")
        case RecoveryScheduled(attempt=attempt):
            return replace(session, recoveries=attempt)
        case TargetObserved(presentation=presentation, runtime=runtime, display=display):
            return replace(
                session, presentation=presentation, target_runtime=runtime, target_display=display
            )
        case StepStarted(step=step):
            return replace(session, last_step=step)
        case StepCompleted(time=time, usage=usage, counted=counted):
            return replace(
                session,
                steps=session.steps + int(counted),
                time=session.time.plus(time),
                usage=session.usage.plus(usage),
            )
        case PlanUpdate(plan=plan):
            return replace(session, plan=plan)
        case RequestUserInput(question=question):
            return replace(session, latest_question=question.text)
        case QuestionAnswered() | QuestionClosed():
            return replace(session, latest_question="")
        case SessionRolledBack():
            return replace(
                session,
                plan=(),
                latest_question="",
                latest_result="",
                latest_error="",
                latest_trace="",
            )
        case SessionKept(kept=kept):
            return replace(session, kept=kept)
        case SessionPruned():
            return replace(session, pruned=True)
        case ResultPublished(text=text):
            return replace(session, latest_result=text)
        case ErrorEvent(message=message):
            return replace(session, latest_error=message)
        case AgentMessage(text=text):
            return replace(session, latest_trace=text)
        case BudgetExtended(kind=kind, amount=amount):
            return _extended(session, kind, amount)
        case UserMessage(text=text, steer=False) if not session.goal:
            # A draft without a goal: what it is started with is its goal.
            return replace(session, goal=text, title=session.title or one_line(text, 80))
        case (
            SessionConfigured()
            | UserMessage()
            | SteerApplied()
            | SteerEdited()
            | SteerWithdrawn()
            | TargetsPlanned()
            | ReviewPublished()
            | HistoryCompacted()
            | ObservationRecorded()
            | ToolCallRequested()
            | ToolCallFinished()
            | SessionsDeleted()
            | WarningEvent()
            | StreamError()
            | DeviceChanged()
            | JobChanged()
            | ShutdownComplete()
        ):
            return session
        case _:
            assert_never(msg)


def _extended(session: Session, kind: BudgetKind, amount: float) -> Session:
    budget = session.budget
    match kind:
        case BudgetKind.STEPS:
            return replace(session, max_steps=session.max_steps + round(amount))
        case BudgetKind.SECONDS:
            return replace(session, budget=replace(budget, seconds=budget.seconds + amount))
        case BudgetKind.TOKENS:
            return replace(session, budget=replace(budget, tokens=budget.tokens + round(amount)))
        case BudgetKind.MONEY:
            return replace(session, budget=replace(budget, cost_usd=budget.cost_usd + amount))
        case _:
            assert_never(kind)


# --- the picture ----------


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the operator sees it.

    The transcript may be behind `seq` while older events have not been read from the store;
    `with_history` catches up.
    """

    session: Session
    seq: int = 0
    step: int = 0
    """Number of the newest step that is known; 0 = none is. The session counts fewer: only those
    that its budget pays for."""
    transcript: Transcript = Transcript()

    @property
    def is_behind(self) -> bool:
        """Whether the transcript lacks events that are known to exist."""
        return self.transcript.seq < self.seq


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the operator sees, after `event_id`."""

    event_id: int = 0
    sessions: Mapping[str, SessionView] = {}
    questions: Mapping[str, Question] = {}
    """Open ones, oldest first."""
    devices: Mapping[str, DeviceInfo] = {}
    jobs: Mapping[int, Job] = {}
    closed: bool = False
    """The core has ended in order."""


class _Overview(Protocol):
    """The shape of `agent.core.Overview`, which this module may not see."""

    @property
    def event_id(self) -> int: ...
    @property
    def sessions(self) -> tuple[Session, ...]: ...
    @property
    def questions(self) -> tuple[Question, ...]: ...
    @property
    def devices(self) -> tuple[DeviceInfo, ...]: ...
    @property
    def jobs(self) -> tuple[Job, ...]: ...


def from_overview(overview: _Overview) -> State:
    """Start the picture from a core's overview; transcripts come with `with_history`."""
    return State(
        event_id=overview.event_id,
        # A stored session has at least its first event, and none of its transcript is here yet.
        sessions={s.session_id: SessionView(session=s, seq=1) for s in overview.sessions},
        questions={q.question_id: q for q in overview.questions},
        devices={d.serial: d for d in overview.devices},
        jobs={j.id: j for j in overview.jobs},
    )


def reduce(state: State, event: Event) -> State:
    """Fold one event into the picture."""
    if event.event_id <= state.event_id:
        return state
    state = _fold_shared(replace(state, event_id=event.event_id), event.msg)
    known = state.sessions.get(event.session_id)
    session = fold_session(known.session if known else None, event)
    if session is None:
        return state
    view = SessionView(
        session=session,
        seq=max(known.seq, event.seq) if known else event.seq,
        step=_newest_step(known.step if known else 0, event),
        transcript=follow(known.transcript if known else Transcript(), event),
    )
    return replace(state, sessions={**state.sessions, session.session_id: view})


def _newest_step(known: int, event: Event) -> int:
    return max(known, event.msg.step) if isinstance(event.msg, StepStarted) else known


def _fold_shared(state: State, msg: EventMsg) -> State:
    """Fold what belongs to no single session."""
    match msg:
        case DeviceChanged(device=device):
            return replace(state, devices={**state.devices, device.serial: device})
        case JobChanged(job=job):
            return replace(state, jobs={**state.jobs, job.id: job})
        case RequestUserInput(question=question):
            return replace(state, questions={**state.questions, question.question_id: question})
        case QuestionAnswered(question_id=gone) | QuestionClosed(question_id=gone):
            left = {key: q for key, q in state.questions.items() if key != gone}
            return replace(state, questions=left)
        case SessionsDeleted(session_ids=gone_ids):
            return replace(
                state,
                sessions={k: v for k, v in state.sessions.items() if k not in gone_ids},
                questions={
                    k: q for k, q in state.questions.items() if q.session_id not in gone_ids
                },
            )
        case ShutdownComplete():
            return replace(state, closed=True)
        case _:
            return state


def with_history(state: State, session_id: str, events: Iterable[Event]) -> State:
    """Continue the transcript of a session with stored events; known ones change nothing."""
    view = state.sessions.get(session_id)
    if view is None:
        return state
    transcript, seq, step = view.transcript, view.seq, view.step
    for event in events:
        transcript = follow(transcript, event)
        seq = max(seq, event.seq)
        step = _newest_step(step, event)
    view = replace(view, transcript=transcript, seq=seq, step=step)
    return replace(state, sessions={**state.sessions, session_id: view})


def with_session(state: State, events: Iterable[Event]) -> State:
    """Take in a session that the picture lacks, from all its stored events so far.

    An overview has the newest trees only; an older one that moves again is brought in like this.
    """
    session: Session | None = None
    for event in (past := tuple(events)):
        session = fold_session(session, event)
    if session is None or session.session_id in state.sessions:
        return state
    view = SessionView(session=session, seq=past[-1].seq)
    known = replace(state, sessions={**state.sessions, session.session_id: view})
    return with_history(known, session.session_id, past)


def tree(state: State) -> tuple[tuple[int, SessionView], ...]:
    """List sessions as a tree: (depth, view); live roots first, then the newest."""
    children: dict[str, list[SessionView]] = {}
    for view in state.sessions.values():
        parent = view.session.parent_id
        children.setdefault(parent if parent in state.sessions else "", []).append(view)
    roots = sorted(
        children.get("", ()),
        key=lambda v: (v.session.state.is_terminal, -v.session.created_ms, v.session.session_id),
    )
    listed: list[tuple[int, SessionView]] = []
    stack = [(0, view) for view in reversed(roots)]
    placed: set[str] = set()
    while stack:
        depth, view = stack.pop()
        session_id = view.session.session_id
        if session_id in placed:
            continue
        placed.add(session_id)
        listed.append((depth, view))
        below = sorted(children.get(session_id, ()), key=lambda v: v.session.created_ms)
        stack.extend((depth + 1, child) for child in reversed(below))
    return tuple(listed)


class AttentionKind(StrEnum):
    """Why something waits for the operator."""

    QUESTION = "question"
    APPROVAL = "approval"
    LOST = "lost"
    DEVICE = "device"
    FAILED = "failed"


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits for the operator."""

    key: str
    kind: AttentionKind
    since_ms: int
    text: str
    session_id: str = ""
    serial: str = ""
    question: Question | None = None

    @property
    def needs_person(self) -> bool:
        """Whether work stands still until somebody acts; the rest is news to be read."""
        return _URGENCY[self.kind] < _URGENCY[AttentionKind.DEVICE]


_URGENCY = {
    AttentionKind.QUESTION: 0,
    AttentionKind.APPROVAL: 0,
    AttentionKind.LOST: 1,
    AttentionKind.DEVICE: 2,
    AttentionKind.FAILED: 3,
}


def failure_key(session: Session) -> str:
    """Name a session's failure among what waits; empty when it has not failed."""
    if session.state is not SessionState.FAILED:
        return ""
    return f"{AttentionKind.FAILED.value}:{session.session_id}:{session.generation}"


def attention(state: State, seen: frozenset[str] = frozenset()) -> tuple[Attention, ...]:
    """List what waits for the operator; `seen` holds keys to leave out.

    Questions and approvals come first, then what was lost, then news; the oldest first in each.
    """
    waiting = [
        Attention(
            key=f"question:{q.question_id}",
            kind=AttentionKind(q.kind.value),
            since_ms=q.asked_ms,
            text=q.text,
            session_id=q.session_id,
            question=q,
        )
        for q in state.questions.values()
    ]
    for view in state.sessions.values():
        one = view.session
        if one.lost and not one.state.is_terminal:
            kind, text = AttentionKind.LOST, f"{one.serial or 'The device'} is away"
        elif one.state is SessionState.FAILED:
            kind, text = AttentionKind.FAILED, one.latest_error or one.goal
        else:
            continue
        waiting.append(
            Attention(
                key=failure_key(one) or f"{kind.value}:{one.session_id}:{one.generation}",
                kind=kind,
                since_ms=one.updated_ms,
                text=text,
                session_id=one.session_id,
                serial=one.serial,
            )
        )
    for device in state.devices.values():
        if device.note and device.state not in (DeviceState.ONLINE, DeviceState.GONE):
            waiting.append(
                Attention(
                    key=f"device:{device.serial}:{device.state.value}",
                    kind=AttentionKind.DEVICE,
                    since_ms=0,
                    text=f"{device.state.value}: {device.note}",
                    serial=device.serial,
                )
            )
    return tuple(
        sorted(
            (a for a in waiting if a.key not in seen),
            key=lambda a: (_URGENCY[a.kind], a.since_ms, a.key),
        )
    )
