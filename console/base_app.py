"""The console's app as its screens and parts see it: what they may ask for, not how it is done.

`console.app` is the app itself. Invariant: this module imports none of those that it is for, so
that screens and parts know the app, and the app knows them, without a circle.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from rich.console import RenderableType
from textual.app import App

from agent.core import Core
from agent.errors import SwitchboardError
from agent.protocol import Op, Reply
from agent.state.reducer import Attention
from console.core.error_reports import ErrorReports
from console.core.event_bridge import Bridge
from console.core.op_client import OpClient
from console.frames.frame_feed import FrameFeed
from console.frames.stills import Source, Stills
from console.frames.wall_feeds import WallFeeds
from console.input.gate import InputGate, Wait
from console.input.pending import PendingOps
from console.input.stray_words import StrayWords
from console.keys import actions
from console.keys.controllers import Controller
from console.keys.dispatcher import Dispatcher
from console.keys.dispatcher import TopScreen as Dispatched
from console.keys.keymap import Keymap
from console.keys.two_presses import TwoPresses
from console.steps.stored_frames import StoredFrames
from console.storage.recent import Recent
from console.storage.usage import PictureUsage
from console.terminal_input.gated_driver import TerminalNotice
from widgets.base.fault_isolation import FaultIsolatedApp

if TYPE_CHECKING:
    from agent.settings import Settings, UiSettings

StartPhone = Callable[[], Awaitable[str]]


class TopScreen(Dispatched, Protocol):
    """The console screen that is seen."""

    WHERE: ClassVar[actions.Where]
    is_composed: bool
    controllers: tuple[Controller, ...]

    @property
    def is_current(self) -> bool:
        """Whether no dialog stands over it."""

    def back(self) -> bool:
        """Go one layer back; False when there is none on this screen."""

    def tick_frames(self) -> None:
        """Show what came since the last time."""

    def still(self) -> Source | None:
        """Return the picture that may be drawn as an image while it rests."""


class Navigates(Protocol):
    """Goes from screen to screen."""

    picked: str  # The session that another is to be compared with.

    def do_screen_deck(self) -> None:
        """Show the Deck."""

    def do_screen_wall(self) -> None:
        """Show every phone."""

    def show_session(self, session_id: str) -> None:
        """Show a session on the Deck."""

    def show_device(self, serial: str) -> None:
        """Show one phone large."""

    def choose_another(self, session_id: str) -> None:
        """Pick a session, and show the history to choose what it is compared with."""


class Presses(Protocol):
    """Handles keys that are pressed by their names."""

    async def press(self, name: str) -> None:
        """Press a key."""

    def press_named_later(self, name: str) -> None:
        """Press a key once what is handled now is done."""


class PhoneBeside(Protocol):
    """The phone panel beside the console."""

    def show(self, serial: str) -> None:
        """Show the phone that is looked at here."""


class Redraws(Protocol):
    """Draws by the clock."""

    is_paused: bool

    def pause(self) -> None:
        """Draw nothing until `resume`."""

    def resume(self) -> None:
        """Draw again, all that was missed."""


class Signals(Protocol):
    """Calls an operator who does not look."""

    def look(self) -> None:
        """Signal what waits now."""


class Keeps(Protocol):
    """Keeps the `[ui]` settings that keys and the mouse change."""

    @property
    def ui(self) -> "UiSettings":
        """The settings as they are now."""

    def keep(self, **changes: object) -> None:
        """Change settings of `[ui]` by their names."""


class ConsoleApp(FaultIsolatedApp, App[int], inherit_bindings=False):
    """What every part of the console may use of the app."""

    core: Core
    bridge: Bridge
    errors: ErrorReports
    ops: OpClient
    pending: PendingOps
    gate: InputGate
    stray_words: StrayWords
    feed: FrameFeed
    wall_feeds: WallFeeds
    stills: Stills
    stored: StoredFrames
    blocks: str
    two_presses: TwoPresses
    keys: Keymap
    """The operator's own keys."""
    recent: Recent
    settings: "Settings | None"
    written: dict[str, str]
    """The settings that were written here, by name; they count from the next start."""
    kept: Keeps
    data_dir: Path | None
    usage: PictureUsage | None
    place: str
    """What the header says beside the name, such as "demo"."""
    focus_session: str
    """The session that is selected at first."""
    seen: frozenset[str]
    """What was looked at on this console: the keys of failures and of ends."""
    tool_servers: tuple[str, ...]
    """The MCP servers that a session can be given."""
    begins_with: str
    """The model that was connected here, of sessions that are begun; empty: the core's own."""
    painted: asyncio.Event
    """Set once the first screen has been drawn with something on it."""
    start_phone: StartPhone | None = None
    dispatcher: Dispatcher
    navigation: Navigates
    keyboard: Presses
    redraw: Redraws
    signals: Signals

    only_looks: bool
    """Whether the core that is shown refuses whatever changes something."""
    beside: PhoneBeside
    """Where it is told which phone is looked at."""

    @property
    def has_terminal_to_lend(self) -> bool:
        """Whether another program could have the terminal for a while; a browser is none."""
        return self._driver is not None and self._driver.can_suspend and not self.is_web

    @property
    def top(self) -> TopScreen | None:
        """The console screen that is seen, also under a dialog."""
        raise NotImplementedError

    def now_ms(self) -> int:
        raise NotImplementedError

    def refresh_top(self) -> None:
        """Show the picture on the screen that is seen."""
        raise NotImplementedError

    async def action_act(self, action_id: str) -> None:
        raise NotImplementedError

    def show_reminder(self, one: Attention) -> None:
        """Show what waits where it is dealt with: on the Jobs screen."""
        raise NotImplementedError

    def say(self, text: str, *, tone: str = "information") -> None:
        """Show a notice; foreign text is fine."""
        raise NotImplementedError

    def request(
        self, op: Op, *, done: str = "", refused: Callable[[SwitchboardError], object] | None = None
    ) -> None:
        """Send an op without waiting; what it fails with becomes a notice, told to `refused`."""
        raise NotImplementedError

    def ask(self, op: Op) -> Coroutine[Any, Any, Reply | None]:
        """Send an op and wait for its reply; None when it failed, which was said."""
        raise NotImplementedError

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Run something beside the keys; what it fails with becomes a notice."""
        raise NotImplementedError

    def panic(self, *renderables: RenderableType) -> None:
        # Textual says why, and would end as if all were well.
        self._return_code = self._return_code or 1
        super().panic(*renderables)

    def on_terminal_notice(self, event: TerminalNotice) -> None:
        self.say(event.text, tone="warning")

    def copy(self, text: str) -> None:
        """Copy a text to the terminal's clipboard and to a file, and say where."""
        raise NotImplementedError
