"""What the History does beside listing: what was spent, and two sessions to be compared.

Not the list. Invariants: adding up is asked of the core only while its pane is seen, and never
twice at once; picking a session changes nothing of it.
"""

from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

from textual.events import Resize

from agent.protocol import SumSpending
from console.cli_support.days import begin_ms, day_of
from console.input.gate import Wait
from console.keys.controllers import Controller
from console.screens.base.keeping import keep_pictures
from console.screens.history.compare import CompareScreen
from widgets.plots.spending_pane import DAYS, SpendingPane

if TYPE_CHECKING:
    from console.screens.history.context import BaseHistory

_READ_EVERY_S = 30.0


class SumsController(Controller):
    """What was spent, what is kept, and which session is picked.

    Args:
        screen: the History.
    """

    def __init__(self, screen: "BaseHistory") -> None:
        self._screen = screen
        self._read_s = 0.0
        """When the sums were asked for, by a clock that only goes forward; 0 before."""
        self._is_adding = False

    def can(self, action_id: str) -> bool:
        match action_id:
            case "history.measure":
                return self.is_shown
            case "history.compare":
                return bool(self._screen.console_app.navigation.picked)
            case _:
                return True

    def back(self) -> bool:
        if self.is_shown:
            self.do_history_sums()
            return True
        return False

    @property
    def sums(self) -> SpendingPane:
        return self._screen.query_one(SpendingPane)

    @property
    def chosen(self) -> str:
        """The session under the cursor; empty where there is none."""
        return self._screen.table.cursor_key.partition("/")[0]

    # --- what was spent ----------

    @property
    def is_shown(self) -> bool:
        """Whether what was spent is seen."""
        return self._screen.has_class("-sums")

    def show(self) -> None:
        """Ask for the sums if they are seen and not fresh."""
        is_fresh = self._read_s and monotonic() - self._read_s < _READ_EVERY_S
        if self.is_shown and not self._is_adding and not is_fresh:
            self._is_adding = True
            self._screen.console_app.spawn(self._add_up(), "adding up what was spent", Wait.NOT)

    async def _add_up(self) -> None:
        # Noted before it is asked: what fails is said once in a while, not once a second.
        self._read_s = monotonic()
        try:
            today = day_of(self._screen.console_app.now_ms())
            since_ms = begin_ms(today - timedelta(days=DAYS - 1))
            spending = await self._screen.console_app.core.look_up(SumSpending(since_ms=since_ms))
        finally:
            self._is_adding = False
        if self._screen.is_running and self._screen.is_attached:
            self.sums.show_spending(spending, today)

    def do_history_sums(self) -> None:
        """Show what was spent, or the list alone."""
        self._screen.set_class(not self.is_shown, "-sums")
        self._focus_what_is_seen()
        self._screen.refresh_all()

    def _focus_what_is_seen(self) -> None:
        """Focus the list, or the sums where they have taken its place."""
        is_alone = self.is_shown and not self._screen.has_class("-wide")
        self._screen.focus_now(self.sums if is_alone else self._screen.table)

    def on_resize(self, event: Resize) -> None:
        if self._screen.is_composed and self.is_shown:
            # The screen's size classes are set after this.
            self._screen.call_after_refresh(self._focus_what_is_seen)

    def do_history_measure(self) -> None:
        """Let the bars measure tokens, money or sessions."""
        self.sums.measure_next()

    # --- keeping ----------

    def do_history_keep(self) -> None:
        """Keep the pictures of the session under the cursor for ever, or no longer."""
        session = self._screen.stored.session_of(self.chosen)
        root = self._screen.stored.session_of(session.parent_id) if session is not None else None
        if (found := root or session) is not None:
            keep_pictures(self._screen.console_app, found)

    # --- two sessions ----------

    def do_history_pick(self) -> None:
        """Pick the session under the cursor, to compare another with it; again takes it back."""
        app = self._screen.console_app
        if self.chosen:
            app.navigation.picked = "" if app.navigation.picked == self.chosen else self.chosen
            self._screen.refresh_all()

    def do_history_compare(self) -> None:
        """Lay the session under the cursor beside the picked one."""
        app = self._screen.console_app
        if not app.navigation.picked:
            app.say(f"Pick a session first: {self._screen.key_of('history.pick')} on it.")
        elif not self.chosen or self.chosen == app.navigation.picked:
            app.say("Choose a session other than the picked one.")
        else:
            app.push_screen(CompareScreen(app.navigation.picked, self.chosen))
