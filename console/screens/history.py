"""The history: every stored session, full-text search over what they said and did, what was spent.

Reads the core page by page and sends no op. Invariants: what is listed is what the store gave for
the newest wish, never for an older one that came late; enter plays what the cursor is on.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.errors import UsageError
from agent.records import SearchHit, Session
from agent.state import State
from console import actions
from console.screens.history_sums import HistorySums
from console.screens.replay import ReplayScreen
from widgets.history_rows import hit_rows, stored_rows
from widgets.lines import PartsLine
from widgets.row_list import RowList
from widgets.session_rows import delegating
from widgets.spending_pane import SpendingPane

PAGE = 200
_NOTHING = "Nothing is stored yet. Press 1, then n, to begin a session."
_READING = "Reading …"
MOST_HITS = 100
_HINT = 'words, "two words" together, wor* begins, -word not'


class HistoryScreen(HistorySums):
    """All sessions, and what is found in them."""

    WHERE = actions.Where.HISTORY
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.HISTORY)]
    AUTO_FOCUS = "#history"

    def __init__(self) -> None:
        super().__init__()
        self.wanted = ""
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
            yield RowList(id="history", empty=_READING)
        with Vertical(id="history-sums"):
            yield PartsLine((("What was spent", "bold $foreground"),), id="sums-heading")
            yield SpendingPane(id="sums")

    def on_mount(self) -> None:
        self._read_page()

    @property
    def table(self) -> RowList:
        """What is listed."""
        return self.query_one("#history", RowList)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms = self.console_app.now_ms()
        if self.wanted:
            rows = hit_rows(self._hits, self._session, now_ms=now_ms)
            count = len(self._hits)
            told = f"{count} found" + (", the newest" if count == MOST_HITS else "")
        else:
            fresh = (self._session(one.session_id) or one for one in self._listed)
            rows = stored_rows(
                fresh,
                state.devices,
                now_ms=now_ms,
                asking={question.session_id for question in state.questions.values()},
                delegating=delegating(state),
                picked=self.console_app.picked,
            )
            told = f"{len(rows)} session{'' if len(rows) == 1 else 's'}"
            told += "" if self._has_all else ", more below"
            if not self._is_read:
                told = _READING
        self.table.say_when_empty(_NOTHING if self._is_read else _READING)
        self.table.show_rows(rows)
        self.show_sums()
        tone = "$warn" if self._said else "$muted"
        self.query_one("#history-heading", PartsLine).show(((f" {self._said or told}", tone),))

    def _session(self, session_id: str) -> Session | None:
        view = self.console_app.bridge.state.sessions.get(session_id)
        return view.session if view is not None else self._known.get(session_id)

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
            while self.wanted and self.wanted != searched:
                searched = self.wanted
                await self._search_for(searched)
        finally:
            self._is_searching = False
        self._show()

    async def _search_for(self, wanted: str) -> None:
        core = self.console_app.core
        try:
            hits = await core.search(_typed(wanted), limit=MOST_HITS)
        except UsageError as error:
            # Half a query is no mistake yet: what was found before stays.
            self._said = error.message
            return
        for session_id in {hit.session_id for hit in hits}:
            if self._session(session_id) is None:
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
        if self.wanted and not self._is_searching:
            self.console_app.spawn(self._search(), "searching")
        elif not self.wanted:
            self._hits = ()
            self.refresh_all()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self.focus_now(self.table)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        rows = self.table.rows
        if not self.wanted and rows and event.key == rows[-1].key:
            self._read_page()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        session_id, _, seq = event.key.partition("/")
        self.console_app.push_screen(ReplayScreen(session_id, at_seq=int(seq or 0)))

    def can(self, action_id: str) -> bool:
        if action_id == "history.measure":
            return self.shows_sums
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
