"""Plan one act on several sessions: each one's op, skipped sessions with reasons, results.

Pure: plans are made from the view state and described in sentences; the caller sends the ops, one
per session, so each has an outcome (docs/decisions/0072). Invariant: every targeted session is in
the plan, with an op or with a reason.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from agent import protocol
from agent.records import Question, Session, SessionState
from agent.state.reducer import MessageItem, SessionView, State
from agent.text import counted, one_line
from console.core.active_sessions import is_tree_under_way
from widgets.base.formatting import quoted
from widgets.lists.session_rows import session_title

_NAMED = 3  # How many sessions of one outcome are named; the rest are counted.


class Act(StrEnum):
    """What is done to each."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    DISMISS = "dismiss"
    RESTORE = "bring back"
    TAG = "tag"
    RENAME = "rename"
    WRITE = "write to"
    SEND = "follow up on"
    BEGIN = "begin"
    ANSWER = "answer"
    WITHDRAW = "take the hint back from"


PAST = {
    Act.STOP: "Stopped",
    Act.PAUSE: "Paused",
    Act.RESUME: "Resumed",
    Act.CANCEL: "Cancelled",
    Act.DISMISS: "Dismissed",
    Act.RESTORE: "Brought back",
    Act.TAG: "Tagged",
    Act.RENAME: "Renamed",
    Act.WRITE: "Sent to",
    Act.SEND: "Followed up on",
    Act.BEGIN: "Started",
    Act.ANSWER: "Answered",
    Act.WITHDRAW: "Hint taken back from",
}


class Step(NamedTuple):
    """One session's op."""

    session_id: str
    title: str
    op: protocol.Op


class Skipped(NamedTuple):
    """A session that an act leaves out."""

    title: str
    why: str


