"""The picture of a phone: cells at the size it has, numbers and the last touch drawn over.

Draws what it is given and asks nobody. Invariants: only cells that changed are drawn; noise of one
step is not, until the picture rests, and then it is exact; nothing is worked out for a picture
that nobody sees; of a zoomed picture every place, in and out, is one of the phone's screen.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.events import MouseDown, MouseScrollDown, MouseScrollUp, MouseUp
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from agent.records import Bounds, Element, LiveFrame, Point
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.gesture import Hand, Touch, place
from widgets.cells.live_cells import LiveCells
from widgets.pictures.crop import box_px, whole_px
from widgets.pictures.zoom import WHOLE, bounds_in_view, in_view, on_screen

if TYPE_CHECKING:
    from widgets.cells.cells import Cells
    from widgets.cells.rgb565 import Pixels565

STILL_S = 0.3  # After so long without a new picture the noise that was left out is drawn.


class FrameView(FaultIsolated, LiveCells):
    """A phone's screen in cells."""

    DEFAULT_CSS = """
    FrameView { width: 1fr; height: 1fr; }
    """
    can_focus = False

    class Resized(Message):
        """The number of cells changed: frames of another size are wanted."""

        def __init__(self, view: FrameView) -> None:
            super().__init__()
            self.view = view

    class Touched(Message):
        """A finger, or a mouse with this button, came down on the picture and went up."""

        def __init__(self, touch: Touch, button: int) -> None:
            super().__init__()
            self.touch = touch
            self.button = button

    class Scrolled(Message):
        """The wheel of the mouse was turned over the picture; down is 1, up is -1."""

        def __init__(self, at: Point, down: int, *, ctrl: bool = False) -> None:
            super().__init__()
            self.at = at
            self.down = down
            self.ctrl = ctrl

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.hand = Hand()
        self.numbers_shown = True
        self._source: LiveFrame | None = None
        self._fitted: Pixels565 | None = None
        self._settled: Pixels565 | None = None
        self._elements: Sequence[Element] = ()
        self._touch: Point | None = None
        self._path: Sequence[Point] = ()
        self._is_faded = False
        self._chosen: Bounds | None = None
        self._part = WHOLE
        self._resting: Timer | None = None
        self._redrawn_s = 0.0
        self._is_held = self._is_due = False

    # --- what to show ----------

    def show_frame(self, frame: LiveFrame | None) -> None:
        """Show a frame; None or an empty one clears the picture."""
        source = None if frame is None or not frame.rgb else frame
        if source is not None and self._source is not None and _is_same(source, self._source):
            # The same picture, told anew: only its label is another.
            return
        self._source, self._fitted = source, None
        self._redraw()

    def show_marks(
        self,
        elements: Sequence[Element],
        touch: Point | None,
        path: Sequence[Point] = (),
        *,
        faded: bool = False,
    ) -> None:
        """Show the numbers a model sees, where it last touched, and the way of its finger.

        `faded` marks are of a screen that is another by now.
        """
        shown = (self._touch, self._path, self._is_faded)
        if elements is self._elements and (touch, path, faded) == shown:
            return
        self._elements, self._touch, self._path = elements, touch, path
        self._is_faded = faded
        self._redraw()

    def show_chosen(self, bounds: Bounds | None) -> None:
        """Draw the corners of one element, or of none."""
        if bounds != self._chosen:
            self._chosen = bounds
            self._redraw()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Draw what changes in the block as one: never a picture with another's marks."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            if self._is_due:
                self._is_due = False
                self._redraw()

    @property
    def part(self) -> Bounds:
        """The part of the phone's screen that is seen."""
        return self._part

    def show_part(self, part: Bounds) -> None:
        """Show a part of the phone's screen in all of the view."""
        if part != self._part:
            self._part, self._fitted, self._settled = part, None, None
            self._redraw()
            self.post_message(self.Resized(self))

    def show_numbers(self, shown: bool) -> None:
        """Draw the element numbers, or do not."""
        self.numbers_shown = shown
        self._redraw()

    @property
    def has_picture(self) -> bool:
        """Whether there is anything to see."""
        return self._source is not None

    @property
    def redrawn_s(self) -> float:
        """When the picture or what is drawn over it was last another; monotonic."""
        return self._redrawn_s

    def rested_s(self) -> float:
        """Return how long picture and overlay have been the same, in seconds."""
        return time.monotonic() - self._redrawn_s

    def unmarked_parts(self) -> list[Region]:
        """Cut the cells that nothing is drawn over into rectangles; none without a picture."""
        if self.drawn is None or self._settled is None or self.is_colourless:
            return []
        from widgets.cells import frame_marks

        return frame_marks.unmarked(self.drawn.cells.differs(self.blocks.cells(self._settled)))

    def marked_text(self, x: int, y: int) -> str:
        """Return the text that draws the cells over the picture, whose corner is at x, y."""
        if self.drawn is None or self._settled is None:
            return ""
        marked = self.drawn.cells.differs(self.blocks.cells(self._settled))
        return self.drawn.changes(marked, self.app.console, x=x, y=y)

    # --- hands ----------

    def on_mouse_down(self, event: MouseDown) -> None:
        self.hand.press(event.x, event.y)
        # A drag that leaves the picture ends where it left it.
        self.capture_mouse()

    def on_mouse_up(self, event: MouseUp) -> None:
        self.release_mouse()
        touch = self.hand.release(event.x, event.y, (self.size.width, self.size.height))
        if touch is not None:
            start, end = on_screen(touch.start, self._part), on_screen(touch.end, self._part)
            self.post_message(self.Touched(touch._replace(start=start, end=end), event.button))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self._scrolled(event, 1)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self._scrolled(event, -1)

    def _scrolled(self, event: MouseScrollDown | MouseScrollUp, down: int) -> None:
        if all(self.size):
            at = place(event.x, event.y, (self.size.width, self.size.height))
            self.post_message(self.Scrolled(on_screen(at, self._part), down, ctrl=event.ctrl))

    # --- drawing ----------

    @property
    def wanted_px(self) -> tuple[int, int]:
        """Width and height of the whole picture whose part that is seen is shown pixel by pixel."""
        return whole_px(self._drawn_px, self._part)

    @property
    def _drawn_px(self) -> tuple[int, int]:
        size, blocks = self.size, self.blocks
        return size.width * blocks.across, size.height * blocks.down

    def _redraw(self) -> None:
        if self._is_held:
            self._is_due = True
            return
        self._redrawn_s = time.monotonic()
        columns, rows = self.size
        if self._source is None or not columns or not rows or not self.is_on_screen:
            self._settled = None
            self.show_cells(None)
            return
        from widgets.cells.rgb565 import fit, of_rgb, settle

        wide, high = self._drawn_px
        if self._fitted is None or self._fitted.shape != (high, wide):
            frame = self._source
            pixels = of_rgb(frame.rgb, frame.width_px, frame.height_px)
            if self._part != WHOLE:
                left, top, right, bottom = box_px((frame.width_px, frame.height_px), self._part)
                pixels = pixels[top:bottom, left:right]
            self._fitted = fit(pixels, high, wide)
        before, self._settled = self._settled, self._fitted
        if before is not None:
            self._settled = settle(before, self._fitted)
            if self._settled is not self._fitted:
                self._rest_later()
        self.show_cells(self._draw(self._settled))

    def _rest_later(self) -> None:
        if self._resting is None:
            self._resting = self.set_timer(STILL_S, self._rest)
        else:
            self._resting.reset()

    def _rest(self) -> None:
        self._resting = None
        self._settled = None
        self._redraw()

    def _draw(self, pixels: Pixels565) -> Cells:
        from widgets.cells import frame_marks

        cells = self.blocks.cells(pixels)
        chosen, touch, path, elements = self._chosen, self._touch, self._path, self._elements
        if (part := self._part) != WHOLE:
            chosen = None if chosen is None else bounds_in_view(chosen, part)
            touch = None if touch is None else _inside(in_view(touch, part))
            path = [at for one in path if (at := _inside(in_view(one, part))) is not None]
            elements = [
                replace(one, bounds=bounds)
                for one in elements
                if (bounds := bounds_in_view(one.bounds, part)) is not None
            ]
        if chosen is not None:
            frame_marks.draw_chosen(cells, chosen)
        frame_marks.draw_path(cells, path)
        if touch is not None:
            frame_marks.draw_touch(cells, touch)
        if self.numbers_shown:
            frame_marks.draw_numbers(cells, elements, faded=self._is_faded)
        return cells

    def on_show(self) -> None:
        self._redraw()

    def on_resize(self) -> None:
        self._settled = None
        self._redraw()
        self.post_message(self.Resized(self))

    def render_lines(self, crop: Region) -> list[Strip]:
        # The route that Textual's own caches do not slow down: filters and borders are bypassed,
        # so the border is the parent's, and colourless terminals get the text map in its place.
        base = self.ground
        blank = Strip.blank(crop.width, base)
        if self.drawn is None:
            return [blank] * crop.height
        strips = self.picture_strips(crop.y, crop.bottom)
        strips += [blank] * (crop.height - len(strips))
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width


def _inside(at: Point) -> Point | None:
    """Return a place in the view; None where it is outside of it."""
    return at if 0.0 <= at.x <= 1.0 and 0.0 <= at.y <= 1.0 else None


def _is_same(one: LiveFrame, other: LiveFrame) -> bool:
    return one.width_px == other.width_px and one.rgb == other.rgb
