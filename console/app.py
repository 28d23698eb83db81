"""Compose the console's app, and implement Textual's hooks.

Its parts do the work: `Keyboard` handles keys, `Dispatcher` finds the owner of an action,
`Navigation` and `AppControls` own the actions of every screen, `OpClient` sends ops, `Redraw` has
the clocks, `ErrorReports` the errors. The app gets a core and never builds one. Invariants: an
exception becomes a log line and a notice while the core keeps running; a key handler never waits
for work in the core.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import Event
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import Widget
from textual.widgets import Input, TextArea

from agent.core import Core
from agent.errors import SwitchboardError
from agent.protocol import Op, Reply
from agent.state.reducer import Attention
from agent.text import clean, one_line
from console.app_parts.app_controls import AppControls
from console.app_parts.attention_signals import AttentionSignals
from console.app_parts.browser_panel import BrowserPanel
from console.app_parts.first_overview import FirstLook, load_first_overview
from console.app_parts.keyboard import Keyboard, KeyPressed
from console.app_parts.navigation import Navigation
from console.app_parts.redraw import Redraw, is_live
from console.app_parts.settings_writer import SettingsWriter
from console.app_parts.unlocking import Unlocking
from console.base_app import ConsoleApp, StartPhone
from console.core.error_reports import ErrorReports
from console.core.event_bridge import Bridge, Lost, Tick
from console.core.op_client import OpClient
from console.frames.frame_feed import FrameFeed
from console.frames.glyphs import blocks_for
from console.frames.graphics import Pictures
from console.frames.output import paced
from console.frames.stills import ShowsStills, Stills
from console.frames.wall_feeds import WALL_HZ, WallFeeds
from console.input.gate import Wait
from console.keys import actions
from console.keys.controllers import Controller
from console.keys.dispatcher import Dispatcher
from console.keys.keymap import Keymap, read_keymap
from console.keys.two_presses import TwoPresses
from console.screens.base.console_screen import ConsoleScreen
from console.screens.deck.deck import DeckScreen
from console.screens.dialogs.dialog import Dialog
from console.steps.stored_frames import StoredFrames
from console.storage.recent import Recent
from console.storage.usage import PictureUsage
from console.terminal.ascii_fallback import has_unicode, own_locale
from console.terminal.clipboard import keep_copy, past_multiplexer
from console.terminal.last_resort import give_back_all
from console.terminal.notices import let_mouse_through, make_room
from console.terminal.terminal import lenient
from console.terminal.themes import DARK, FALLBACK, LIGHT, SIXTEEN
from console.terminal.title import titled
from console.terminal_input.gated_driver import gated
from widgets.base import causality
from widgets.base.fault_isolation import WidgetFailed
from widgets.pictures.phone_pane import is_driven_at

if TYPE_CHECKING:
    from agent.settings import Settings

NOTICE_S = 6.0  # How long a notice stays.
# Every widget that is styled asks for its theme.
_THEMES = {**BUILTIN_THEMES, DARK.name: DARK, LIGHT.name: LIGHT}
_FEW_COLOURS = {**_THEMES, **SIXTEEN}


async def run_console(
    core: Core,
    *,
    settings: "Settings | None" = None,
    title: str = "",
    focus_session: str = "",
    replay: str = "",
    start_phone: StartPhone | None = None,
    first_look: FirstLook | None = None,
) -> int:
    """Show the console on the terminal until the operator quits; the core stays open.

    Args:
        core: a Runtime or a Client.
        settings: `[ui]` and the data directory; the defaults when None.
        title: shown in the header beside the name, such as "demo".
        focus_session: the session that is selected at first.
        replay: the session to replay at once; leaving the replay quits the console.
        start_phone: returns the serial of a virtual phone, starting one if there is none.
        first_look: waits for the stored state, if it is available before the core answers.

    Returns:
        0, or 1 if the console had to give up.

    Raises:
        ConfigError: the keymap beside the settings file is invalid.
    """
    app = SwitchboardApp(
        core, settings=settings, title=title, focus_session=focus_session, replay=replay
    )
    app.start_phone, app.first_look = start_phone, first_look
    try:
        await app.run_async()
    finally:
        try:
            await app.close()
        finally:
            is_left_dirty = give_back_all()
    return app.return_code or int(is_left_dirty)


class SwitchboardApp(ShowsStills, ConsoleApp, inherit_bindings=False):
    """The console: Textual's app and its parts."""

    CSS_PATH = Path(__file__).parent / "console.tcss"
    TITLE = "Switchboard"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.EVERYWHERE)]
    CONTROLLERS: ClassVar[tuple[type[Controller], ...]] = (Navigation, AppControls)
    """What owns the actions that every screen has."""
    first_look: FirstLook | None = None
    kept: SettingsWriter
    keyboard: Keyboard
    navigation: Navigation
    redraw: Redraw
    signals: AttentionSignals

    def __init__(
        self,
        core: Core,
        *,
        settings: "Settings | None" = None,
        title: str = "",
        focus_session: str = "",
        replay: str = "",
    ) -> None:
        wanted = settings.ui.theme if settings else ""
        self._unknown_theme = "" if wanted in self.available_themes else wanted
        # Before Textual reads any style: it would read them all again for another theme.
        self.set_reactive(App.theme, DARK.name if self._unknown_theme else wanted or DARK.name)
        self.keys = read_keymap(settings.config_file) if settings else Keymap()
        """The operator's own keys."""
        super().__init__()
        self.add_class(f"-theme-{self.theme}", update=False)
        self.core = core
        self.only_looks = core.only_looks
        self.beside = BrowserPanel(self)
        self.place = one_line(title, 40)
        self.focus_session = focus_session
        self.bridge = Bridge(core, self.post_message)
        self.errors = ErrorReports(
            self.say,
            is_ending=lambda: self._exit or self._closing or not self._running,
            give_up=lambda why: self.exit(1, return_code=1, message=why),
        )
        self.ops = OpClient(core, self.bridge, self.say, self.refresh_top)
        self.ops.unlocks = Unlocking(self, core).begin
        self.pending = self.ops.pending
        self.feed = FrameFeed(core, max_hz=settings.ui.frame_hz if settings else 10.0)
        wall_hz = min(settings.ui.frame_hz, WALL_HZ) if settings else WALL_HZ
        self.wall_feeds = WallFeeds(core, max_hz=wall_hz)
        self.blocks = blocks_for(
            settings.ui.blocks if settings else "auto",
            os.environ,
            unicode=has_unicode(own_locale()),
        )
        self.stills = Stills(self, Pictures(settings.ui.pictures if settings else "cells"))
        self.stored = StoredFrames(core)
        self.two_presses = TwoPresses()
        self.seen: frozenset[str] = frozenset()
        self.tool_servers = tuple(settings.mcp.servers) if settings else ()
        """The MCP servers that a session can be given."""
        self.begins_with = ""
        """The model that was connected here, of sessions that are begun; empty: the core's own."""
        self.settings = settings
        self.recent = Recent(settings.data_dir if settings else None)
        self.written: dict[str, str] = {}
        """The settings that were written here, by name; they count from the next start."""
        self.kept = SettingsWriter(self)
        self.set_keymap(self.keys.bound())
        self.data_dir = settings.data_dir if settings else None
        # Pictures in a database are not in this computer's files.
        self.usage = (
            PictureUsage(settings.data_dir, settings.retention)
            if settings and not settings.store.dsn
            else None
        )
        self.signals = AttentionSignals(self, settings)
        self._replay = replay
        self._lost_said = ""
        self._said_s: dict[str, float] = {}
        self.painted = asyncio.Event()
        """Set once the first screen has been drawn with something on it."""
        self.keyboard = Keyboard(self, super().on_event)
        self.gate, self.stray_words = self.keyboard.gate, self.keyboard.stray_words
        self.redraw = Redraw(self)
        self.navigation = Navigation(self)
        self.controls = AppControls(self)
        self.dispatcher = Dispatcher(self, (self.navigation, self.controls))

    # --- look ----------

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Return Textual's themes and our own, by name, as this terminal can show them."""
        console = getattr(self, "console", None)
        has_few = console is not None and console.color_system == "standard"
        return _FEW_COLOURS if has_few else _THEMES

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(FALLBACK)

    def get_line_filters(self) -> list[LineFilter]:
        # NO_COLOR means no colour; Textual alone would still send shades of grey.
        filters = list(super().get_line_filters())
        return [NoColor() if isinstance(one, Monochrome) else one for one in filters]

    def _register_child(
        self, parent: DOMNode, child: Widget, before: int | None, after: int | None
    ) -> None:
        if isinstance(child, Screen):
            let_mouse_through(child)
        super()._register_child(parent, child, before, after)

    def get_driver_class(self) -> type[Driver]:
        return paced(lenient(titled(gated(super().get_driver_class(), self.keys.alts()))))

    # --- life ----------

    def on_mount(self) -> None:
        if self._unknown_theme:
            self.say(f"There is no theme “{one_line(self._unknown_theme, 40)}”.", tone="warning")
        if not self._replay:
            # Once Textual draws: what it works out before, it throws away.
            self.call_later(self.push_screen, DeckScreen())
        self.redraw.begin()
        self.errors.guarded("asking the terminal", self.stills.begin)
        opening = load_first_overview(self, self._replay, self.first_look)
        self.run_worker(opening, name="begin", exit_on_error=False)

    async def close(self) -> None:
        """Stop listening; the core keeps running."""
        self.gate.close()
        self.kept.close()
        await self.bridge.close()
        await self.feed.close()
        await self.wall_feeds.close()
        self.stills.close()

    def now_ms(self) -> int:
        """Return the time in milliseconds since the epoch."""
        return int(time.time() * 1000)

    # --- what comes up ----------

    @property
    def top(self) -> ConsoleScreen | None:
        """Return the visible console screen, also under a dialog."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        return None

    def refresh_top(self) -> None:
        """Refresh the visible console screen."""
        top = self.top
        if top is not None and is_live(top):
            # What a key changed may be shown by the clock before the key's own showing.
            with self.in_open_cause():
                self.errors.guarded(f"showing {type(top).__name__}", top.refresh_all)
        if isinstance(self.screen, Dialog):
            self.screen.show_connection()

    def on_tick(self, event: Tick) -> None:
        self.refresh_top()

    def on_lost(self, event: Lost) -> None:
        if event.text != self._lost_said:
            self._lost_said = event.text
            self.say(event.text, tone="error" if event.final else "warning")

    def on_widget_failed(self, event: WidgetFailed) -> None:
        self.errors.report(event.error, event.where)

    def _handle_exception(self, error: Exception) -> None:
        if self._driver is None:
            # There is no console that could go on, or say so.
            super()._handle_exception(error)
            return
        # Textual's own way is to end the app; the core is embedded here and must go on.
        self.errors.report(error, "in the console")

    # --- keys ----------

    async def on_event(self, event: Event) -> None:
        self.signals.note(event)
        await self.keyboard.hear(event)

    async def on_key_pressed(self, message: KeyPressed) -> None:
        """Handle a key that was pressed with the mouse like any other key."""
        await self.keyboard.press_named(message.name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action may run: an open field takes characters first."""
        wanted = str(parameters[0]) if action == "act" else ""
        typing = isinstance(self.focused, TextArea | Input) or (is_driven_at(self.focused))
        return not (typing and bool(wanted) and self.keys.types(wanted))

    async def action_act(self, action_id: str) -> None:
        """Perform an action of the registry."""
        await self.dispatcher.act(action_id)

    # --- for the screens ----------

    def say(self, text: str, *, tone: str = "information") -> None:
        """Show a notice, which may be foreign text; a notice still visible is not repeated."""
        severity: Any = tone
        now_s = time.monotonic()
        self._said_s = {said: at for said, at in self._said_s.items() if now_s - at < NOTICE_S}
        if text not in self._said_s:
            self._said_s[text] = now_s
            make_room(self)
            self.notify(clean(text, 600), severity=severity, markup=False, timeout=NOTICE_S)

    def request(
        self, op: Op, *, done: str = "", refused: Callable[[SwitchboardError], object] | None = None
    ) -> None:
        """Send an op without waiting; an error becomes a notice, and is told to `refused`.

        Keys after the one that sent it are handled once its effect is in the view state.
        """
        self.spawn(self.ops.ask(op, done=done, refused=refused), type(op).__name__)

    def ask(self, op: Op) -> Coroutine[Any, Any, Reply | None]:
        """Send an op and wait for its reply; None if it failed, which a notice reports."""
        return self.ops.ask(op)

    def show_reminder(self, one: Attention) -> None:
        """Open the Jobs screen at an attention item."""
        self.navigation.show_reminder(one)

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Run a coroutine in the background; an error becomes a notice.

        Args:
            work: the coroutine.
            name: what it does, for the notice and the log.
            wait: how the keys after the one that started it wait for it.
        """
        cause = causality.current()
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if cause is not None and wait is not Wait.NOT:
            self.gate.hold(done, cause, opens=wait is Wait.OPENS)

        async def guarded() -> None:
            try:
                await work
            except SwitchboardError as error:
                self.say(str(error), tone="error")
            except Exception as error:
                self.errors.report(error, name)
            finally:
                if not done.done():
                    done.set_result(None)

        self.run_worker(guarded(), name=name, exit_on_error=False)

    def copy(self, text: str) -> None:
        """Copy a text to the terminal's clipboard and to a file, and show where."""
        self.copy_to_clipboard(clean(text))
        if self._driver is not None and (beyond := past_multiplexer(clean(text), os.environ)):
            self._driver.write(beyond)
        try:
            place = keep_copy(text, self.data_dir)
        except OSError as error:
            self.say(f"Copied by OSC 52; the file could not be written: {error}", tone="warning")
        else:
            self.say(f"Copied. Terminals may refuse; it is also in {place}")
