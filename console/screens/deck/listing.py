"""Control the Deck's list of sessions: rows, filter, folding, cursor.

Invariant: the selection follows a session by id, however rows move.
"""

from collections.abc import Mapping
from operator import is_
from typing import TYPE_CHECKING

from textual.events import Key
from textual.widgets import Input

from agent.records import Session
from agent.state.memoize import memoize_last
from agent.state.reducer import SessionView, State, children_of
from console.keys.controllers import Controller
from console.screens.deck.arranging import ArrangeController
from console.screens.deck.marking import MarkController
from widgets.attention.alike import Alike
from widgets.base.row_list import RowList
from widgets.lists.kept_listing import Arrangement, KeptListing, Listing
from widgets.lists.marking_list import MarkingList
from widgets.lists.session_list import Look, SessionRows, listed_sessions
from widgets.lists.session_order import Group

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck


class SessionListController(Controller):
    """The list.

    Args:
        deck: whose list it is.
        marking: which sessions are marked.
        arranging: the order of the list.
    """

    def __init__(
        self, deck: "BaseDeck", marking: MarkController, arranging: ArrangeController
    ) -> None:
        self._deck = deck
        self._marking = marking
        self._arranging = arranging
        self._folded: set[str] = set()
        self._rows = SessionRows()
        self._kept = KeptListing()
        self._made_of: tuple[object, ...] = ()
        self._made_at: tuple[Look, int] | None = None
        self.wanted = ""
        """The words of the filter."""

    @property
    def _filter(self) -> Input:
        return self._deck.query_one("#filter", Input)

    # --- showing ----------

    def show(self, state: State, now_ms: int) -> None:
        """Show the sessions, filtered, folded, sorted and marked."""
        deck, marks = self._deck, self._marking.marks
        self._show_rows(state, now_ms)
        view = state.sessions.get(deck.selected)
        if view is not None and view.session.dismissed and deck.selected not in deck.listed_ids():
            # It went from the list: what stands in its place is looked at.
            deck.select(deck.sessions.cursor_key)
        deck.sessions.move_to(deck.selected)
        live, count = _counts(state.sessions)
        said = [f"Sessions {count or ''}".rstrip()]
        said += [f"{live} open"] if live else []
        said += [f"{len(marks.ids)} marked"] if marks.ids else []
        said += [self._arranging.indicator] if self._arranging.indicator else []
        title = " · ".join(said)
        if deck.sessions.border_title != title:
            deck.sessions.border_title = title

    def _show_rows(self, state: State, now_ms: int) -> None:
        """Rebuild the rows, unless their data and the current second are unchanged."""
        marks, look = self._marking.marks, self._look()
        made_of = (state.sessions, state.questions, state.devices, state.notices)
        made_at = look._replace(marked=marks.ids), now_ms // 1000
        if made_at == self._made_at and all(map(is_, made_of, self._made_of)):
            return
        listing = self._listing(state, look, now_ms)
        if marks.ids:
            marks.keep(e.view.session.session_id for e in listing.entries if e.view is not None)
        look = look._replace(marked=marks.ids)
        asking = {q.session_id for q in state.questions.values()}
        rows = self._rows.show(listing, state, look, now_ms=now_ms, asking=asking)
        self._deck.sessions.show_rows(rows)
        self._made_of, self._made_at = made_of, (look, made_at[1])

    def _listing(self, state: State, look: Look, now_ms: int) -> Listing:
        """Return what is listed; all is listed again only where an entry may have moved."""
        second = now_ms // 1000 if look.group is Group.AGE else 0
        arrangement = Arrangement(look.sort, look.group, look.folded, look.wanted, second)
        known = self._kept.after(state, arrangement)
        if known is not None:
            return known
        return self._kept.keep(state, arrangement, listed_sessions(state, look, now_ms=now_ms))

    def _look(self) -> Look:
        sessions = self._deck.sessions
        return Look(
            sort=self._arranging.sort,
            group=self._arranging.group,
            folded=frozenset(self._folded),
            wanted=self.wanted,
            width=sessions.text_width if sessions.size.width else 0,
            height=sessions.size.height,
            hosts=self._deck.console_app.bridge.hosts_by_name,
        )

    # --- the filter ----------

    def do_view_filter(self) -> None:
        self._filter.add_class("-shown")
        self._deck.panes.go_to("left", self._filter)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self.wanted = event.value
            self._deck.refresh_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id != "filter":
            return
        listed = self._deck.listed_ids()
        if listed and self._deck.selected not in listed:
            # The cursor stands on one that fits: keys are for that one.
            self._deck.select(self._deck.sessions.cursor_key)
            self._deck.refresh_all()
        self._deck.panes.go_to("left", self._deck.sessions)

    def back(self) -> bool:
        if self._deck.focused is not self._filter and not self.wanted:
            return False
        self._filter.value = ""
        self._filter.remove_class("-shown")
        self._deck.panes.go_to("left", self._deck.sessions)
        return True

    # --- marking and folding ----------

    def on_key(self, event: Key) -> None:
        if self._deck.focused is not self._deck.sessions:
            return
        match event.key:
            case "space":
                self._marking.do_view_mark()
            case "left" | "right":
                self._fold(folds=event.key == "left")

    def _fold(self, *, folds: bool) -> None:
        deck, state = self._deck, self._deck.console_app.bridge.state
        view = deck.view()
        if folds and view is not None and not _has_subtasks(state, view.session):
            # From a subtask the key goes to what it is part of, as in any tree.
            if view.session.parent_id in state.sessions:
                deck.select(view.session.parent_id)
        elif folds:
            self._folded |= {deck.sessions.cursor_key}
        else:
            self._folded -= {deck.sessions.cursor_key}
        deck.refresh_all()

    def on_marking_list_marked(self, event: MarkingList.Marked) -> None:
        if event.since:
            self._marking.span_to(event.key, event.since)
        else:
            self._marking.toggle(event.key)

    # --- the cursor, here and in the queue ----------

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        deck = self._deck
        if event.rows is deck.sessions and event.by_operator:
            deck.select(event.key)
        elif event.rows is deck.attention and event.by_operator:
            one, group = deck.attention.under_cursor, deck.attention.group_under_cursor
            if group is not None and group.session_ids:
                deck.select(group.session_ids[0])
            elif one is not None and one.session_id:
                deck.select(one.session_id)
        else:
            return
        deck.refresh_all()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        group = self._deck.attention.group_under_cursor
        if event.rows is self._deck.attention and group is not None:
            self._open_group(group)
        elif event.rows is self._deck.attention:
            self._deck.answering.open_waiting()
        else:
            self._deck.targets.tap()

    def _open_group(self, group: Alike) -> None:
        """Mark the sessions of a group, so that one act is for all of them; phones are on the
        Wall.
        """
        if not group.session_ids:
            self._deck.console_app.navigation.do_screen_wall()
            return
        self._marking.mark(group.session_ids)
        self._deck.panes.go_to("left", self._deck.sessions)


@memoize_last
def _counts(sessions: Mapping[str, SessionView]) -> tuple[int, int]:
    """Return how many sessions have not ended, and how many are not dismissed."""
    live = sum(not view.session.state.is_terminal for view in sessions.values())
    return live, sum(not view.session.dismissed for view in sessions.values())


def _has_subtasks(state: State, session: Session) -> bool:
    return session.session_id in children_of(state.sessions)
