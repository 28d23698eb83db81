"""Rows of the Deck's session list: which columns there are, and what stands in them.

From the picture to rows, of which those that would look the same are kept. Invariants: what needs a
person reads without colour; a subtask's row begins with its phone; a row takes the width there is
and no more.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from textual.content import Content

from agent.records import HostInfo, Question, Session, at_host, on_host
from agent.state.device_names import device_names
from agent.state.memoize import memoize_last
from agent.state.reducer import SessionView, State, children_of
from agent.text import one_line
from widgets.base import formatting, status
from widgets.base.effect_parts import effect_parts
from widgets.base.header_line import cut_middle
from widgets.base.rows import Line, Parts, Row
from widgets.lists.groups import heading_row
from widgets.lists.hosts import is_stranded, session_host
from widgets.lists.kept_listing import Listing, title_of
from widgets.lists.list_filter import EVERYTHING, ListFilter
from widgets.lists.session_order import Group, Listed, Sort, ordered
from widgets.lists.session_rows import delegating, device_name, session_title, step_words

_MOST_PHONE_CELLS = 16
_STATE_CELLS = 16  # As wide as the longest word of a state.
_SPARE_ROWS = 1_000  # How many rows that are listed no more may be kept.
_WIDE = 56  # Cells from which the state has a column of its own on the one line of a row.


class Look(NamedTuple):
    """How the list is looked at."""

    sort: Sort = Sort.ASKING
    group: Group = Group.TREE
    folded: AbstractSet[str] = frozenset()
    """Ids of the sessions whose subtasks are hidden."""
    marked: AbstractSet[str] = frozenset()
    wanted: str = ""
    """A filter: words of title, goal, state, @phone, @host/ and #tag; empty lists what is not
    dismissed."""
    width: int = 0
    """Cells of a row; 0 = not known yet."""
    height: int = 0
    """Lines that are seen; a list that is longer takes one line a row."""
    hosts: Mapping[str, HostInfo] = MappingProxyType({})
    """What is known of the hosts, for the headings of groups by host."""


def listed_sessions(state: State, look: Look, *, now_ms: int) -> list[Listed]:
    """List what matches the filter, without what is folded away, in order and in groups."""

    wanted = ListFilter.of(look.wanted)

    def keeps(view: SessionView) -> bool:
        return _fits(wanted, view.session, state)

    entries = ordered(state, look.sort, look.group, now_ms=now_ms, keep=keeps)
    if not look.folded:
        return entries
    shown: list[Listed] = []
    hidden_below = -1
    for entry in entries:
        if hidden_below >= 0 and entry.depth > hidden_below:
            continue
        folds = entry.view is not None and entry.view.session.session_id in look.folded
        hidden_below = entry.depth if folds else -1
        shown.append(entry)
    return shown


def session_rows(state: State, look: Look, *, now_ms: int, asking: AbstractSet[str]) -> list[Row]:
    """List sessions.

    Args:
        state: the picture.
        look: order, filter, marks and room.
        now_ms: the present, for ages.
        asking: ids of the sessions that have an open question.
    """
    listing = Listing.of(listed_sessions(state, look, now_ms=now_ms))
    return SessionRows().show(listing, state, look, now_ms=now_ms, asking=asking)


class SessionRows:
    """The rows of one list as they were made last: of many, few change at once."""

    def __init__(self) -> None:
        self._made_for: tuple[object, ...] = ()
        self._made_with: tuple[object, ...] = ()
        self._rows: dict[str, _Made] = {}

    def show(
        self, listing: Listing, state: State, look: Look, *, now_ms: int, asking: AbstractSet[str]
    ) -> list[Row]:
        """Write the rows of what is listed; see `session_rows`."""
        context = _Context(
            state=state,
            look=look,
            now_ms=now_ms,
            asking=asking,
            at_work=delegating(state),
            parents=children_of(state.sessions).keys(),
            dense=look.width >= _WIDE or 0 < look.height < listing.lines,
            phone_cells=_phone_cells(state, listing.serials),
            asked=_effects_by_session(state.questions),
            shared=listing.shared,
        )
        made_for = (
            device_names(state.devices),
            look.width,
            look.group,
            context.dense,
            context.phone_cells,
        )
        if made_for != self._made_for:
            self._made_for, self._rows = made_for, {}
        entries = listing.entries
        if len(self._rows) > 2 * len(entries) + _SPARE_ROWS:
            self._rows = {}
        made_with = context.of_all_rows()
        if made_with != self._made_with:
            self._made_with = made_with
            return [self._row(entry, context) for entry in entries]
        # Nothing that all rows depend on has changed: a row is another one by its own session, its
        # depth or its age alone.
        rows = []
        for entry in entries:
            view = entry.view
            made = self._rows.get(view.session.session_id) if view is not None else None
            if (
                made is not None
                and made.view is view
                and made.depth == entry.depth
                and now_ms < made.until_ms
            ):
                rows.append(made.row)
            else:
                rows.append(self._row(entry, context))
        return rows

    def _row(self, entry: Listed, context: "_Context") -> Row:
        view = entry.view
        if view is None:
            host = context.look.hosts.get(entry.heading)
            of_host = host if context.look.group is Group.HOST else None
            return heading_row(entry.heading, entry.members, of_host)
        session = view.session
        one, ended = session.session_id, session.state.is_terminal
        since_ms = session.updated_ms if ended else session.created_ms
        alike = (
            entry.depth,
            formatting.age(context.now_ms - since_ms),
            one in context.look.marked,
            one in context.look.folded,
            one in context.parents,
            one in context.asking,
            context.asked.get(one),
            _is_shared(session, context),
            one in context.at_work,
            one in context.state.notices,
            is_stranded(session, context.state.devices),
        )
        made = self._rows.get(one)
        is_alike = made is not None and made.view is view and made.alike == alike
        row = made.row if made is not None and is_alike else _row(entry, view, context)
        until_ms = since_ms + formatting.age_ends_ms(context.now_ms - since_ms)
        self._rows[one] = _Made(view, alike, row, entry.depth, until_ms)
        return row


class _Made(NamedTuple):
    """A row, and what it was made of."""

    view: SessionView
    alike: tuple[object, ...]
    row: Row
    depth: int
    until_ms: int
    """When its age reads otherwise."""


class _Context(NamedTuple):
    """What every row is made with."""

    state: State
    look: Look
    now_ms: int
    asking: AbstractSet[str]
    at_work: AbstractSet[str]
    parents: AbstractSet[str]
    dense: bool
    phone_cells: int
    asked: Mapping[str, Parts]
    """What each session asks leave for, by its id."""
    shared: AbstractSet[str]
    """The titles that several of the listed sessions have."""

    def of_all_rows(self) -> tuple[object, ...]:
        """Return what any row may depend on beside its session, compared by what it holds."""
        return (
            self.look.marked,
            self.look.folded,
            frozenset(self.parents),
            frozenset(self.asking),
            self.asked,
            self.shared,
            frozenset(self.at_work),
            frozenset(self.state.notices),
            self.state.devices,
        )


@memoize_last
def _effects_by_session(questions: Mapping[str, Question]) -> Mapping[str, Parts]:
    found: dict[str, Parts] = {}
    for question in questions.values():
        effect = question.subject.effect if question.subject is not None else None
        if effect is not None:
            found.setdefault(question.session_id, effect_parts(effect))
    return found


def _is_shared(session: Session, context: "_Context") -> bool:
    return title_of(session) in context.shared


def matches(view: SessionView, wanted: str, state: State) -> bool:
    """Return whether a session holds every word of a filter: @ asks for a phone or its host, # for
    a tag.

    A host is found by a slash behind it, too: `@rack-1/` is not rack-10.
    """
    return _fits(ListFilter.of(wanted), view.session, state)


def _fits(wanted: ListFilter, session: Session, state: State) -> bool:
    if session.dismissed and "dismissed" not in wanted.words:
        return False
    if wanted == EVERYTHING:
        return True
    known = state.devices.get(session.serial)
    place = at_host(session_host(session), on_host(session.serial))

    def search_text() -> str:
        word = status.of_session(session, stranded=is_stranded(session, state.devices)).word
        away = "dismissed" if session.dismissed else ""
        return f"{session.title} {session.goal} {word} {away}"

    return wanted.fits(
        f"{place} {device_name(session.serial, state.devices)}",
        lambda: (*session.tags, *(known.tags if known else ())),
        search_text,
    )


@memoize_last
def _phone_cells(state: State, serials: frozenset[str]) -> int:
    names = device_names(state.devices)
    most = 0
    for one in serials:
        most = max(most, _cells_of(names.get(one) or device_name(one, state.devices)))
        if most >= _MOST_PHONE_CELLS:
            return _MOST_PHONE_CELLS
    return most


@lru_cache(maxsize=4096)
def _cells_of(name: str) -> int:
    return Content(name).cell_length


def _row(entry: Listed, view: SessionView, context: _Context) -> Row:
    session = view.session
    mark = status.of_session(
        session,
        asks=session.session_id in context.asking,
        delegates=session.session_id in context.at_work,
        stranded=is_stranded(session, context.state.devices),
    )
    marked = session.session_id in context.look.marked
    lead: list[tuple[str, str]] = [("✔ ", "bold $primary")] if marked else []
    lead.append(("  " * entry.depth + _branch(session, context), "$faint"))
    phone = _phone_column(session, entry.depth, context)
    asked = context.asked.get(session.session_id, ())
    title: Parts = (
        (session_title(session), "$muted" if session.state.is_terminal else "$foreground"),
    )
    if asked and entry.depth and context.dense:
        # The session that it is part of says what it is for; its own title is mostly the same.
        title = asked
    left: Parts = (*lead, (f"{mark.glyph} ", mark.style), *phone, *title, *_tags(session))
    if session.state.is_terminal or context.dense:
        return Row(session.session_id, (Line(left, _right(view, mark, context)),))
    indent = sum(Content(text).cell_length for text, _ in lead)
    facts: list[tuple[str, str]] = [(" " * indent + "  ", ""), (mark.word, mark.style)]
    if asked:
        facts += [(" · ", "$muted"), *asked]
    elif progress := step_words(view):
        facts.append((f" {progress[0]}", "$foreground"))
    if session.serial and not phone:
        facts.append((f" · {device_name(session.serial, context.state.devices)}", "$muted"))
    age = ((formatting.age(context.now_ms - session.created_ms), "$faint"),)
    return Row(session.session_id, (Line(left), Line(tuple(facts), age)))


def _branch(session: Session, context: _Context) -> str:
    if context.look.group is not Group.TREE or session.session_id not in context.parents:
        return ""
    return "▸ " if session.session_id in context.look.folded else "▾ "


def _phone_column(session: Session, depth: int, context: _Context) -> Parts:
    """Return the phone in front of the title: of sessions that differ in little else, and of all
    rows where the pane is wide enough for columns that stand under each other.
    """
    if context.look.group is Group.PHONE or not context.phone_cells:
        return ()
    is_column = context.dense and context.look.width >= _WIDE
    is_alike = context.dense and _is_shared(session, context)
    if not (is_column or session.parent_id or is_alike):
        # In a narrow pane the title needs the room.
        return ()
    if not session.serial and not (is_column and depth == 0 and not session.parent_id):
        return ()
    name = device_name(session.serial, context.state.devices) if session.serial else ""
    cut = cut_middle(one_line(name), context.phone_cells)
    pad = " " * (context.phone_cells - Content(cut).cell_length)
    return ((f"{cut}{pad}  ", "$muted"),)


def _tags(session: Session) -> Parts:
    return ((f"  {' '.join(f'#{tag}' for tag in session.tags)}", "$faint"),) if session.tags else ()


def _right(view: SessionView, mark: status.Mark, context: _Context) -> Parts:
    """Return what stands at the right end of the one line: news, state, age."""
    session = view.session
    ended = session.state.is_terminal
    since_ms = session.updated_ms if ended else session.created_ms
    # Ages of the same minute look the same, so a quiet row is not drawn again each second.
    age = (f"{formatting.age(context.now_ms - since_ms):>3}", "$faint")
    news = (("new ", "bold $ask"),) if ended and session.session_id in context.state.notices else ()
    word = mark.word
    steps = step_words(view)
    if not ended and word == "running" and steps:
        word = steps[0].partition(" of ")[0]
    if context.look.width < _WIDE:
        return (*news, (f"{word} ", mark.style), age)
    return (*news, (f"{word:<{_STATE_CELLS}} ", mark.style), age)
