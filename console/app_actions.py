"""What the app does when an action of the registry is chosen: find its owner, show screens, leave.

The half of the app that keys reach; the other half listens and draws. Invariants: an action is done
by the screen that has it, else by the app; what it fails with becomes a notice; leaving says first
what keeps running; other screens than the Deck are imported only to be shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from inspect import isawaitable
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.app import App
from textual.events import Key
from textual.widgets import Input, TextArea

from agent.config import write_setting
from agent.errors import ConfigError, SwitchboardError
from agent.protocol import Interrupt
from agent.records import SessionState
from agent.state.reducer import Attention, AttentionKind
from console.input.gate import OPENS_S, Wait
from console.keys import actions
from console.keys.controllers import Controller
from console.keys.keymap import Keymap
from console.keys.unavailable import NEED_PHONES, STILL_OPENING, WHY_NOT
from console.screens.base.console_screen import ConsoleScreen
from console.screens.deck.deck import DeckScreen
from console.screens.dialogs.theme_picker import ThemePicker
from console.terminal.job_control import suspend, why_not_suspended
from console.terminal.themes import DARK, LIGHT
from widgets.pictures.phone_pane import is_driven_at

if TYPE_CHECKING:
    from agent.core import Core
    from console.app import SwitchboardApp
    from console.palette.entry import Entry
    from console.screens.history.history import HistoryScreen
    from console.screens.jobs.jobs import JobsScreen
    from console.screens.settings import SettingsScreen
    from console.screens.wall import WallScreen


class AppActions(App[int], inherit_bindings=False):
    """The app's actions."""

    _armed_by = ""
    keys = Keymap()
    """The operator's own keys."""
    picked = ""
    """The session that another is to be compared with."""

    @property
    def console_app(self) -> SwitchboardApp:
        """Itself, by its own type."""
        from console.app import SwitchboardApp

        assert isinstance(self, SwitchboardApp)
        return self

    @property
    def holds_core(self) -> bool:
        """Whether the core lives in this process: it stands still and ends with the console."""
        from agent.rpc.remote_core import Client
        from console.core.deferred_core import ComingCore

        core: Core | None = self.console_app.core
        if isinstance(core, ComingCore):
            core = core.host.core if core.host is not None else None
        return not isinstance(core, Client)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a character to the field that is open, whatever a keymap made of it."""
        wanted = str(parameters[0]) if action == "act" else ""
        typing = isinstance(self.focused, TextArea | Input) or (is_driven_at(self.focused))
        return not (typing and bool(wanted) and self.keys.types(wanted))

    async def action_act(self, action_id: str) -> None:
        """Do an action of the registry: on the screen that has it, else here."""
        action = actions.BY_ID[action_id]
        name = "do_" + action_id.replace(".", "_")
        if action_id != self._armed_by:
            self.console_app.two_acts.disarm()
        self._armed_by = action_id
        everywhere = action.where is actions.Where.EVERYWHERE
        owners: tuple[object, ...] = (self.screen, self) if everywhere else self._owners(action_id)
        for owner in owners:
            method = getattr(owner, name, None)
            if method is None:
                continue
            if why := self._why_not(owner, action_id):
                self.console_app.say(why)
                if why == STILL_OPENING:
                    app = self.console_app
                    app.spawn(self._once_open(action_id), action.title, Wait.OPENS)
                break
            try:
                result: Awaitable[None] | None = method()
                if isawaitable(result):
                    await result
            except SwitchboardError as error:
                self.console_app.say(str(error), tone="error")
            except Exception as error:
                self.console_app.report(error, f"on {action.title}")
            break
        if self.console_app.top is not None:
            self.console_app.guarded("showing the footer", self.console_app.top.show_footer)

    def _owners(self, action_id: str) -> tuple[object, ...]:
        """Return who may do an action of the screen: the controller that owns it, else itself."""
        top = self.console_app.top
        owner = top.owner_of(action_id) if top is not None else None
        return (top,) if owner is None else (owner,)

    def _why_not(self, owner: object, action_id: str) -> str:
        """Return why an action can do nothing now; empty when it can, or says so itself."""
        if not isinstance(owner, ConsoleScreen | Controller):
            return ""
        if action_id in NEED_PHONES and self.console_app.bridge.is_opening:
            return STILL_OPENING
        if owner.can(action_id):
            return ""
        sentence = WHY_NOT.get(action_id, "")
        # What is not known yet is not said to be missing.
        return STILL_OPENING if sentence and self.console_app.bridge.is_opening else sentence

    async def _once_open(self, action_id: str) -> None:
        """Do an action that nothing was known for yet, and have the keys after it wait for it.

        An opening that takes longer than those keys wait has it dropped with them.
        """
        app = self.console_app
        with suppress(TimeoutError):
            async with asyncio.timeout(OPENS_S):
                await app.bridge.opened()
            if app.top is not None:
                app.guarded("showing the sessions", app.top.refresh_all)
            await self.action_act(action_id)

    def do_session_stop_all(self) -> None:
        """Interrupt every session."""
        self.console_app.request(Interrupt(), done="Stopped every session; each can be resumed.")

    def do_screen_deck(self) -> None:
        """Show the Deck."""
        while len(self.screen_stack) > 2:
            self.pop_screen()

    def do_question_next(self) -> None:
        """Go to the oldest question from a screen that shows none; a dialog is left standing."""
        app = self.console_app
        if not app.bridge.state.questions:
            app.say(STILL_OPENING if app.bridge.is_opening else WHY_NOT["question.next"])
            if app.bridge.is_opening:
                app.spawn(self._once_open("question.next"), "going to a question", Wait.OPENS)
        elif isinstance(self.screen, ConsoleScreen):
            self.do_screen_deck()
            if isinstance(self.screen, DeckScreen):
                self.screen.answering.do_question_next()
            else:
                app.say("Only a replay is open here: open the console to answer.")

    def do_screen_wall(self) -> None:
        """Show every phone."""
        from console.screens.wall import WallScreen

        self._show(WallScreen)

    def do_screen_jobs(self) -> None:
        """Show the jobs."""
        from console.screens.jobs.jobs import JobsScreen

        self._show(JobsScreen)

    def do_screen_history(self) -> None:
        """Show all stored sessions."""
        from console.screens.history.history import HistoryScreen

        self._show(HistoryScreen)

    def choose_another(self, session_id: str) -> None:
        """Pick a session, and show the history to choose what it is compared with."""
        self.picked = session_id
        self.do_screen_deck()
        self.do_screen_history()
        key = self.keys.name("history.compare")
        self.console_app.say(f"Picked. Choose the other session; {key} compares them.")

    def show_reminder(self, one: Attention) -> None:
        """Show a due commitment, a watcher's match or a job's result where it is dealt with."""
        from console.screens.jobs.jobs import JobsScreen
        from console.screens.jobs.jobs_lists import Tab

        self.do_screen_deck()
        tabs = {AttentionKind.COMMITMENT: Tab.COMMITMENTS, AttentionKind.WATCHER: Tab.WATCHERS}
        tab = tabs.get(one.kind, Tab.JOBS)
        self.push_screen(JobsScreen(tab, one.number))

    def do_screen_settings(self) -> None:
        """Show the settings."""
        from console.screens.settings import SettingsScreen

        self._show(SettingsScreen)

    def show_session(self, session_id: str) -> None:
        """Show a session on the Deck; one that is only just coming is waited for."""
        self.do_screen_deck()
        top = self.console_app.top
        if isinstance(top, DeckScreen):
            top.places.look_at_new(session_id)
            top.refresh_all()
            if top.has_class("-narrow"):
                # Where one pane is shown, a row in the list is not the session.
                top.places.go_to_transcript()

    def show_device(self, serial: str) -> None:
        """Show one phone large."""
        from console.screens.device.device import DeviceScreen

        self.push_screen(DeviceScreen(serial))

    def _show(self, screen: type[WallScreen | JobsScreen | HistoryScreen | SettingsScreen]) -> None:
        if not isinstance(self.console_app.top, screen):
            self.do_screen_deck()
            self.push_screen(screen())

    def do_view_back(self) -> None:
        """Go one layer back."""
        top = self.console_app.top
        if top is None or top.back():
            return
        if len(self.screen_stack) > 2:
            self.pop_screen()

    def do_app_help(self) -> None:
        """Show the keys of this screen."""
        from console.screens.dialogs.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        elif self.console_app.top is not None and isinstance(self.screen, ConsoleScreen):
            where = self.console_app.top.WHERE
            self.push_screen(HelpScreen(where, where.value.capitalize(), self.keys))

    def do_app_palette(self) -> None:
        """Offer everything that can be done."""
        self.open_palette()

    def open_palette(self, text: str = "") -> None:
        """Show the palette, with a text in its field."""
        from console.palette import catalog
        from console.screens.dialogs.palette import PaletteScreen

        app = self.console_app
        if isinstance(self.screen, PaletteScreen):
            self.screen.dismiss(None)
        if app.top is None or not isinstance(self.screen, ConsoleScreen):
            return
        palette = PaletteScreen(
            catalog.offered(app),
            recent=app.recent.places,
            typed=lambda typed: catalog.typed(app, typed),
            text=text,
        )
        self.push_screen(palette, self._do_chosen)

    async def _do_chosen(self, entry: Entry | None) -> None:
        if entry is not None:
            from console.palette.carry_out import carry_out

            await carry_out(self.console_app, entry)

    async def press_key(self, key: str) -> None:
        """Press a key where the focus is, as part of what is being handled."""
        await App.on_event(self, Key(key, None))

    def do_app_model(self) -> None:
        """Connect a model: the same questions as `switchboard models setup`, on this terminal."""
        from console.palette.carry_out import connect_model

        connect_model(self.console_app)

    def do_app_theme(self) -> None:
        """Change between dark and light."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def do_app_themes(self) -> None:
        """Choose among all themes."""
        if isinstance(self.screen, ConsoleScreen):
            self.push_screen(ThemePicker(), self._keep_theme)

    def _keep_theme(self, name: str | None) -> None:
        app = self.console_app
        if not name or app.settings is None:
            return
        try:
            write_setting(app.settings.config_file, "ui.theme", name)
        except ConfigError as error:
            app.say(f"These colours last until you leave: {error}", tone="warning")
            return
        app.settings = replace(app.settings, ui=replace(app.settings.ui, theme=name))
        app.say(f"ui.theme is {name} in {app.settings.config_file}.")

    def do_app_suspend(self) -> None:
        """Return the terminal to the shell until it continues this console."""
        app = self.console_app
        if why := why_not_suspended(app):
            app.say(why)
            return
        views = app.bridge.state.sessions.values()
        working = sum(view.session.state is SessionState.RUNNING for view in views)
        if working and app.holds_core:
            noun = "session" if working == 1 else "sessions"
            sentence = (
                f"{app.keys.name('app.suspend')} again also suspends {working} {noun} at work"
            )
            if not app.two_acts.confirm("app.suspend", str(working), sentence):
                return
        suspend(app)

    def do_app_quit(self) -> None:
        """Leave, or say first what keeps running."""
        from console.screens.dialogs.leave import LeaveScreen, under_way

        app = self.console_app
        told = under_way(app.bridge.state, ends_here=app.holds_core)
        if not told:
            self.exit(0)
        elif isinstance(self.screen, LeaveScreen):
            # The app's own binding comes before the dialog's: this is the second act.
            self.screen.dismiss(True)
        else:
            self.push_screen(LeaveScreen(told), self._leave)

    def _leave(self, leave: bool | None) -> None:
        if leave:
            self.exit(0)
