"""Derive from the view state: sessions as a tree, and what waits for the operator. Pure.

`agent.state.reducer` folds the state. Invariant: the lists are made once for
each state.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from agent import records
from agent.state.memoize import memoize_last
from agent.state.terms import term
from agent.state.view_state import SessionView, State


def tree(state: State) -> tuple[tuple[int, SessionView], ...]:
    """List sessions as a tree: (depth, view); live roots first, then the newest."""
    return _tree(state.sessions)


@memoize_last
def children_of(sessions: Mapping[str, SessionView]) -> Mapping[str, tuple[SessionView, ...]]:
    """Return the subtasks of each session that has any, the oldest first, by its id."""
    found: dict[str, list[SessionView]] = {}
    for view in sessions.values():
        if view.session.parent_id:
            found.setdefault(view.session.parent_id, []).append(view)
    return {
        parent: tuple(sorted(views, key=lambda view: view.session.created_ms))
        for parent, views in found.items()
    }


@memoize_last
def _tree(sessions: Mapping[str, SessionView]) -> tuple[tuple[int, SessionView], ...]:
    return tuple([(depth, sessions[one]) for depth, one in _tree_order.of(sessions)])


class _TreeOrder:
    """The order of the newest tree: most events change nothing that it depends on."""

    def __init__(self) -> None:
        self._facts: list[tuple[str, str, bool, int]] = []
        self._order: list[tuple[int, str]] = []

    def of(self, sessions: Mapping[str, SessionView]) -> list[tuple[int, str]]:
        """Return depth and id of each session, in the order of the tree."""
        facts = [
            (one.session_id, one.parent_id, one.state.is_terminal, one.created_ms)
            for one in [view.session for view in sessions.values()]
        ]
        if facts != self._facts:
            self._facts, self._order = facts, _in_tree_order(sessions)
        return self._order


_tree_order = _TreeOrder()


def _in_tree_order(sessions: Mapping[str, SessionView]) -> list[tuple[int, str]]:
    children = children_of(sessions)
    roots = sorted(
        [view for view in sessions.values() if view.session.parent_id not in sessions],
        key=lambda v: (v.session.state.is_terminal, -v.session.created_ms, v.session.session_id),
    )
    listed: list[tuple[int, str]] = []
    stack = [(0, view) for view in reversed(roots)]
    placed: set[str] = set()
    while stack:
        depth, view = stack.pop()
        session_id = view.session.session_id
        if session_id in placed:
            continue
        placed.add(session_id)
        listed.append((depth, session_id))
        below = children.get(session_id, ())
        stack.extend((depth + 1, child) for child in reversed(below))
    return listed


class AttentionKind(StrEnum):
    """Why something waits for the operator."""

    QUESTION = "question"
    APPROVAL = "approval"
    LOST = "lost"
    DEVICE = "device"
    COMMITMENT = "commitment"  # A commitment is due.
    WATCHER = "watcher"  # A watcher has found what it looked for.
    RESULT = "result"  # A job came to something that nobody has read.
    FAILED = "failed"


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits for the operator."""

    key: str
    kind: AttentionKind
    since_ms: int
    text: str
    session_id: str = ""
    serial: str = ""
    until_ms: int = 0  # When what waits ends by itself, for the worse; 0 = never.
    question: records.Question | None = None
    about: str = ""  # What it is of, when it is of no session and no device.
    number: int = 0  # The commitment's, watcher's or job's.

    @property
    def needs_person(self) -> bool:
        """Whether work stands still until somebody acts; the rest is news to be read."""
        return _URGENCY[self.kind] < _URGENCY[AttentionKind.DEVICE]


_URGENCY = {
    AttentionKind.QUESTION: 0,
    AttentionKind.APPROVAL: 0,
    AttentionKind.LOST: 1,
    AttentionKind.DEVICE: 2,
    AttentionKind.COMMITMENT: 3,
    AttentionKind.WATCHER: 3,
    AttentionKind.RESULT: 4,
    AttentionKind.FAILED: 4,
}


