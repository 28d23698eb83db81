"""What every screen of the console has: header, footer, size classes, a word when it is too small.

Not a screen itself. Invariants: resizing moves no scroll position and loses no text, because
nothing is mounted again; an action that cannot be done now is not in the footer.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from agent.state.reducer import State
from console.screens.base.framed_screen import FramedScreen
from console.screens.base.header_footer import TOO_SMALL, HeaderFooter, is_small
from widgets.base.action_line import ActionLine
from widgets.base.fault_isolation import is_leaving
from widgets.base.header_line import PartsLine

if TYPE_CHECKING:
    from console.frames.stills import Source

OPENING = "Opening …"
"""What stands where nothing is known yet: that there is none would be a guess."""


class ConsoleScreen(FramedScreen):
    """A screen of the console."""

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 -- Textual declares it on the instance
        (0, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]  # noqa: RUF012

    _frame_shown = -1
    _sizes: tuple[tuple[str | None, Size], ...] = ()
    _got_composed = False  # Whether composing came to its end.

    def __init__(self) -> None:
        super().__init__()
        self.header_footer = HeaderFooter(self)

    def _get_dispatch_methods(
        self, method_name: str, message: Message
    ) -> Iterable[tuple[type, Callable[[Message], Awaitable[Any]]]]:
        """Let the controllers hear a message after the screen, in methods `on_…` of theirs."""
        yield from super()._get_dispatch_methods(method_name, message)
        for controller in (*self.controllers, self.header_footer):
            method = getattr(controller, method_name, None)
            if method is not None and not message._no_default_action:
                yield type(controller), method

    def on_mount(self) -> None:
        self.is_composed = self._got_composed
        if not self._got_composed:
            # What is empty shows no notice of why, either.
            self.app.call_later(_go_away, self)
            return
        # Before the first picture, which would be an empty one, and again with the widths it gave.
        self.refresh_all()
        self.call_after_refresh(_show_measured, self)
        self.screen_layout_refresh_signal.subscribe(self, self._on_laid_out, immediate=True)

    def _on_laid_out(self, _screen: Screen[None]) -> None:
        """Show the picture again where what it is shown in has another size now."""
        widgets = self.query_one("#body").walk_children(Widget)
        sizes = tuple((widget.id, widget.size) for widget in widgets if widget.id)
        if sizes != self._sizes:
            self._sizes = sizes
            self.call_later(self.refresh_all)

    # --- what a screen has ----------

    def compose(self) -> ComposeResult:
        _fit(self)
        yield ActionLine(id="header")
        yield PartsLine(id="standing")
        yield from self.compose_tabs()
        with Container(id="body"):
            yield from self.compose_body()
        yield ActionLine(id="footer")
        yield PartsLine(TOO_SMALL, id="too-small")
        self._got_composed = True

    def compose_tabs(self) -> ComposeResult:
        """Return what is under the header."""
        yield from ()

    def compose_body(self) -> ComposeResult:
        """Return what is between header and footer."""
        yield from ()

    def show_state(self, state: State) -> None:
        """Show the picture; called at most once a tick, and once a second for ages."""

    def show_frame(self) -> None:
        """Show the newest frame; called at most once a tick, only while on top."""

    def tick_frames(self) -> None:
        """Show what came since the last time; called while the terminal takes pictures."""
        version = self.console_app.feed.version
        if version != self._frame_shown:
            self._frame_shown = version
            self.show_frame()

    def still(self) -> "Source | None":
        """Return the picture that may be drawn as an image while it rests."""
        return None

    def back(self) -> bool:
        """Go one layer back; False when there is none on this screen."""
        return False

    def if_known(self, fact: str, invitation: str = "") -> str:
        """Return what is to be said of an empty place, or that the core is still being opened.

        Args:
            fact: what is not there.
            invitation: what fills the place; not said where the console only looks.
        """
        if self.console_app.bridge.is_opening:
            return OPENING
        return fact if self.console_app.only_looks or not invitation else f"{fact} {invitation}"

    # --- keeping it fresh ----------

    def refresh_all(self) -> None:
        """Show the picture, header and footer again."""
        if not self.is_composed or is_leaving(self) or self not in self.app.screen_stack:
            # Asked for a moment ago, it may come to a screen that has been left meanwhile.
            return
        self.show_state(self.console_app.bridge.state)
        self.show_header()
        self.show_footer()

    def focus_now(self, widget: Widget) -> None:
        """Focus something that may just have been shown: the next key already belongs to it."""
        self.app.stylesheet.update(self, animate=False)
        self.set_focus(widget)
        self.show_footer()

    # --- header and footer ----------

    def show_header(self) -> None:
        """Show where we are and what waits."""
        self.header_footer.show_header()

    def show_footer(self) -> None:
        """Show what the keys do here, as many as there is room for, or what is to be confirmed."""
        self.header_footer.show_footer()

    def footer_keys(self) -> list[tuple[str, str]]:
        """List keys and words for the footer, most useful first."""
        return self.header_footer.keys()


def _fit(screen: ConsoleScreen) -> None:
    """Give a screen the classes of its size, which Textual gives only after it drew once."""
    width, height = screen.app.size
    ways = ((width, screen.HORIZONTAL_BREAKPOINTS), (height, screen.VERTICAL_BREAKPOINTS))
    for cells, breakpoints in ways:
        fitting = max((least, name) for least, name in breakpoints or () if cells >= least)
        screen.add_class(fitting[1], update=False)
    screen.set_class(is_small(width, height), "-tiny", update=False)


def _go_away(screen: ConsoleScreen) -> None:
    """Close a screen that could not be composed, where there is another below it."""
    below = screen.app.screen_stack[-2:-1]
    if screen.app.screen is screen and any(isinstance(one, ConsoleScreen) for one in below):
        screen.app.pop_screen()


def _show_measured(screen: ConsoleScreen) -> None:
    screen.refresh_all()
    screen.console_app.painted.set()
