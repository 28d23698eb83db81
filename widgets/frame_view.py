"""The picture of a phone: half blocks at the size it has, numbers and the last touch drawn over.

Draws what it is given and asks nobody. Invariants: only rows that changed are repainted; where
colour cannot be shown, a map of the elements stands in for the picture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.events import MouseDown, MouseScrollDown, MouseScrollUp, MouseUp
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from agent.records import Element, LiveFrame, Point
from agent.text import one_line
from widgets.frame_strip import FrameStrip
from widgets.half_blocks import Grid, Pixels565, fit, pack, settle, to_565
from widgets.sturdy import Sturdy
from widgets.touch import Hand, Touch, place

_CHIP_INK, _CHIP_PAPER = pack(16, 18, 22), pack(255, 209, 92)
_NEW_INK, _NEW_PAPER = pack(16, 18, 22), pack(126, 214, 160)
_TOUCH_INK, _TOUCH_PAPER = pack(255, 255, 255), pack(214, 51, 92)


class FrameView(Sturdy, Widget):
    """A phone's screen in half blocks."""

    DEFAULT_CSS = """
    FrameView { width: 1fr; height: 1fr; }
    """
    ALLOW_SELECT = False
    can_focus = False

    class Resized(Message):
        """The number of cells changed: frames of another size are wanted."""

        def __init__(self, columns: int, rows: int) -> None:
            super().__init__()
            self.columns = columns
            self.rows = rows

    class Touched(Message):
        """A finger, or a mouse with this button, came down on the picture and went up."""

        def __init__(self, touch: Touch, button: int) -> None:
            super().__init__()
            self.touch = touch
            self.button = button

    class Scrolled(Message):
        """The wheel of the mouse was turned over the picture; down is 1, up is -1."""

        def __init__(self, at: Point, down: int) -> None:
            super().__init__()
            self.at = at
            self.down = down

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.hand = Hand()
        self.numbers_shown = True
        self._pixels: Pixels565 | None = None
        self._source: Pixels565 | None = None
        self._elements: Sequence[Element] = ()
        self._touch: Point | None = None
        self._grid: Grid | None = None

    # --- what to show ----------

    def show_frame(self, frame: LiveFrame | None) -> None:
        """Show a frame; None or an empty one clears the picture."""
        if frame is None or not frame.rgb:
            source = None
        else:
            flat = np.frombuffer(frame.rgb, dtype=np.uint8)
            source = to_565(flat.reshape(frame.height_px, frame.width_px, 3))
        self._source = source
        self._redraw()

    def show_marks(self, elements: Sequence[Element], touch: Point | None) -> None:
        """Show the numbers a model sees and where it last touched."""
        if elements is self._elements and touch == self._touch:
            return
        self._elements, self._touch = elements, touch
        self._redraw()

    def show_numbers(self, shown: bool) -> None:
        """Draw the element numbers, or do not."""
        self.numbers_shown = shown
        self._redraw()

    @property
    def has_picture(self) -> bool:
        """Whether there is anything to see."""
        return self._source is not None

    # --- hands ----------

    def on_mouse_down(self, event: MouseDown) -> None:
        self.hand.press(event.x, event.y)
        # A drag that leaves the picture ends where it left it.
        self.capture_mouse()

    def on_mouse_up(self, event: MouseUp) -> None:
        self.release_mouse()
        touch = self.hand.release(event.x, event.y, (self.size.width, self.size.height))
        if touch is not None:
            self.post_message(self.Touched(touch, event.button))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self._scrolled(event.x, event.y, 1)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self._scrolled(event.x, event.y, -1)

    def _scrolled(self, column: int, row: int, down: int) -> None:
        if all(self.size):
            at = place(column, row, (self.size.width, self.size.height))
            self.post_message(self.Scrolled(at, down))

    # --- drawing ----------

    @property
    def _is_colourless(self) -> bool:
        return self.app.no_color or self.app.console.color_system in (None, "standard")

    def _redraw(self) -> None:
        old, self._grid = self._grid, self._draw()
        if old is None or self._grid is None or self._is_colourless:
            if old is not self._grid:
                self.refresh()
            return
        if (old.rows, old.columns) != (self._grid.rows, self._grid.columns):
            self.refresh()
            return
        rows = self._grid.changed_rows(old)
        if rows:
            self.refresh(*(Region(0, row, self.size.width, 1) for row in rows))

    def _draw(self) -> Grid | None:
        columns, rows = self.size
        if self._source is None or columns <= 0 or rows <= 0:
            self._pixels = None
            return None
        pixels = fit(self._source, rows, columns)
        self._pixels = pixels if self._pixels is None else settle(self._pixels, pixels)
        grid = Grid(self._pixels)
        if self._touch is not None:
            row, column = _cell(self._touch, grid)
            grid.mark(row, column - 1, "(●)", ink=_TOUCH_INK, paper=_TOUCH_PAPER)
        if self.numbers_shown:
            self._draw_numbers(grid)
        return grid

    def _draw_numbers(self, grid: Grid) -> None:
        taken: set[tuple[int, int]] = set()
        # On another screen everything is new, which says nothing.
        all_new = all(element.is_new for element in self._elements)
        for element in self._elements:
            chip = str(element.number)
            corner = Point(x=element.bounds.left, y=element.bounds.top)
            row, column = _cell(corner, grid)
            # A number sits on the element's middle line: the top edge often belongs to its parent.
            row = _cell(element.bounds.center, grid)[0]
            column = max(0, min(column, grid.columns - len(chip)))
            spot = {(row, at) for at in range(column, column + len(chip))}
            if spot & taken:
                continue
            taken |= spot | {(row, column - 1), (row, column + len(chip))}
            is_new = element.is_new and not all_new
            ink, paper = (_NEW_INK, _NEW_PAPER) if is_new else (_CHIP_INK, _CHIP_PAPER)
            grid.mark(row, column, chip, ink=ink, paper=paper)

    def on_resize(self) -> None:
        self._pixels = None
        self._grid = self._draw()
        self.post_message(self.Resized(self.size.width, self.size.height))

    def render_lines(self, crop: Region) -> list[Strip]:
        # The route that Textual's own caches do not slow down: filters and borders are bypassed,
        # so the border is the parent's and colourless terminals get a text map.
        base = Style() if self.app.no_color else self.visual_style.rich_style
        if self._grid is None:
            return [Strip.blank(crop.width, base)] * crop.height
        if self._is_colourless:
            lines = self._text_map(self._grid.rows, self._grid.columns)
            strips = [Strip([Segment(line, base)], self._grid.columns) for line in lines]
        else:
            truecolor = self.app.console.color_system == "truecolor"
            strips = [
                FrameStrip(self._grid, row, truecolor=truecolor)
                for row in range(crop.y, min(crop.bottom, self._grid.rows))
            ]
            strips = [Strip.blank(self._grid.columns, base)] * crop.y + strips
        blank = Strip.blank(crop.width, base)
        wanted = [strips[y] if y < len(strips) else blank for y in range(crop.y, crop.bottom)]
        return [strip.crop(crop.x, crop.right) for strip in wanted]

    def _text_map(self, rows: int, columns: int) -> list[str]:
        """Lay the labels of the elements out where they are on the screen."""
        cells = [[" "] * columns for _ in range(rows)]
        for element in self._elements:
            row, column = _place(element.bounds.left, element.bounds.center.y, rows, columns)
            text = f"{element.number} {one_line(element.label, columns)}".strip()
            for at, letter in enumerate(text[: columns - column], column):
                # A map of single cells: wide letters would push what stands to their right.
                cells[row][at] = letter if letter.isascii() else "·"
        return ["".join(line) for line in cells]

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width


def _place(x: float, y: float, rows: int, columns: int) -> tuple[int, int]:
    return min(rows - 1, max(0, int(y * rows))), min(columns - 1, max(0, int(x * columns)))


def _cell(at: Point, grid: Grid) -> tuple[int, int]:
    return _place(at.x, at.y, grid.rows, grid.columns)
