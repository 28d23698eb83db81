"""Put sessions in the order and in the groups that the operator chose. No I/O.

Not how a row looks (`widgets.lists.session_rows`). Invariants: every session is listed once, under
one heading; without groups a child stands under its parent.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from agent.records import Question, Session
from agent.state.memoize import memoize_last
from agent.state.reducer import SessionView, State, tree
from widgets.base import status
from widgets.base.formatting import natural
from widgets.lists.groups import NO_HOST
from widgets.lists.hosts import session_host
from widgets.lists.session_rows import device_name


class Sort(StrEnum):
    """What sessions are sorted by."""

    ASKING = "asking"  # Who waits for a person first, then as LIVE.
    LIVE = "live"  # Who works first, then the newest.
    NEWEST = "newest"
    STATE = "state"
    PHONE = "phone"
    TAG = "tag"
    TITLE = "title"
    HOST = "host"  # By the host of a fleet, live first on each.


class Group(StrEnum):
    """What sessions are grouped by."""

    TREE = "tree"
    STATE = "state"
    PHONE = "phone"
    TAG = "tag"
    AGE = "age"
    HOST = "host"


class Listed(NamedTuple):
    """One entry: a heading, which has no view, or a session with how deep it stands."""

    view: SessionView | None
    depth: int = 0
    heading: str = ""
    members: int = 0  # Of a heading: how many sessions stand under it.


NO_TAG = "no tag"
NO_PHONE = "no phone"
_HOUR_MS = 3_600_000
_AGES = ((5 * 60_000, "last 5 minutes"), (_HOUR_MS, "last hour"), (24 * _HOUR_MS, "last day"))
_STATES = (
    "asks you",
    "device away",
    "paused",
    "running",
    "queued",
    "idle",
    "stopped",
    "draft",
    "failed",
    "done",
    "cancelled",
)
_Key = Callable[[SessionView], tuple[Any, ...]]
_Chosen = TypeVar("_Chosen", Sort, Group)


def ordered(
    state: State,
    sort: Sort,
    group: Group,
    *,
    now_ms: int,
    keep: Callable[[SessionView], bool] = lambda _: True,
) -> list[Listed]:
    """List the sessions that are kept.

    Args:
        state: the picture.
        sort: the order of sessions among their siblings, or in a group.
        group: TREE lists children under their parents; all others list flat under headings.
        now_ms: the present, for groups by age.
        keep: whether a session is listed.
    """
    views = [(depth, view) for depth, view in tree(state) if keep(view)]
    if group is Group.TREE:
        return _as_tree(state, views, sort)
    key = _sort_key(state, sort)
    groups: dict[str, list[SessionView]] = {}
    for _, view in views:
        groups.setdefault(_heading(state, view.session, group, now_ms), []).append(view)
    listed: list[Listed] = []
    for heading in sorted(groups, key=lambda one: _heading_rank(one, group)):
        members = groups[heading]
        if key is not None:
            members.sort(key=key)
        listed.append(Listed(None, heading=heading, members=len(members)))
        listed += [Listed(view) for view in members]
    return listed


def _as_tree(state: State, views: list[tuple[int, SessionView]], sort: Sort) -> list[Listed]:
    key = _sort_key(state, sort)
    if key is None:
        return [Listed(view, depth) for depth, view in views]
    known = {view.session.session_id for _, view in views}
    below: dict[str, list[SessionView]] = {}
    for _, view in views:
        parent = view.session.parent_id
        below.setdefault(parent if parent in known else "", []).append(view)
    listed: list[Listed] = []
    stack = [(0, view) for view in reversed(sorted(below.pop("", ()), key=key))]
    while stack:
        depth, view = stack.pop()
        listed.append(Listed(view, depth))
        children = below.pop(view.session.session_id, None)
        if children:
            stack += [(depth + 1, child) for child in reversed(sorted(children, key=key))]
    return listed


def _sort_key(state: State, sort: Sort) -> _Key | None:
    """Return what orders siblings; None leaves them as the tree has them."""
    match sort:
        case Sort.LIVE:
            return None
        case Sort.ASKING:
            ranks = _ranks(state.sessions, state.questions)
            if not ranks:
                return None
            # What is as urgent stays as the tree has it.
            return lambda v: ranks.get(v.session.session_id, _IN_NO_NEED)
        case Sort.NEWEST:
            return lambda v: (-v.session.created_ms, v.session.session_id)
        case Sort.STATE:
            asking = _asking(state)
            return lambda v: (_STATES.index(state_word(v.session, asking)), -v.session.created_ms)
        case Sort.PHONE:
            return lambda v: (natural(_phone(state, v.session)), -v.session.created_ms)
        case Sort.TAG:
            return lambda v: (not v.session.tags, v.session.tags, -v.session.created_ms)
        case Sort.TITLE:
            return lambda v: (natural(v.session.title or v.session.goal), v.session.session_id)
        case Sort.HOST:
            return lambda v: (
                not session_host(v.session),
                natural(session_host(v.session)),
                v.session.state.is_terminal,
                -v.session.created_ms,
                v.session.session_id,
            )


_ASKS, _LOST = 0, 1
_IN_NO_NEED = (2, 0)


@memoize_last
def _ranks(
    sessions: Mapping[str, SessionView], questions: Mapping[str, Question]
) -> Mapping[str, tuple[int, int]]:
    """Return how urgent each session is that needs a person, or that has a subtask which does; of
    those that ask, the oldest question counts.
    """
    needs: dict[str, tuple[int, int]] = {
        one: (_LOST, view.session.updated_ms)
        for one, view in sessions.items()
        if view.session.lost and not view.session.state.is_terminal
    }
    for question in questions.values():
        rank = (_ASKS, question.asked_ms)
        needs[question.session_id] = min(rank, needs.get(question.session_id, rank))
    ranks: dict[str, tuple[int, int]] = {}
    for one, rank in needs.items():
        above = one
        while above in sessions and rank < ranks.get(above, _IN_NO_NEED):
            ranks[above] = rank
            above = sessions[above].session.parent_id
    return ranks


def state_word(session: Session, asking: frozenset[str]) -> str:
    """Name the state that a session is grouped under; what needs a person goes before the rest."""
    if not session.state.is_terminal:
        if session.session_id in asking:
            return "asks you"
        if session.lost:
            return "device away"
        if session.paused:
            return "paused"
    return status.state_word(session)


def _asking(state: State) -> frozenset[str]:
    return frozenset(question.session_id for question in state.questions.values())


def _phone(state: State, session: Session) -> str:
    return device_name(session.serial, state.devices) if session.serial else NO_PHONE


def _heading(state: State, session: Session, group: Group, now_ms: int) -> str:
    match group:
        case Group.PHONE:
            return _phone(state, session)
        case Group.TAG:
            return session.tags[0] if session.tags else NO_TAG
        case Group.HOST:
            return session_host(session) or NO_HOST
        case Group.AGE:
            age_ms = now_ms - session.created_ms
            return next((name for most_ms, name in _AGES if age_ms < most_ms), "earlier")
        case Group.STATE | Group.TREE:
            return state_word(session, _asking(state))


def _heading_rank(heading: str, group: Group) -> tuple[Any, ...]:
    match group:
        case Group.STATE:
            return (_STATES.index(heading),)
        case Group.AGE:
            names = [name for _, name in _AGES]
            return (names.index(heading) if heading in names else len(names),)
        case _:
            return (heading in {NO_TAG, NO_PHONE, NO_HOST}, natural(heading))


def next_of(now: _Chosen, among: Iterable[_Chosen]) -> _Chosen:
    """Return the choice after this one, the first after the last."""
    choices = list(among)
    return choices[(choices.index(now) + 1) % len(choices)]
