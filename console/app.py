"""The app: themes, the bridge's timer, dispatch of actions, notices, leaving.

Embeds a core and never builds one. Invariants: an exception anywhere becomes a log line and a
notice while the core goes on; whatever runs in the core is never waited for in a key's handler.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import Event, Key, MouseMove, Paste, Resize
from textual.filter import LineFilter, Monochrome, NoColor
from textual.keys import _character_to_key
from textual.message import Message
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.timer import Timer
from textual.widget import Widget

from agent.core import Core, Overview
from agent.errors import SwitchboardError
from agent.protocol import Op, Reply
from agent.text import clean, one_line
from console.app_actions import AppActions
from console.core.event_bridge import TICK_HZ, Bridge, Lost, Tick
from console.frames.answers import answering
from console.frames.clock import FrameClock
from console.frames.frame_feed import FrameFeed
from console.frames.glyphs import blocks_for
from console.frames.graphics import Pictures
from console.frames.output import owes_all, paced
from console.frames.stills import LOOK_HZ, ShowsStills, Stills
from console.frames.wall_feeds import WALL_HZ, WallFeeds
from console.input.gate import OPENS_S, InputGate, Wait, is_input
from console.input.joiners import joined
from console.input.pending import PendingOps
from console.keys import actions
from console.keys.keymap import Keymap, read_keymap
from console.keys.two_acts import TwoActs
from console.palette.recent import Recent
from console.screens.base.console_screen import ConsoleScreen
from console.screens.deck.deck import DeckScreen
from console.settings.kept_settings import KeptSettings
from console.steps.stored_frames import StoredFrames
from console.storage.usage import PictureUsage
from console.terminal.ascii_fallback import has_unicode, own_locale
from console.terminal.attention_signals import AttentionSignals
from console.terminal.clipboard import keep_copy, past_multiplexer
from console.terminal.notices import let_mouse_through, make_way
from console.terminal.terminal import lenient, look_after
from console.terminal.themes import DARK, FALLBACK, LIGHT
from console.terminal.title import titled
from widgets.base import causality
from widgets.base.fault_isolation import Broke, FaultIsolatedApp

if TYPE_CHECKING:
    from agent.settings import Settings

_log = logging.getLogger(__name__)
StartPhone = Callable[[], Awaitable[str]]
FirstLook = Callable[[], Awaitable[Overview | None]]
NOTICE_S = 6.0
"""How long a notice stays."""
PAINT_BOUND_S = 3.0
"""How long the core is not asked because nothing is on the terminal yet."""
_FATAL_AFTER = 25
"""Errors in ten seconds that mean the console can no longer draw itself."""


async def run_console(
    core: Core,
    *,
    settings: Settings | None = None,
    title: str = "",
    focus_session: str = "",
    replay: str = "",
    start_phone: StartPhone | None = None,
    first_look: FirstLook | None = None,
) -> int:
    """Show the console on the terminal until the operator leaves; the core stays open.

    Args:
        core: a Runtime or a Client.
        settings: `[ui]` and the data directory; the defaults when None.
        title: what the header says beside the name, such as "demo".
        focus_session: the session that is selected at first.
        replay: the session that is replayed at once; leaving the replay leaves the console.
        start_phone: returns the serial of a virtual phone, starting one if there is none.
        first_look: waits for what is stored, if that can be told before the core answers.

    Returns:
        0, or 1 when the console had to give up.

    Raises:
        ConfigError: the keymap beside the settings file cannot be used.
    """
    app = SwitchboardApp(
        core, settings=settings, title=title, focus_session=focus_session, replay=replay
    )
    app.start_phone, app.first_look = start_phone, first_look
    try:
        await app.run_async()
    finally:
        await app.close()
    return app.return_code or 0


class KeyPressed(Message):
    """A key of the footer was pressed with the mouse: it belongs to that press."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class SwitchboardApp(ShowsStills, FaultIsolatedApp, AppActions, inherit_bindings=False):
    """The console."""

    CSS_PATH = Path(__file__).parent / "console.tcss"
    TITLE = "Switchboard"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.EVERYWHERE)]
    start_phone: StartPhone | None = None
    first_look: FirstLook | None = None

    def __init__(
        self,
        core: Core,
        *,
        settings: Settings | None = None,
        title: str = "",
        focus_session: str = "",
        replay: str = "",
    ) -> None:
        wanted = settings.ui.theme if settings else ""
        self._unknown_theme = "" if wanted in self.available_themes else wanted
        # Before Textual reads any style: it would read them all again for another theme.
        self.set_reactive(App.theme, DARK.name if self._unknown_theme else wanted or DARK.name)
        self.keys = read_keymap(settings.config_file) if settings else Keymap()
        super().__init__()
        self.add_class(f"-theme-{self.theme}", update=False)
        self.core = core
        self.place = one_line(title, 40)
        self.focus_session = focus_session
        self.bridge = Bridge(core, self.post_message)
        self.feed = FrameFeed(core, max_hz=settings.ui.frame_hz if settings else 10.0)
        wall_hz = min(settings.ui.frame_hz, WALL_HZ) if settings else WALL_HZ
        self.wall_feeds = WallFeeds(core, max_hz=wall_hz)
        self.frame_clock = FrameClock()
        self.blocks = blocks_for(
            settings.ui.blocks if settings else "auto",
            os.environ,
            unicode=has_unicode(own_locale()),
        )
        self.stills = Stills(self, Pictures(settings.ui.pictures if settings else "cells"))
        self.stored = StoredFrames(core)
        self.two_acts = TwoActs()
        self.pending = PendingOps()
        self.seen: frozenset[str] = frozenset()
        self.tool_servers = tuple(settings.mcp.servers) if settings else ()
        """The MCP servers that a session can be given."""
        self.begins_with = ""
        """The model that was connected here, of sessions that are begun; empty: the core's own."""
        self.settings = settings
        self.recent = Recent(settings.data_dir if settings else None)
        self.written: dict[str, str] = {}
        """The settings that were written here, by name; they count from the next start."""
        self.kept = KeptSettings(self)
        self.set_keymap(self.keys.bound())
        self.data_dir = settings.data_dir if settings else None
        # Pictures in a database are not in this computer's files.
        self.usage = (
            PictureUsage(settings.data_dir, settings.retention)
            if settings and not settings.store.dsn
            else None
        )
        self._signals = AttentionSignals(self, settings)
        self._replay = replay
        self._errors_s: list[float] = []
        self._lost_said = ""
        self._said_s: dict[str, float] = {}
        self.painted = asyncio.Event()
        """Set once the first screen has been drawn with something on it."""
        self.gate = InputGate(
            self._handle_input,
            lambda: self.call_later(self.gate.go_on),
            stops=self._stops_all,
            give_up=self._say_dropped,
            follow=self.follow,
            lay_out=self.lay_out,
        )
        self._clocks: list[Timer] = []
        self.is_lending = False
        """Whether another program has the terminal, because the operator asked for it."""

    # --- look ----------

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Textual's themes and our own, by name."""
        return {**BUILTIN_THEMES, DARK.name: DARK, LIGHT.name: LIGHT}

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

    # --- life ----------

    def on_mount(self) -> None:
        if self._unknown_theme:
            self.say(f"There is no theme “{one_line(self._unknown_theme, 40)}”.", tone="warning")
        if not self._replay:
            # Once Textual draws: what it works out before, it throws away.
            self.call_later(self.push_screen, DeckScreen())
        self._clocks = [
            self.set_interval(1 / TICK_HZ, self._on_frame_clock, name="frame clock"),
            self.set_interval(1.0, self._on_second, name="ages"),
            self.set_interval(1 / LOOK_HZ, self._on_still_clock, name="still clock"),
        ]
        self.guarded("asking the terminal", self.stills.begin)
        self.run_worker(self._begin(), name="begin", exit_on_error=False)

    async def _begin(self) -> None:
        if not self._replay:
            # Whoever opened the console sees it before the core is asked, which may take a while.
            with suppress(TimeoutError):
                async with asyncio.timeout(PAINT_BOUND_S):
                    await self.painted.wait()
        if self.first_look is not None and not self._replay:
            self.spawn(self._look_ahead(self.first_look), "reading what is stored", Wait.NOT)
        try:
            await self.bridge.start()
        except Exception as error:
            _log.exception("The core did not answer")
            self.post_message(Lost(f"The core did not answer: {error}", final=False))
            return
        self._take_failures_as_seen()
        if self._replay:
            from console.screens.history.replay import ReplayScreen

            self.push_screen(ReplayScreen(self._replay, alone=True))
        self._refresh_top()

    async def _look_ahead(self, first_look: FirstLook) -> None:
        stored = await first_look()
        if stored is not None:
            self.bridge.look_ahead(stored)
            self._take_failures_as_seen()

    def _take_failures_as_seen(self) -> None:
        """Take what had failed before anybody looked for history, not news."""
        from agent.state.reducer import attention

        stale = attention(self.bridge.state)
        self.seen = frozenset(a.key for a in stale if a.kind.value == "failed")

    async def close(self) -> None:
        """Stop listening; the core goes on."""
        self.gate.close()
        self.kept.close()
        await self.bridge.close()
        await self.feed.close()
        await self.wall_feeds.close()
        self.stills.close()

    # --- the terminal, lent ----------

    @property
    def has_terminal_to_lend(self) -> bool:
        """Whether another program could have the terminal for a while; a browser is none."""
        return self._driver is not None and self._driver.can_suspend and not self.is_web

    def stop_pictures(self) -> None:
        """Draw nothing until `resume_pictures`; the core and the bridge go on."""
        self.is_lending = True
        for clock in self._clocks:
            clock.pause()
        self.stills.withdraw()
        self.feed.want(None)
        self.wall_feeds.want({})

    def resume_pictures(self) -> None:
        """Draw again, all that was missed."""
        self.is_lending = False
        for clock in self._clocks:
            clock.resume()
        self.stills.repair()
        self._refresh_top()

    def now_ms(self) -> int:
        """Return the time."""
        return int(time.time() * 1000)

    # --- what comes up ----------

    @property
    def top(self) -> ConsoleScreen | None:
        """The console screen that is seen, also under a dialog."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        return None

    def on_tick(self, event: Tick) -> None:
        self._refresh_top()

    async def on_event(self, event: Event) -> None:
        self._signals.note(event)
        if is_input(event) and not self._is_first_size(event):
            await self.gate.take(joined(event))
        else:
            await super().on_event(event)

    def _is_first_size(self, event: Event) -> bool:
        """Return whether an event says how large the terminal is, before there is a screen."""
        return isinstance(event, Resize) and self._size is None

    async def _handle_input(self, event: Event) -> None:
        if isinstance(event, Key | Paste):
            # Clicks with keys between them are no double click.
            self._click_chain_last_time = None
        elif isinstance(event, MouseMove):
            make_way(self, event)
        elif isinstance(event, Resize):
            await super().on_event(event)
            # Now and not a moment later, so that the next key meets the new layout.
            self._check_resize()
            return
        if isinstance(event, Key) and self.bridge.is_opening and self._is_for_what_comes(event):
            self.spawn(self._press_once_open(event.key), "moving in a list", Wait.OPENS)
        else:
            await super().on_event(event)

    def _is_for_what_comes(self, key: Key) -> bool:
        """Return whether a key moves in a list, or opens its row, that nothing is in yet."""
        # Of a list or a wall; what else has the focus does not say whether it is.
        if not getattr(self.focused, "has_nothing", False):
            return False
        bound = self.screen.active_bindings.get(key.key)
        return bound is not None and bound.node is self.focused

    async def _press_once_open(self, key: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(OPENS_S):
                await self.bridge.opened()
            self._refresh_top()
            self.press_named_key(key)

    def _stops_all(self, key: Key) -> bool:
        return key.key in self.keys.keys(actions.BY_ID["session.stop_all"])

    def _say_dropped(self, count: int) -> None:
        were = "1 key was" if count == 1 else f"{count} keys were"
        self.say(f"The core does not answer: {were} dropped.", tone="warning")

    def _on_frame_clock(self) -> None:
        self.bridge.tick()
        if owes_all(self._driver):
            self.stills.repair()
            self.screen.refresh()
        top = self.top
        if (
            top is not None
            and top.is_composed
            and self.frame_clock.may_draw(self._driver, key_is_under_way=not self.gate.is_idle)
        ):
            with self.in_open_cause():
                self.guarded("showing a frame", top.tick_frames)

    def _on_still_clock(self) -> None:
        top = self.top
        if top is not None and top is self.screen and top.is_composed:
            self.guarded("drawing a still", lambda: self.stills.look(top.still()))

    def _on_second(self) -> None:
        self._refresh_top()
        self.guarded("calling the operator", self._signals.look)
        if self.usage is not None and self.usage.is_due and self.painted.is_set():
            self.spawn(self.usage.look(), "reading the size of the pictures", Wait.NOT)
        look_after(self._driver)

    def _refresh_top(self) -> None:
        top = self.top
        if top is not None and top.is_composed:
            # What a key changed may be shown by the clock before the key's own showing.
            with self.in_open_cause():
                self.guarded(f"showing {type(top).__name__}", top.refresh_all)

    def on_lost(self, event: Lost) -> None:
        if event.text != self._lost_said:
            self._lost_said = event.text
            self.say(event.text, tone="error" if event.final else "warning")

    # --- errors ----------

    def guarded(self, doing: str, work: Any) -> None:
        try:
            work()
        except Exception as error:
            self.report(error, doing)

    def on_broke(self, event: Broke) -> None:
        self.report(event.error, event.where)

    def report(self, error: BaseException, doing: str) -> None:
        """Log an error and say it; the console goes on unless it does nothing but fail."""
        if self._exit or self._closing:
            # Frames and events still arrive while the screens are taken down.
            _log.debug("While the console closed, %s: %s", doing, error)
            return
        _log.error("The console failed %s", doing, exc_info=error)
        now_s = time.monotonic()
        self._errors_s = [at for at in self._errors_s if now_s - at < 10.0] + [now_s]
        if len(self._errors_s) > _FATAL_AFTER:
            self.exit(1, return_code=1, message="The console failed too often; see the log.")
        elif len(self._errors_s) <= 3:
            self.say(f"{doing}: {type(error).__name__}: {error}", tone="error")

    def get_driver_class(self) -> type[Driver]:
        return paced(lenient(titled(answering(super().get_driver_class(), self.keys.alts()))))

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own way is to end the app; the core is embedded here and must go on.
        self.report(error, "in the console")

    def say(self, text: str, *, tone: str = "information") -> None:
        """Show a notice; foreign text is fine, and what still stands there is not said again."""
        severity: Any = tone
        now_s = time.monotonic()
        self._said_s = {said: at for said, at in self._said_s.items() if now_s - at < NOTICE_S}
        if text not in self._said_s:
            self._said_s[text] = now_s
            self.notify(clean(text, 600), severity=severity, markup=False, timeout=NOTICE_S)

    # --- what goes down ----------

    def request(self, op: Op, *, done: str = "") -> None:
        """Send an op without waiting; what it fails with becomes a notice.

        The keys after the one that sent it are handled once its effect is in the picture.
        """
        self.pending.note(op)
        self.spawn(self._request(op, done), type(op).__name__)

    async def _request(self, op: Op, done: str) -> Reply | None:
        """Send an op that was noted."""
        reply = await self._attempt(op)
        if isinstance(reply, SwitchboardError):
            self.say(str(reply), tone="error")
            return None
        self._refresh_top()
        if done:
            self.say(done)
        return reply

    def attempt(self, op: Op) -> Coroutine[Any, Any, Reply | SwitchboardError]:
        """Send an op and wait for its reply, or for why it failed, which is not said.

        From the call on it counts as asked for; what it gives has to be awaited.
        """
        self.pending.note(op)
        return self._attempt(op)

    async def _attempt(self, op: Op) -> Reply | SwitchboardError:
        try:
            reply = await self.core.request(op)
            await self.bridge.reached(reply.event_id)
        except SwitchboardError as error:
            return error
        except Exception as error:
            _log.exception("The console failed on %s", type(op).__name__)
            return SwitchboardError(f"{type(op).__name__}: {type(error).__name__}: {error}")
        finally:
            self.pending.settle(op)
        return reply

    def ask(self, op: Op) -> Coroutine[Any, Any, Reply | None]:
        """Send an op and wait for its reply; None when it failed, which was said.

        From the call on it counts as asked for; what it gives has to be awaited.
        """
        self.pending.note(op)
        return self._request(op, "")

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Run something beside the keys; what it fails with becomes a notice.

        Args:
            work: what is run.
            name: what is done, for the notice and the log.
            wait: how the keys after the one that began it wait for it.
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
                self.report(error, name)
            finally:
                if not done.done():
                    done.set_result(None)

        self.run_worker(guarded(), name=name, exit_on_error=False)

    def press_named_key(self, name: str) -> None:
        """Press a key by the name that the operator reads, as part of what is being handled now."""
        self.post_message(KeyPressed(name))

    async def on_key_pressed(self, message: KeyPressed) -> None:
        """Handle a key that was pressed with the mouse where every key is handled."""
        name = message.name
        key = actions.KEY_OF_NAME.get(name, name)
        character = name if len(name) == 1 else None
        if character is not None and key == name:
            key = _character_to_key(character)
        # Made here: an event goes no higher than what made it.
        await super().on_event(Key(key, character))

    def copy(self, text: str) -> None:
        """Copy a text to the terminal's clipboard and to a file, and say where."""
        self.copy_to_clipboard(clean(text))
        if self._driver is not None and (beyond := past_multiplexer(clean(text), os.environ)):
            self._driver.write(beyond)
        try:
            place = keep_copy(text, self.data_dir)
        except OSError as error:
            self.say(f"Copied by OSC 52; the file could not be written: {error}", tone="warning")
        else:
            self.say(f"Copied. Terminals may refuse; it is also in {place}")