def failure_key(session: records.Session) -> str:
    """Name a session's failure among what waits; empty when it has not failed."""
    if session.state is not records.SessionState.FAILED:
        return ""
    return f"{AttentionKind.FAILED.value}:{session.session_id}:{session.generation}"


def reminders(state: State) -> tuple[Attention, ...]:
    """List the commitments that are due and the matches that nobody has seen."""
    due = [
        Attention(
            key=f"commitment:{one.id}:{one.updated_at}",
            kind=AttentionKind.COMMITMENT,
            since_ms=one.due_at,
            text=one.title,
            about=one.description or "a commitment",
            number=one.id,
        )
        for one in state.commitments.values()
        if one.status is records.CommitmentStatus.FIRED
    ]
    found = [
        Attention(
            key=f"watcher:{one.id}:{one.fired_at}",
            kind=AttentionKind.WATCHER,
            since_ms=one.fired_at,
            text=one.last_result,
            about=one.title,
            number=one.id,
        )
        for one in state.watchers.values()
        if one.unread
    ]
    return (*due, *found)


def attention(state: State, seen: frozenset[str] = frozenset()) -> tuple[Attention, ...]:
    """List what waits for the operator; `seen` holds keys to leave out.

    Questions and approvals come first, then what was lost, then news; the oldest first in each.
    """
    return _attention(state, seen)


@memoize_last
def _attention(state: State, seen: frozenset[str]) -> tuple[Attention, ...]:
    stranded = tuple(_lost_or_failed(state))
    # A loss is told once: by the session that waits for the phone, where there is one.
    told = {one.serial for one in stranded if one.kind is AttentionKind.LOST}
    devices = (one for one in _devices(state) if one.serial not in told)
    standing = (*_questions(state), *stranded, *devices)
    waiting = (*standing, *reminders(state), *_results(state))
    return tuple(
        sorted(
            (a for a in waiting if a.key not in seen),
            key=lambda a: (_URGENCY[a.kind], a.since_ms, a.key),
        )
    )


def _questions(state: State) -> Iterator[Attention]:
    for question in state.questions.values():
        yield Attention(
            key=f"question:{question.question_id}",
            kind=AttentionKind(question.kind.value),
            since_ms=question.asked_ms,
            until_ms=question.deadline_ms,
            text=question.shown,
            session_id=question.session_id,
            question=question,
        )


def _lost_or_failed(state: State) -> Iterator[Attention]:
    """Yield the sessions whose phone is away, and those that failed."""
    for view in state.sessions.values():
        one = view.session
        if one.lost and not one.state.is_terminal:
            kind, text = AttentionKind.LOST, f"{one.serial or 'The phone'} is away"
        elif one.state is records.SessionState.FAILED and not one.dismissed:
            kind, text = AttentionKind.FAILED, one.latest_error or one.goal
        else:
            continue
        yield Attention(
            key=failure_key(one) or f"{kind.value}:{one.session_id}:{one.generation}",
            kind=kind,
            since_ms=one.updated_ms,
            until_ms=one.lost_until_ms,
            text=text,
            session_id=one.session_id,
            serial=one.serial,
        )


def _devices(state: State) -> Iterator[Attention]:
    for device in state.devices.values():
        if (
            device.note
            and not device.dismissed
            and device.state not in (records.DeviceState.ONLINE, records.DeviceState.GONE)
        ):
            yield Attention(
                key=f"device:{device.serial}:{device.state.value}",
                kind=AttentionKind.DEVICE,
                since_ms=0,
                text=f"{term(device.state)}: {device.note}",
                serial=device.serial,
            )


def _results(state: State) -> Iterator[Attention]:
    """Yield the jobs whose last run announces itself and has not been read.

    What one came to is read on its page: no result or trace waits where anybody may look.
    """
    for job in state.jobs.values():
        if job.unread_result and job.sends_notices:
            yield Attention(
                key=f"result:{job.id}:{job.last_run_at}",
                kind=AttentionKind.RESULT,
                since_ms=job.last_run_at,
                text="Run failed." if job.is_failing else job.notice_text,
                about=job.title,
                number=job.id,
            )
