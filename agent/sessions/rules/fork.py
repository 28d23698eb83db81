"""Copy a session's past into the facts of a new session: what a fork and an import store. Pure.

Not the storing of it (`agent.sessions.lifecycle.archive`). Invariants: the copy has a new id and
new question ids, so nothing of it can answer for the original; it ends idle, with no turn and no
question open; times are those of the original; it changes nothing but its own session.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from agent.errors import UsageError
from agent.protocol import (
    OF_NO_SESSION,
    AbortReason,
    ApprovalGiven,
    Event,
    EventMsg,
    QuestionAnswered,
    QuestionClosed,
    RecoveryScheduled,
    RequestUserInput,
    SessionConfigured,
    SessionContinued,
    SessionDeferred,
    SessionDismissed,
    SessionFlagsChanged,
    SessionHosted,
    SessionKept,
    SessionPruned,
    SessionRolledBack,
    SessionStateChanged,
    StepCompleted,
    StepStarted,
    TaskComplete,
    TaskStarted,
    TurnAborted,
    UserMessage,
)
from agent.records import Session, SessionKind, SessionState, Speaker
from agent.sessions.rules.rollback import visible
from agent.store.store import EventDraft

_NEVER_COPIED = (
    frozenset({SessionConfigured, SessionDismissed, SessionHosted, SessionKept, SessionPruned})
    | OF_NO_SESSION
)


class Fork(NamedTuple):
    """What makes a copy a session of its own."""

    origin: str  # The session it was forked from.
    created_ms: int


def cut(events: Sequence[Event], before_message: int) -> tuple[Event, ...]:
    """Take what came before the operator's nth message, counted from 0, which is the goal.

    Hints count as messages. A number that is negative or beyond the last message takes everything
    but an unfinished turn (Codex: TruncateBeforeNthUserMessage); of a first one that is unfinished
    it takes the steps that have ended.

    Raises UsageError where that turn is all there is, and none of its steps has ended.
    """
    seen = visible(events)
    if before_message == 0:
        return seen[:1]
    messages = [at for at, event in enumerate(seen) if isinstance(event.msg, UserMessage)]
    if 0 < before_message <= len(messages):
        return seen[: messages[before_message - 1]]
    opened = _open_turn(seen)
    if opened is None:
        return seen
    if any(isinstance(event.msg, TaskStarted) for event in seen[:opened]):
        return seen[:opened]
    ended = [at for at, event in enumerate(seen) if isinstance(event.msg, StepCompleted)]
    if not ended:
        raise UsageError(
            "The session's first turn has not ended a step yet, so a copy would have no past.",
            "Fork it later, or start another session with its goal.",
        )
    return seen[: ended[-1] + 1]


def cut_after_step(events: Sequence[Event], step: int) -> tuple[Event, ...]:
    """Take what came up to the end of a step, the step included.

    Raises UsageError when no such step has ended.
    """
    seen = visible(events)
    for at, event in enumerate(seen):
        if isinstance(event.msg, StepCompleted) and event.msg.step == step:
            return seen[: at + 1]
    raise UsageError(
        f"The session has no step {step} that has ended.", "Name one that its transcript shows."
    )


def copied(
    events: Sequence[Event],
    session_id: str,
    *,
    new_question_id: Callable[[], str],
    reason: str,
    forked: Fork | None = None,
) -> tuple[EventDraft, ...]:
    """Return the facts of a new session with this past.

    Args:
        events: a session's events that count, the first of which configured it.
        session_id: the new session's.
        new_question_id: makes an id that no question has.
        reason: why the new session is idle, for people.
        forked: what makes it a session of its own; None for the same one somewhere else, which
            stays settled if it was.

    Raises:
        UsageError: the first event did not configure a session.
    """
    if not events or not isinstance(events[0].msg, SessionConfigured):
        raise UsageError("A session's past must start with its configuration.")
    first = events[0].msg.session
    own = _own_record(first, session_id, forked)
    if forked is not None:
        steps = (e.msg.step for e in events if isinstance(e.msg, StepStarted))
        own = replace(own, forked_step=max(steps, default=0))
    drafts = [EventDraft(session_id, SessionConfigured(session=own), dated_ms=events[0].ts_ms)]
    questions: dict[str, str] = {}
    still_open: dict[str, None] = {}
    kept_seqs: list[int] = []
    for event in events[1:]:
        if type(event.msg) in _NEVER_COPIED:
            continue
        if forked is not None and isinstance(event.msg, RecoveryScheduled | SessionDeferred):
            # A session of its own: nobody has taken it on again, nor put anything of it off.
            continue
        msg = _renamed(event.msg, session_id, questions, new_question_id)
        if msg is None:
            continue
        match msg:
            case RequestUserInput(question=question):
                still_open[question.question_id] = None
            case QuestionAnswered(question_id=ended) | QuestionClosed(question_id=ended):
                if still_open.pop(ended, ...) is ...:
                    continue
            case ApprovalGiven(question_id=asked) if asked not in still_open:
                continue
            case SessionRolledBack(from_seq=from_seq):
                # The copy's own numbers: 1 configured it, and the rest follows without gaps.
                msg = replace(msg, from_seq=2 + bisect_left(kept_seqs, from_seq))
            case _:
                pass
        kept_seqs.append(event.seq)
        drafts.append(EventDraft(session_id, msg, dated_ms=event.ts_ms))
    stays = forked is None and _is_settled(events)
    ending = _ending(events, still_open, reason, idle=not stays)
    return (*drafts, *(EventDraft(session_id, msg) for msg in ending))


def _own_record(first: Session, session_id: str, forked: Fork | None) -> Session:
    return replace(
        first,
        session_id=session_id,
        forked_from=forked.origin if forked else first.forked_from,
        created_ms=forked.created_ms if forked else first.created_ms,
        # The parent has its own children; a copy stands by itself.
        parent_id="",
        goal_speaker=Speaker.OPERATOR if first.has_operators_goal else Speaker.MODEL,
        kind=SessionKind.AGENT if first.kind is SessionKind.GENIE else first.kind,
        # What the operator allowed one session, its copy asks about: used twice it would be more.
        allowances=(),
        job_id=0,
        for_job=0,
        provisional=False,
        part_ids=(),
        state=SessionState.CREATED,
        paused=False,
        held=False,
        lost=False,
        lost_until_ms=0,
        driver="",
        deferred=None,
        kept=False,
        pruned=False,
        stopped=False,
        turn_id="",
    )


def _renamed(
    msg: EventMsg, session_id: str, questions: dict[str, str], new_id: Callable[[], str]
) -> EventMsg | None:
    """Return a question its new id everywhere; None for the end of a question nobody asked."""
    match msg:
        case RequestUserInput(question=question):
            own_id = questions.setdefault(question.question_id, new_id())
            return replace(
                msg, question=replace(question, question_id=own_id, session_id=session_id)
            )
        case (
            QuestionAnswered(question_id=asked)
            | QuestionClosed(question_id=asked)
            | ApprovalGiven(question_id=asked)
        ):
            own = questions.get(asked)
            return replace(msg, question_id=own) if own is not None else None
        case SessionContinued():
            # The job is the original's, or one of another store.
            return replace(msg, job_id=0)
        case _:
            return msg


def _is_settled(events: Sequence[Event]) -> bool:
    """Return whether the newest state is a terminal one."""
    for event in reversed(events):
        if isinstance(event.msg, SessionStateChanged):
            return event.msg.state.is_terminal
    return False


def _ending(
    events: Sequence[Event], still_open: dict[str, None], reason: str, *, idle: bool
) -> list[EventMsg]:
    ending: list[EventMsg] = [
        QuestionClosed(question_id=question_id, reason=reason) for question_id in still_open
    ]
    opened = _open_turn(events)
    if opened is not None:
        started = events[opened].msg
        assert isinstance(started, TaskStarted)
        ending.append(TurnAborted(turn_id=started.turn_id, reason=AbortReason.INTERRUPTED))
    if _has_begun(events) and idle:
        ending.append(SessionFlagsChanged())
        ending.append(SessionStateChanged(state=SessionState.WAITING_FOR_USER, reason=reason))
    elif _has_flags(events):
        ending.append(SessionFlagsChanged())
    return ending


def _has_begun(events: Sequence[Event]) -> bool:
    """Return whether it is no draft any more, whatever was noted of its texts or its phone."""
    begun = (SessionStateChanged, StepStarted, TaskStarted, UserMessage)
    return any(isinstance(event.msg, begun) for event in events)


def _has_flags(events: Sequence[Event]) -> bool:
    """Return whether somebody still drives, or waits for, what is long over."""
    for event in reversed(events):
        match event.msg:
            case SessionFlagsChanged(paused=paused, held=held, lost=lost, driver=driver):
                return bool(paused or held or lost or driver)
            case _:
                pass
    return False


def _open_turn(events: Sequence[Event]) -> int | None:
    opened: int | None = None
    for at, event in enumerate(events):
        match event.msg:
            case TaskStarted():
                opened = at
            case TaskComplete() | TurnAborted():
                opened = None
            case _:
                pass
    return opened
