"""The keys that mean the same on every screen: help, palette, colours, the model, leaving.

Invariant: leaving says first what keeps running.
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.config import write_setting
from agent.errors import ConfigError
from agent.protocol import Interrupt
from agent.records import SessionState
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.screens.dialogs.theme_picker import ThemePicker
from console.terminal.job_control import suspend, why_not_suspended
from console.terminal.themes import DARK, LIGHT

if TYPE_CHECKING:
    from console.base_app import ConsoleApp
    from console.palette.entry import Entry


class AppControls(Controller):
    """What is done to the console as a whole.

    Args:
        app: the console.
    """

    def __init__(self, app: "ConsoleApp") -> None:
        self._app = app

    @property
    def holds_core(self) -> bool:
        """Whether the core lives in this process: it stands still and ends with the console."""
        from agent.rpc.remote_core import Client
        from console.core.deferred_core import DeferredCore

        core = self._app.core
        if isinstance(core, DeferredCore):
            return core.host is None or not isinstance(core.host.core, Client)
        return not isinstance(core, Client)

    def do_session_stop_all(self) -> None:
        self._app.request(Interrupt(), done="Stopped every session; each can be resumed.")

    # --- help and palette ----------

    def do_app_help(self) -> None:
        """Show the keys of this screen."""
        from console.screens.dialogs.help import HelpScreen

        app = self._app
        if isinstance(app.screen, HelpScreen):
            app.screen.dismiss()
        elif app.top is not None and isinstance(app.screen, ConsoleScreen):
            where = app.top.WHERE
            app.push_screen(HelpScreen(where, where.value.capitalize(), app.keys))

    def do_app_palette(self) -> None:
        """Offer everything that can be done."""
        self.open_palette()

    def open_palette(self, text: str = "") -> None:
        """Show the palette, with a text in its field."""
        from console.palette import catalog
        from console.screens.dialogs.palette import PaletteScreen

        app = self._app
        if isinstance(app.screen, PaletteScreen):
            app.screen.dismiss(None)
        if app.top is None or not isinstance(app.screen, ConsoleScreen):
            return
        palette = PaletteScreen(
            catalog.offered(app),
            recent=app.recent.places,
            typed=lambda typed: catalog.typed(app, typed),
            text=text,
        )
        app.push_screen(palette, self._do_chosen)

    async def _do_chosen(self, entry: "Entry | None") -> None:
        if entry is not None:
            from console.app_parts.palette_actions import carry_out

            await carry_out(self._app, entry)

    # --- model and colours ----------

    def do_app_model(self) -> None:
        """Connect a model: the same questions as `switchboard models setup`, on this terminal."""
        from console.app_parts.palette_actions import connect_model

        connect_model(self._app)

    def do_app_theme(self) -> None:
        """Change between dark and light."""
        self._app.theme = LIGHT.name if self._app.theme == DARK.name else DARK.name

    def do_app_themes(self) -> None:
        """Choose among all themes."""
        if isinstance(self._app.screen, ConsoleScreen):
            self._app.push_screen(ThemePicker(), self._keep_theme)

    def _keep_theme(self, name: str | None) -> None:
        app = self._app
        if not name or app.settings is None:
            return
        try:
            write_setting(app.settings.config_file, "ui.theme", name)
        except ConfigError as error:
            app.say(f"These colours last until you leave: {error}", tone="warning")
            return
        app.settings = replace(app.settings, ui=replace(app.settings.ui, theme=name))
        app.say(f"ui.theme is {name} in {app.settings.config_file}.")

    # --- leaving ----------

    def do_app_suspend(self) -> None:
        """Return the terminal to the shell until it continues this console."""
        app = self._app
        if why := why_not_suspended(app):
            app.say(why)
            return
        views = app.bridge.state.sessions.values()
        working = sum(view.session.state is SessionState.RUNNING for view in views)
        if working and self.holds_core:
            noun = "session" if working == 1 else "sessions"
            sentence = (
                f"{app.keys.name('app.suspend')} again also suspends {working} {noun} at work"
            )
            if not app.two_presses.confirm("app.suspend", str(working), sentence):
                return
        suspend(app)

    def do_app_quit(self) -> None:
        """Leave, or say first what keeps running."""
        from console.screens.dialogs.leave import LeaveScreen, under_way

        app = self._app
        told = under_way(app.bridge.state, ends_here=self.holds_core)
        if not told:
            app.exit(0)
        elif isinstance(app.screen, LeaveScreen):
            # The app's own binding comes before the dialog's: this is the second act.
            app.screen.dismiss(True)
        else:
            app.push_screen(LeaveScreen(told), self._leave)

    def _leave(self, leave: bool | None) -> None:
        if leave:
            self._app.exit(0)
