"""A picture that rests, drawn as an image over its own cells, and taken away before anything is.

The cells stay the picture: an image only lies over them. Not for the Wall, nor for a browser.
Invariants: before any text is written, an image that would be wrong after it is taken away, in the
same stream; it is wrong as soon as its cells, its place, the screen's size or what lies over it are
others; a terminal that refuses an image gets none any more.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import struct
import termios
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.geometry import Region, Size

from agent.records import FrameStatus, LiveFrame
from agent.text import one_line
from console.frames.graphics import Graphics, Pictures, may_ask, why_not_asked
from console.frames.images import Images, KittyImages, Place, SixelImages
from console.frames.output import backlog_of, is_suspended
from console.terminal_input.byte_gate import ByteGate
from console.terminal_input.gated_driver import TerminalNotice
from widgets.cells import direct_route
from widgets.pictures.crop import cropped, whole_px
from widgets.pictures.frame_view import FrameView

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

_log = logging.getLogger(__name__)
REST_S = 1.0
"""A picture that has not changed for so long is drawn as an image; longer than a cursor's blink."""
LOOK_HZ = 4.0
_USUAL_CELL_PX = (8, 16)
_MOST_PX = 4_000_000  # Of one image; twelve megabytes.

Read = Callable[[int, int], Awaitable[LiveFrame | None]]


class Source(NamedTuple):
    """A picture that may rest, and where a larger one of the same moment comes from."""

    view: FrameView
    read: Read  # Gets width and height in pixels.


class _Shown(NamedTuple):
    """What an image was drawn over; another of any of these and the image is wrong."""

    screen: Screen[Any]
    place: Region
    screen_size: Size
    cells_sent: int
    times_left: int


