"""Go from screen to screen: the Deck lies under all others, and one of them lies on it.

Other screens than the Deck are imported only to be shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.state.reducer import Attention, AttentionKind
from console.input.gate import Wait
from console.keys.controllers import Controller
from console.keys.unavailable import STILL_OPENING, WHY_NOT
from console.screens.base.console_screen import ConsoleScreen
from console.screens.deck.deck import DeckScreen

if TYPE_CHECKING:
    from console.base_app import ConsoleApp
    from console.screens.history.history import HistoryScreen
    from console.screens.jobs.jobs import JobsScreen
    from console.screens.settings import SettingsScreen
    from console.screens.wall import WallScreen


class Navigation(Controller):
    """The ways between the screens.

    Args:
        app: the console.
    """

    def __init__(self, app: ConsoleApp) -> None:
        self._app = app
        self.picked = ""
        """The session that another is to be compared with."""

    # --- keys ----------

    def do_screen_deck(self) -> None:
        while len(self._app.screen_stack) > 2:
            self._app.pop_screen()

    def do_screen_wall(self) -> None:
        from console.screens.wall import WallScreen

        self._show(WallScreen)

    def do_screen_jobs(self) -> None:
        from console.screens.jobs.jobs import JobsScreen

        self._show(JobsScreen)

    def do_screen_history(self) -> None:
        """Show all stored sessions."""
        from console.screens.history.history import HistoryScreen

        self._show(HistoryScreen)

    def do_screen_settings(self) -> None:
        from console.screens.settings import SettingsScreen

        self._show(SettingsScreen)

    def do_view_back(self) -> None:
        """Go one layer back."""
        top = self._app.top
        if top is None or top.back():
            return
        if len(self._app.screen_stack) > 2:
            self._app.pop_screen()

    def do_question_next(self) -> None:
        """Go to the oldest question from a screen that shows none; a dialog is left standing."""
        app = self._app
        if not app.bridge.state.questions:
            app.say(STILL_OPENING if app.bridge.is_opening else WHY_NOT["question.next"])
            if app.bridge.is_opening:
                later = app.dispatcher.once_open("question.next")
                app.spawn(later, "going to a question", Wait.OPENS)
        elif isinstance(app.screen, ConsoleScreen):
            self.do_screen_deck()
            if isinstance(app.screen, DeckScreen):
                app.screen.answering.do_question_next()
            else:
                app.say("Only a replay is open here: open the console to answer.")

    # --- for other parts of the console ----------

    def show_session(self, session_id: str) -> None:
        """Show a session on the Deck; one that is only just coming is waited for."""
        self.do_screen_deck()
        top = self._app.top
        if isinstance(top, DeckScreen):
            top.places.look_at_new(session_id)
            top.refresh_all()
            if top.has_class("-narrow"):
                # Where one pane is shown, a row in the list is not the session.
                top.places.go_to_transcript()

    def show_device(self, serial: str) -> None:
        """Show one phone large."""
        from console.screens.device.device import DeviceScreen

        self._app.push_screen(DeviceScreen(serial))

    def show_reminder(self, one: Attention) -> None:
        """Show a due commitment, a watcher's match or a job's result where it is dealt with."""
        from console.screens.jobs.jobs import JobsScreen
        from console.screens.jobs.jobs_lists import Tab

        self.do_screen_deck()
        tabs = {AttentionKind.COMMITMENT: Tab.COMMITMENTS, AttentionKind.WATCHER: Tab.WATCHERS}
        tab = tabs.get(one.kind, Tab.JOBS)
        self._app.push_screen(JobsScreen(tab, one.number))

    def choose_another(self, session_id: str) -> None:
        """Pick a session, and show the history to choose what it is compared with."""
        self.picked = session_id
        self.do_screen_deck()
        self.do_screen_history()
        key = self._app.keys.name("history.compare")
        self._app.say(f"Picked. Choose the other session; {key} compares them.")

    def _show(self, screen: type[WallScreen | JobsScreen | HistoryScreen | SettingsScreen]) -> None:
        if not isinstance(self._app.top, screen):
            self.do_screen_deck()
            self._app.push_screen(screen())
