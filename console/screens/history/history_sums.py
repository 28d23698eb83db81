"""What the History does beside listing: what was spent, and two sessions to be compared.

Not the list. Invariants: adding up is asked of the core only while its pane is seen, and never
twice at once; picking a session changes nothing of it.
"""

from __future__ import annotations

from abc import abstractmethod
from datetime import timedelta
from time import monotonic

from textual.events import Resize

from agent.protocol import SumSpending
from agent.records import Session
from console.cli_support.days import begin_ms, day_of
from console.input.gate import Wait
from console.screens.base import ConsoleScreen
from console.screens.history.compare import CompareScreen
from console.storage.keeping import keep_pictures
from widgets.base.row_list import RowList
from widgets.plots.spending_pane import DAYS, SpendingPane

_READ_EVERY_S = 30.0


class HistorySums(ConsoleScreen):
    """The History's acts beside the list's."""

    _read_s = 0.0
    """When the sums were asked for, by a clock that only goes forward; 0 before."""
    _is_adding = False

    @property
    @abstractmethod
    def table(self) -> RowList: ...

    @abstractmethod
    def session_of(self, session_id: str) -> Session | None: ...

    @property
    def sums(self) -> SpendingPane:
        """The pane of what was spent."""
        return self.query_one(SpendingPane)

    @property
    def chosen(self) -> str:
        """The session under the cursor; empty where there is none."""
        return self.table.cursor_key.partition("/")[0]

    # --- what was spent ----------

    @property
    def shows_sums(self) -> bool:
        """Whether what was spent is seen."""
        return self.has_class("-sums")

    def show_sums(self) -> None:
        """Ask for the sums if they are seen and not fresh."""
        is_fresh = self._read_s and monotonic() - self._read_s < _READ_EVERY_S
        if self.shows_sums and not self._is_adding and not is_fresh:
            self._is_adding = True
            self.console_app.spawn(self._add_up(), "adding up what was spent", Wait.NOT)

    async def _add_up(self) -> None:
        # Noted before it is asked: what fails is said once in a while, not once a second.
        self._read_s = monotonic()
        try:
            today = day_of(self.console_app.now_ms())
            since_ms = begin_ms(today - timedelta(days=DAYS - 1))
            spending = await self.console_app.core.look_up(SumSpending(since_ms=since_ms))
        finally:
            self._is_adding = False
        if self.is_running and self.is_attached:
            self.sums.show_spending(spending, today)

    def do_history_sums(self) -> None:
        """Show what was spent, or the list alone."""
        self.set_class(not self.shows_sums, "-sums")
        self._focus_what_is_seen()
        self.refresh_all()

    def _focus_what_is_seen(self) -> None:
        """Focus the list, or the sums where they have taken its place."""
        is_alone = self.shows_sums and not self.has_class("-wide")
        self.focus_now(self.sums if is_alone else self.table)

    def on_resize(self, event: Resize) -> None:
        if self.is_composed and self.shows_sums:
            # The screen's size classes are set after this.
            self.call_after_refresh(self._focus_what_is_seen)

    def do_history_measure(self) -> None:
        """Let the bars measure tokens, money or sessions."""
        self.sums.measure_next()

    # --- keeping ----------

    def do_history_keep(self) -> None:
        """Keep the pictures of the session under the cursor for ever, or no longer."""
        session = self.session_of(self.chosen)
        root = self.session_of(session.parent_id) if session is not None else None
        if (found := root or session) is not None:
            keep_pictures(self.console_app, found)

    # --- two sessions ----------

    def do_history_pick(self) -> None:
        """Pick the session under the cursor, to compare another with it; again takes it back."""
        app = self.console_app
        if self.chosen:
            app.picked = "" if app.picked == self.chosen else self.chosen
            self.refresh_all()

    def do_history_compare(self) -> None:
        """Lay the session under the cursor beside the picked one."""
        app = self.console_app
        if not app.picked:
            app.say(f"Pick a session first: {self.key_of('history.pick')} on it.")
        elif not self.chosen or self.chosen == app.picked:
            app.say("Choose another session than the picked one.")
        else:
            app.push_screen(CompareScreen(app.picked, self.chosen))