class Plan(NamedTuple):
    """What an act does to each targeted session."""

    act: Act
    steps: tuple[Step, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def count_words(self) -> str:
        """Return how many sessions get an op: "4", or "4 of 5" if some are left out."""
        whole = len(self.steps) + len(self.skipped)
        return f"{len(self.steps)} of {whole}" if self.skipped else f"{whole}"


_Chosen = protocol.Op | str  # An op for a session, or why it gets none.


def plan_for(act: Act, ids: Iterable[str], state: State, *, text: str = "") -> Plan:
    """Plan an act on sessions.

    Args:
        act: what is done; BEGIN and ANSWER have separate plans.
        ids: the sessions, in list order; unknown ones are left out.
        state: the view state.
        text: what is written to each, or the tags: words to add, -words to remove.
    """
    choose = _CHOICES[act]
    steps: list[Step] = []
    skipped: list[Skipped] = []
    for session_id in ids:
        view = state.sessions.get(session_id)
        if view is None:
            continue
        title = one_line(session_title(view.session), 40)
        chosen = choose(view, state, text)
        if isinstance(chosen, str):
            skipped.append(Skipped(title, chosen))
        else:
            steps.append(Step(session_id, title, chosen))
    return Plan(act, tuple(steps), tuple(skipped))


_ENDED = "has ended"


def _stop(view: SessionView, state: State, _: str) -> _Chosen:
    if not is_tree_under_way(view.session, state):
        return "is not running"
    return protocol.Interrupt(session_id=view.session.session_id)


def _pause(view: SessionView, state: State, _: str) -> _Chosen:
    session = view.session
    if session.paused:
        return "is paused already"
    if not is_tree_under_way(session, state):
        return "is not running"
    return protocol.SessionPause(session_id=session.session_id)


def _resume(view: SessionView, state: State, _: str) -> _Chosen:
    session = view.session
    if session.state.is_terminal:
        return _ENDED
    if session.state is SessionState.CREATED:
        return protocol.SessionStart(session_id=session.session_id)
    if not session.paused and is_tree_under_way(session, state):
        return "is running"
    return protocol.SessionResume(session_id=session.session_id)


def _cancel(view: SessionView, _state: State, _: str) -> _Chosen:
    if view.session.state.is_terminal:
        return _ENDED
    return protocol.SessionCancel(session_id=view.session.session_id)


def _dismiss(view: SessionView, _state: State, _: str) -> _Chosen:
    if not view.session.state.is_terminal:
        return "has not ended"
    return protocol.SessionDismiss(session_id=view.session.session_id)


def _restore(view: SessionView, _state: State, _: str) -> _Chosen:
    return protocol.SessionDismiss(session_id=view.session.session_id, dismissed=False)


def _write(view: SessionView, _state: State, text: str) -> _Chosen:
    session = view.session
    if session.state.is_terminal:
        return _ENDED
    if session.state is SessionState.CREATED:
        return protocol.SessionStart(session_id=session.session_id, prompt=text)
    return protocol.UserInput(session_id=session.session_id, text=text)


def _send(view: SessionView, _state: State, text: str) -> _Chosen:
    if not view.session.state.is_terminal:
        return "has not ended"
    return protocol.NoticeSend(session_id=view.session.session_id, text=text)


def _tag(view: SessionView, _state: State, text: str) -> _Chosen:
    tags = changed_tags(view.session.tags, text)
    if tags == view.session.tags:
        return "has these tags already"
    return protocol.SessionTag(session_id=view.session.session_id, tags=tags)


def _rename(view: SessionView, _state: State, text: str) -> _Chosen:
    if text == view.session.title:
        return "has this title already"
    return protocol.SessionRename(session_id=view.session.session_id, title=text)


def _withdraw(view: SessionView, _state: State, text: str) -> _Chosen:
    for item in reversed(view.transcript.items):
        waits = isinstance(item, MessageItem) and item.steer and not item.withdrawn
        if waits and isinstance(item, MessageItem) and item.text == text:
            if item.applied_step:
                return f"has applied it at step {item.applied_step}"
            return protocol.SteerWithdraw(
                session_id=view.session.session_id, message_id=item.message_id
            )
    return "took it as a prompt"


_CHOICES: dict[Act, Callable[[SessionView, State, str], _Chosen]] = {
    Act.STOP: _stop,
    Act.PAUSE: _pause,
    Act.RESUME: _resume,
    Act.CANCEL: _cancel,
    Act.DISMISS: _dismiss,
    Act.RESTORE: _restore,
    Act.TAG: _tag,
    Act.RENAME: _rename,
    Act.WRITE: _write,
    Act.SEND: _send,
    Act.WITHDRAW: _withdraw,
}


def changed_tags(tags: Sequence[str], text: str) -> tuple[str, ...]:
    """Return tags with words added, and words after a minus removed; a leading # is dropped."""
    words = text.split()
    gone = {word[1:].lstrip("#") for word in words if word.startswith("-")}
    added = [word.lstrip("#") for word in words if not word.startswith("-")]
    return tuple(dict.fromkeys(one for one in (*tags, *added) if one and one not in gone))


def same_question(asked: Question, other: Question) -> bool:
    """Return whether two sessions ask the same question, so that one answer fits both."""

    def shape(question: Question) -> tuple[object, ...]:
        labels = tuple(option.label for option in question.options)
        parts = tuple((part.text, part.secret) for part in question.parts)
        subject = question.subject
        about = (subject.action, subject.effect) if subject is not None else None
        return question.kind, question.text, labels, parts, about

    return shape(asked) == shape(other)


def plan_answer(asked: Question, answer: str, ids: Iterable[str], state: State) -> Plan:
    """Plan one answer to the same question of several sessions.

    Two approvals are the same only if sentence, tool and effect are.
    """
    steps: list[Step] = []
    skipped: list[Skipped] = []
    for session_id in ids:
        view = state.sessions.get(session_id)
        if view is None:
            continue
        title = one_line(session_title(view.session), 40)
        open_ones = [q for q in state.questions.values() if q.session_id == session_id]
        same = next((q for q in open_ones if same_question(asked, q)), None)
        if same is not None:
            op = protocol.UserInputAnswer(question_id=same.question_id, answer=answer)
            steps.append(Step(session_id, title, op))
        else:
            asks_other = "has another question" if open_ones else "has no open question"
            skipped.append(Skipped(title, asks_other))
    return Plan(Act.ANSWER, tuple(steps), tuple(skipped))


# --- undo ----------

_INVERSE = {
    Act.STOP: Act.RESUME,
    Act.PAUSE: Act.RESUME,
    Act.DISMISS: Act.RESTORE,
    Act.RESTORE: Act.DISMISS,
    Act.WRITE: Act.WITHDRAW,
}


_REWRITES: dict[Act, Callable[[Session], protocol.Op]] = {
    Act.TAG: lambda was: protocol.SessionTag(session_id=was.session_id, tags=was.tags),
    Act.RENAME: lambda was: protocol.SessionRename(session_id=was.session_id, title=was.title),
}
"""What an act overwrote, written again."""


def inverse(plan: Plan, before: State, now: State) -> Plan | None:
    """Plan the undo of an act; None if it cannot be undone.

    Args:
        plan: what was done.
        before: the view state at planning time, with the sessions' tags and titles.
        now: the current view state.
    """
    ids = [step.session_id for step in plan.steps]
    if plan.act in _REWRITES:
        rewrite = _REWRITES[plan.act]
        steps = [
            step._replace(op=rewrite(before.sessions[one].session))
            for one, step in zip(ids, plan.steps, strict=True)
            if one in now.sessions and one in before.sessions
        ]
        return Plan(plan.act, tuple(steps))
    if plan.act is Act.RESUME:
        stopped = [one for one in ids if not _was_paused(before, one)]
        act = Act.STOP if len(stopped) == len(ids) else Act.PAUSE
        return plan_for(act, ids, now)
    opposite = _INVERSE.get(plan.act)
    if opposite is None:
        return None
    # A draft among them was started with it instead.
    text = next(
        (step.op.text for step in plan.steps if isinstance(step.op, protocol.UserInput)), ""
    )
    return plan_for(opposite, ids, now, text=text)


def _was_paused(before: State, session_id: str) -> bool:
    view = before.sessions.get(session_id)
    return view is not None and view.session.paused


# --- words ----------


def sessions(count: int) -> str:
    """Return a number of sessions as text."""
    return counted(count, "session")


def result_words(plan: Plan, failed: Sequence[tuple[Step, str]]) -> str:
    """Describe an act's result: how many sessions it changed, and why not the others."""
    done = len(plan.steps) - len(failed)
    whole = len(plan.steps) + len(plan.skipped)
    said = f"{PAST[plan.act]} {sessions(whole)}." if done == whole else ""
    if not said:
        said = f"{PAST[plan.act]} {done} of {sessions(whole)}."
    reasons: dict[str, list[str]] = {}
    for step, why in failed:
        reasons.setdefault(why, []).append(step.title)
    for one in plan.skipped:
        reasons.setdefault(one.why, []).append(one.title)
    return " ".join((said, *(_reason(why, titles) for why, titles in reasons.items())))


def _reason(why: str, titles: list[str]) -> str:
    named = ", ".join(quoted(title, 40) for title in titles[:_NAMED])
    more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
    return f"Not {named}{more}: {why.rstrip('.')}."


def what_happens(plan: Plan) -> str:
    """Describe what an act will do, and to how many, before it is done."""
    said = f"{plan.act.value} {plan.count_words}"
    reasons: dict[str, int] = {}
    for one in plan.skipped:
        reasons[one.why] = reasons.get(one.why, 0) + 1
    left = ", ".join(f"{count} {why}" for why, count in reasons.items())
    return f"{said} ({left})" if left else said


def target_titles(ids: Sequence[str], state: State) -> str:
    """Return the titles of the targets, shortened to the first if there are many."""
    known: list[Session] = [state.sessions[one].session for one in ids if one in state.sessions]
    named = ", ".join(one_line(session_title(one), 24) for one in known[:_NAMED])
    return f"{named} and {len(known) - _NAMED} more" if len(known) > _NAMED else named
