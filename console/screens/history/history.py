"""The history: every stored session, full-text search over what they said and did, what was spent.

Reads the core page by page and sends no op. Invariants: what is listed is what the store gave for
the newest wish, never for an older one that came late; enter plays what the cursor is on.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.errors import UsageError
from agent.protocol import SearchEvents
from agent.records import SearchHit, Session
from agent.state.reducer import State
from agent.text import one_line
from console.input.gate import Wait
from console.keys import actions
from console.screens.history.filter_picker import FilterPicker
from console.screens.history.filters import Filter, parse_filter
from console.screens.history.history_sums import HistorySums
from console.screens.history.replay import ReplayScreen
from console.screens.history.saved import SavedFilters
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import Parts
from widgets.base.row_list import RowList
from widgets.lists.history_rows import column_titles, hit_rows, stored_rows
from widgets.lists.session_rows import delegating, device_name
from widgets.pictures.phone_pane import spread
from widgets.plots.spending_pane import SpendingPane

PAGE = 200
_NOTHING = "Nothing is stored yet. Press 1, then n, to start a session."
_NO_FIT = "Nothing matches what is written above. esc clears it."
_READING = "Reading …"
MOST_HITS = 100
MOST_FILTERED = 5_000
"""So many sessions are read by themselves to filter them."""
_HINT = (
    'words, "two words" together, wor* begins, -word not; is:failed on:yesterday since:7d phone:…'
)


class HistoryScreen(HistorySums):
    """All sessions, and what is found in them."""

    WHERE = actions.Where.HISTORY
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.HISTORY)]
    AUTO_FOCUS = "#history"

    def __init__(self) -> None:
        super().__init__()
        self.wanted = ""
        self._filter = Filter("")
        self._listed: list[Session] = []
        self._is_read = False
        self._has_all = False
        self._hits: tuple[SearchHit, ...] = ()
        self._known: dict[str, Session] = {}
        self._said = ""
        self._is_searching = False
        self._is_paging = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="history-table"):
            yield Input(id="search", placeholder=_HINT, compact=True)
            yield PartsLine(id="history-heading")
            yield PartsLine(id="history-columns")
            yield RowList(id="history", empty=_READING)
        with Vertical(id="history-sums"):
            yield PartsLine((("What was spent", "bold $foreground"),), id="sums-heading")
            yield SpendingPane(id="sums")

    def on_mount(self) -> None:
        self._read_page()
        usage = self.console_app.usage
        if usage is not None:
            self.console_app.spawn(usage.look(), "reading the size of the pictures", Wait.NOT)

    @cached_property
    def _saved(self) -> SavedFilters:
        return SavedFilters(self.console_app.data_dir)

    @property
    def table(self) -> RowList:
        """What is listed."""
        return self.query_one("#history", RowList)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms = self.console_app.now_ms()
        asking = {question.session_id for question in state.questions.values()}
        if self._filter.words:
            hits = [hit for hit in self._hits if self._holds(self.session_of(hit.session_id))]
            rows = hit_rows(hits, self.session_of, now_ms=now_ms, asking=asking)
            count = len(hits)
            sessions = len({hit.session_id for hit in hits})
            places = f"{count} match{'' if count == 1 else 'es'}"
            told = f"{places} in {sessions} session{'' if sessions == 1 else 's'}"
            told += ", the newest" if len(self._hits) == MOST_HITS else ""
        else:
            listed = (self.session_of(one.session_id) or one for one in self._listed)
            fresh = [one for one in listed if self._holds(one)]
            rows = stored_rows(
                fresh,
                state.devices,
                now_ms=now_ms,
                width=self.table.text_width,
                asking=asking,
                delegating=delegating(state),
                picked=self.console_app.picked,
            )
            told = f"{len(rows)} session{'' if len(rows) == 1 else 's'}"
            told += "" if self._has_all else ", more below"
            if not self._is_read:
                told = _READING
            elif self._filter.facts:
                told = f"{len(rows)} of {len(self._listed)}{'' if self._has_all else ' read'}"
                if not self._has_all and len(self._listed) < MOST_FILTERED:
                    self._read_page()
        unfit = _NO_FIT if self.wanted else _NOTHING
        is_read = self._is_read and not self._is_searching
        self.table.say_when_empty(unfit if is_read else _READING)
        self.table.show_rows(rows)
        self.show_sums()
        tone = "$warn" if self._said else "$muted"
        titles = () if self._filter.words else column_titles(self.table.text_width)
        columns = self.query_one("#history-columns", PartsLine)
        columns.display = bool(titles)
        columns.show(spread((), (*titles, (" ", "")), max(1, columns.size.width)))
        heading = self.query_one("#history-heading", PartsLine)
        usage = self.console_app.usage
        newest = usage.newest if usage is not None else None
        style = "$warn" if newest is not None and newest.is_nearly_full else "$faint"
        right: Parts = ((f"{newest.words} ", style),) if newest is not None else ()
        left: Parts = ((f" {self._said or told}", tone),)
        heading.show(spread(left, right, max(1, heading.size.width)))

    def session_of(self, session_id: str) -> Session | None:
        view = self.console_app.bridge.state.sessions.get(session_id)
        if view is not None:
            return view.session
        listed = (one for one in self._listed if one.session_id == session_id)
        return self._known.get(session_id) or next(listed, None)

    def _holds(self, session: Session | None) -> bool:
        """Return whether a session has the facts of the filter."""
        if session is None or not self._filter.facts:
            return True
        app = self.console_app
        name = device_name(session.serial, app.bridge.state.devices)
        return self._filter.holds(session, name, app.now_ms())

    # --- reading ----------

    def _read_page(self) -> None:
        if not self._has_all and not self._is_paging:
            self._is_paging = True
            self.console_app.spawn(self._page(), "reading older sessions")

    async def _page(self) -> None:
        try:
            before = self._listed[-1].session_id if self._listed else ""
            page = await self.console_app.core.sessions(limit=PAGE, before=before)
        finally:
            self._is_paging = False
        self._listed += page
        self._is_read = True
        self._has_all = len(page) < PAGE
        self._show()

    async def _search(self) -> None:
        """Search for the newest wish until there is no newer one."""
        self._is_searching = True
        try:
            searched = ""
            while self._filter.words and self._filter.words != searched:
                searched = self._filter.words
                await self._search_for(searched)
        finally:
            self._is_searching = False
        self._show()

    async def _search_for(self, wanted: str) -> None:
        core = self.console_app.core
        try:
            hits = await core.look_up(SearchEvents(query=_typed(wanted), limit=MOST_HITS))
        except UsageError as error:
            # Half a query is no mistake yet: what was found before stays.
            self._said = error.message
            return
        for session_id in {hit.session_id for hit in hits}:
            if self.session_of(session_id) is None:
                self._known[session_id] = await core.session(session_id)
        self._hits, self._said = hits, ""

    def _show(self) -> None:
        if self.is_running and self.is_attached:
            self.refresh_all()

    # --- keys ----------

    def do_history_search(self) -> None:
        """Go to the search."""
        self.focus_now(self.query_one("#search", Input))

    def on_input_changed(self, event: Input.Changed) -> None:
        self.wanted, self._said = event.value.strip(), ""
        try:
            self._filter = parse_filter(self.wanted)
        except UsageError as error:
            # Half a filter is no mistake yet: what was shown before stays.
            self._said = str(error)
            self.refresh_all()
            return
        if self._filter.words and not self._is_searching:
            self.console_app.spawn(self._search(), "searching")
        elif not self._filter.words:
            self._hits = ()
        self.refresh_all()

    def do_history_filters(self) -> None:
        """Choose a filter."""
        self.console_app.push_screen(FilterPicker(self._saved.texts), self._apply)

    def _apply(self, text: str | None) -> None:
        if text:
            self.query_one("#search", Input).value = text
            self.focus_now(self.table)

    def do_history_save(self) -> None:
        """Save the filter, or forget it."""
        is_saved = self._saved.toggle(self.wanted)
        key = self.key_of("history.filters")
        self.console_app.say(
            f"Saved: {key} offers “{one_line(self.wanted, 60)}”."
            if is_saved
            else f"“{one_line(self.wanted, 60)}” is no longer saved."
        )

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self.focus_now(self.table)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        rows = self.table.rows
        if not self._filter.words and rows and event.key == rows[-1].key:
            self._read_page()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        session_id, _, seq = event.key.partition("/")
        self.console_app.push_screen(ReplayScreen(session_id, at_seq=int(seq or 0)))

    def can(self, action_id: str) -> bool:
        if action_id == "history.measure":
            return self.shows_sums
        if action_id == "history.save":
            return bool(self.wanted)
        if action_id == "history.compare":
            return bool(self.console_app.picked)
        return action_id != "screen.history"

    def footer_keys(self) -> list[tuple[str, str]]:
        keys = super().footer_keys()
        if self.focused is self.table and self.table.rows:
            return [("enter", "replay"), *keys]
        return keys

    def back(self) -> bool:
        field = self.query_one("#search", Input)
        if self.focused is field or field.value:
            field.value = ""
            self.focus_now(self.table)
            return True
        if self.shows_sums:
            self.do_history_sums()
            return True
        return False


def _typed(wanted: str) -> str:
    """Take the word that is being typed for the beginning of one."""
    is_open = wanted.count('"') % 2 or not wanted[-1].isalnum()
    return wanted if is_open else f"{wanted}*"