class Stills:
    """At most one image on the terminal.

    Args:
        app: whose terminal.
        wanted: the setting `ui.pictures`.
    """

    def __init__(self, app: App[Any], wanted: Pictures) -> None:
        self._app = app
        self._graphics = Graphics(wanted, image_id=1 + secrets.randbelow(0xFFFFFF))
        self._images: Images | None = None
        self._shown: tuple[FrameView, _Shown] | None = None
        self._drawn_at_s = 0.0
        self._not_before_s = 0.0
        self._reading = False
        self._said: set[str] = set()

    @property
    def is_shown(self) -> bool:
        """Whether there is an image on the terminal."""
        return self._shown is not None

    # --- asking ----------

    def begin(self) -> None:
        """Ask the terminal what it draws, if it may be asked; call once the app has a driver."""
        driver: Any = self._app._driver
        gate = getattr(driver, "gate", None)
        if not isinstance(gate, ByteGate) or not getattr(driver, "input_tty", False):
            return
        # What is drawn past Textual needs a Textual that was tried.
        if not direct_route.is_known_textual():
            return
        if not may_ask(self._graphics.wanted, os.environ):
            self._say(why_not_asked(self._graphics.wanted, os.environ))
            return
        loop = self._app._loop
        assert loop is not None
        driver.hear = lambda kind, said: loop.call_soon_threadsafe(self._hear, kind, said)
        gate.await_one()
        driver.write(self._graphics.first_question())

    def _hear(self, kind: str, said: str) -> None:
        graphics = self._graphics
        graphics.hear(kind, said)
        driver: Any = self._app._driver
        if driver is None:
            return
        if graphics.asks_kitty:
            graphics.asks_kitty = False
            images = KittyImages(graphics.image_id)
            if (question := images.question()) is not None:
                self._images = images
                driver.gate.await_one()
                driver.write(question)
        elif kind == "kitty" and self._images is not None:
            # It was read, or refused: in either case nobody will read it any more.
            self._images.forget()
            if graphics.drawn_as is Pictures.CELLS:
                self.withdraw()
        if graphics.drawn_as is Pictures.SIXEL and self._images is None:
            self._images = SixelImages()
        self._say(graphics.refusal or self._why_no_colours())

    def _why_no_colours(self) -> str:
        """Return why no picture is seen though the terminal draws images; empty if one is."""
        has_few = self._app.console.color_system == "standard"
        if self._graphics.drawn_as is Pictures.CELLS or not has_few:
            return ""
        term = one_line(os.environ.get("TERM", ""), 40)
        return (
            f"TERM={term} stands for a terminal of 16 colours, so phones are shown as text. This "
            "terminal draws images: set TERM=xterm-256color or COLORTERM=truecolor."
        )

    def _say(self, text: str) -> None:
        if text and text not in self._said:
            self._said.add(text)
            self._app.post_message(TerminalNotice(text))

    # --- drawing ----------

    def look(self, source: Source | None) -> None:
        """Draw the picture as an image if it rests and nothing lies over it."""
        if source is None or self._reading or self._graphics.drawn_as is Pictures.CELLS:
            return
        view, driver = source.view, self._app._driver
        backlog = backlog_of(driver)
        redrawn_s = view.redrawn_s
        is_done = self._shown is not None and self._drawn_at_s == redrawn_s
        is_due = view.has_picture and view.rested_s() >= REST_S and not is_done
        is_busy = is_suspended(driver) or (backlog is not None and backlog.pending > 0)
        if not is_due or is_busy or time.monotonic() < self._not_before_s:
            return
        if self._place_of(view) is None:
            return
        self._reading = True
        # What comes to nothing is not asked of a phone four times a second.
        self._not_before_s = time.monotonic() + REST_S
        self._app.run_worker(self._draw(source, redrawn_s), name="still", exit_on_error=False)

    async def _draw(self, source: Source, redrawn_s: float) -> None:
        view, images = source.view, self._images
        try:
            columns, rows = view.size
            cell = self._cell_px()
            if images is None or (images.needs_cell_px and cell is None):
                return
            cell_px = cell or _USUAL_CELL_PX
            size_px = columns * cell_px[0], rows * cell_px[1]
            if not 0 < size_px[0] * size_px[1] <= _MOST_PX:
                return
            part = view.part
            frame = await source.read(*whole_px(size_px, part))
            good = frame is not None and frame.status in (FrameStatus.LIVE, FrameStatus.STATIC)
            # What moved in the meantime is tried again once it rests.
            if frame is not None and frame.rgb and good and view.redrawn_s == redrawn_s:
                self._show(view, cropped(frame, part, size_px), images, cell_px)
                self._drawn_at_s = redrawn_s
        finally:
            self._reading = False

    def _show(
        self, view: FrameView, frame: LiveFrame, images: Images, cell_px: tuple[int, int]
    ) -> None:
        place, parts, driver = self._place_of(view), view.unmarked_parts(), self._app._driver
        if place is None or not parts or is_suspended(driver):
            return
        seen = Place(place.x, place.y, (view.size.width, view.size.height), parts)
        try:
            text = images.text(frame, cell_px, seen)
        except OSError as error:
            _log.warning("A picture could not be handed to the terminal: %s", error)
            self._graphics.drawn_as = Pictures.CELLS
            return
        if not images.lies_above:
            # Konsole paints black what a sixel image leaves out.
            text += view.marked_text(place.x, place.y)
        gate = getattr(driver, "gate", None)
        if isinstance(gate, ByteGate):
            gate.await_one()
        self.withdraw()
        if direct_route.show(view, lambda x, y: text):
            self._shown = view, self._now(view, place)
            driver.farewell = images.taken_away()  # type: ignore[union-attr]

    # --- taking away ----------

    def before_text(self, renderable: object) -> None:
        """Take the image away if it would be wrong once this is on the terminal."""
        if self._shown is None or self._images is None:
            return
        view, shown = self._shown
        place = direct_route.clear_place(view)
        overwritten = not self._images.lies_above and direct_route.covers(renderable, shown.place)
        if place is None or view.drawn is None or overwritten or self._now(view, place) != shown:
            self.withdraw()

    def withdraw(self) -> None:
        """Take the image away; its cells are seen again."""
        if self._shown is None or self._images is None:
            return
        view, _ = self._shown
        self._shown = None
        driver: Any = self._app._driver
        if driver is None:
            return
        driver.farewell = ""
        if text := self._images.taken_away():
            driver.write(text)
        elif view.is_attached:
            # Text over it is what takes it away.
            view.refresh()

    def repair(self) -> None:
        """Take away whatever is there, after a terminal has missed some of what was written."""
        driver, self._shown = self._app._driver, None
        if driver is not None and self._images is not None:
            driver.write(self._images.taken_away())

    def close(self) -> None:
        """Leave nothing behind in memory."""
        if self._images is not None:
            self._images.forget()

    # --- where ----------

    def _now(self, view: FrameView, place: Region) -> _Shown:
        times_left = getattr(self._app._driver, "times_left", 0)
        return _Shown(self._app.screen, place, self._app.size, view.cells_sent, times_left)

    def _place_of(self, view: FrameView) -> Region | None:
        """Return where the picture is; None where an image would not be alone, or would scroll."""
        if not view.is_attached or view.screen is not self._app.screen:
            return None
        place = direct_route.clear_place(view)
        return place if place is not None and place.bottom < self._app.size.height else None

    def _cell_px(self) -> tuple[int, int] | None:
        """Return the size of a cell as the terminal reports it (TIOCGWINSZ), or None."""
        descriptor = getattr(self._app._driver, "fileno", None)
        if not isinstance(descriptor, int):
            return None
        try:
            told = fcntl.ioctl(descriptor, termios.TIOCGWINSZ, b"\0" * 8)
        except OSError:
            return None
        rows, columns, wide, high = struct.unpack("HHHH", told)
        if not (rows and columns and wide >= columns and high >= rows):
            return None
        return wide // columns, high // rows


class ShowsStills:
    """Mix in before an app class: whatever Textual writes, a wrong image is taken away first."""

    stills: Stills

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        self.stills.before_text(renderable)
        super()._display(screen, renderable)  # type: ignore[misc]
