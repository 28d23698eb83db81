"""The history: every stored session, full-text search over what they said and did, what was spent.

Reads the core page by page and sends no op. Invariants: what is listed is what the store gave for
the newest wish, never for an older one that came late; enter plays what the cursor is on.
"""

from functools import cached_property
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.state.reducer import State
from console.input.gate import Wait
from console.keys import actions
from console.screens.base.host_grouping import HostGrouping
from console.screens.history.context import BaseHistory
from console.screens.history.filter_picker import FilterPicker
from console.screens.history.history_sums import SumsController
from console.screens.history.replay import ReplayScreen
from console.screens.history.saved_filters import SavedFilters
from console.screens.history.searching import SearchController
from console.screens.history.stored_sessions import MOST_HITS, StoredSessions
from widgets.base.formatting import quoted
from widgets.base.header_line import PartsLine
from widgets.base.hint_input import HintInput
from widgets.base.row_list import RowList
from widgets.base.rows import Parts, Row
from widgets.lists.groups import by_host
from widgets.lists.history_rows import StoredRows, column_titles, hit_rows
from widgets.lists.session_rows import delegating
from widgets.pictures.phone_pane import spread
from widgets.plots.spending_pane import SpendingPane

_NOTHING = "Nothing is stored yet. Press 1, then n, to start a session."
_NO_FIT = "Nothing matches what is written above. esc clears it."
_READING = "Reading …"
_HINT = 'words, "exact phrase", prefix*, -exclude, is:failed, on:yesterday, since:7d, phone:…'


class HistoryScreen(BaseHistory):
    """All sessions, and what is found in them."""

    WHERE = actions.Where.HISTORY
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.HISTORY)]
    AUTO_FOCUS = "#history"
    CONTROLLERS = (SumsController, HostGrouping, SearchController)

    def __init__(self) -> None:
        super().__init__()
        self.stored = StoredSessions(self.console_app, self._refresh)
        self.spending = SumsController(self)
        self._rows = StoredRows()
        self.grouping = HostGrouping(self)
        self.searching = SearchController(self)
        self.controllers = (self.spending, self.grouping, self.searching)

    def compose_body(self) -> ComposeResult:
        with Vertical(id="history-table"):
            yield HintInput(id="search", hint=_HINT, compact=True)
            yield PartsLine(id="history-heading")
            yield PartsLine(id="history-columns")
            yield RowList(id="history", empty=_READING)
        with Vertical(id="history-sums"):
            yield PartsLine((("Spending", "bold $foreground"),), id="sums-heading")
            yield SpendingPane(id="sums")

    def on_mount(self) -> None:
        self.stored.read_page()
        usage = self.console_app.usage
        if usage is not None:
            self.console_app.spawn(usage.look(), "reading the size of the pictures", Wait.NOT)

    @cached_property
    def _saved(self) -> SavedFilters:
        return SavedFilters(self.console_app.data_dir)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms, stored = self.console_app.now_ms(), self.stored
        asking = {question.session_id for question in state.questions.values()}
        if stored.filter.words:
            hits = [hit for hit in stored.hits if stored.holds(stored.session_of(hit.session_id))]
            rows = hit_rows(
                hits,
                stored.session_of,
                now_ms=now_ms,
                asking=asking,
                unfolded=self.searching.unfolded,
            )
            count = len(hits)
            sessions = len({hit.session_id for hit in hits})
            places = f"{count} match{'' if count == 1 else 'es'}"
            told = f"{places} in {sessions} session{'' if sessions == 1 else 's'}"
            told += ", the newest" if len(stored.hits) == MOST_HITS else ""
            told = _READING if stored.is_reading and not hits else told
        else:
            fresh = [one for one in stored.newest() if stored.holds(one)]
            rows = self._rows.show(
                fresh,
                state.devices,
                now_ms=now_ms,
                width=self.table.text_width,
                asking=asking,
                delegating=delegating(state),
                picked=self.console_app.navigation.picked,
            )
            told = f"{len(rows)} session{'' if len(rows) == 1 else 's'}"
            told += "" if stored.has_all else ", more below"
            told = _READING if stored.is_reading else told
        unfit = _NO_FIT if self.searching.wanted else _NOTHING
        self.table.say_when_empty(_READING if stored.is_reading else unfit)
        self.table.show_rows(self._grouped(rows) if self.grouping.is_on else rows)
        self.spending.show()
        tone = "$warn" if stored.said else "$muted"
        titles = () if stored.filter.words else column_titles(self.table.text_width)
        columns = self.query_one("#history-columns", PartsLine)
        columns.display = bool(titles)
        columns.show(spread((), (*titles, (" ", "")), max(1, columns.size.width)))
        heading = self.query_one("#history-heading", PartsLine)
        usage = self.console_app.usage
        newest = usage.newest if usage is not None else None
        style = "$warn" if newest is not None and newest.is_nearly_full else "$faint"
        right: Parts = ((f"{newest.words} ", style),) if newest is not None else ()
        left: Parts = ((f" {stored.said or told}", tone),)
        heading.show(spread(left, right, max(1, heading.size.width)))

    def _grouped(self, rows: list[Row]) -> list[Row]:
        """Group rows by the host of their session; a count with a plus is of what was read."""
        stored = self.stored
        more = "" if stored.has_all or stored.filter.words else "+"
        hosts = self.console_app.bridge.hosts_by_name
        return by_host(((stored.host_of(row.key), row) for row in rows), hosts, more=more)

    def _refresh(self) -> None:
        if self.is_running and self.is_attached:
            self.refresh_all()

    # --- keys ----------

    def do_history_search(self) -> None:
        self.focus_now(self.query_one("#search", Input))

    def do_history_filters(self) -> None:
        """Choose a filter."""

        def apply(text: str | None) -> None:
            if text:
                self.query_one("#search", Input).value = text
                self.focus_now(self.table)

        self.console_app.push_screen(FilterPicker(self._saved.texts), apply)

    def do_history_save(self) -> None:
        """Save the filter, or forget it."""
        is_saved = self._saved.toggle(self.searching.wanted)
        key = self.key_of("history.filters")
        self.console_app.say(
            f"Saved: {key} offers {quoted(self.searching.wanted, 60)}."
            if is_saved
            else f"{quoted(self.searching.wanted, 60)} is no longer saved."
        )

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        rows, stored = self.table.rows, self.stored
        if not stored.filter.words and rows and event.key == rows[-1].key:
            stored.read_page()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        session_id, _, seq = event.key.partition("/")
        self.console_app.push_screen(ReplayScreen(session_id, at_seq=int(seq or 0)))

    def can(self, action_id: str) -> bool:
        if action_id == "history.save":
            return bool(self.searching.wanted)
        return action_id != "screen.history" and super().can(action_id)

    def footer_keys(self) -> list[tuple[str, str]]:
        keys = super().footer_keys()
        if self.focused is self.table and self.table.rows:
            folds = [("←→", "fold")] if self.stored.filter.words else []
            return [("enter", "replay"), *folds, *keys]
        return keys

    def back(self) -> bool:
        field = self.query_one("#search", Input)
        if self.focused is field or field.value:
            field.value = ""
            self.focus_now(self.table)
            return True
        return self.spending.back()
