"""The wall: every phone live in one widget, under a cursor that moves in two directions.

One widget and not one a phone: Textual's partial update asks every widget between two dirty
regions for all its lines. Draws what it is given. Invariants: the cursor stays on its phone (by
serial) when phones come, go or move; pictures that nobody sees are neither wanted nor worked on;
everything that is said reads without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from agent.records import LiveFrame
from widgets.base.fault_isolation import FaultIsolated
from widgets.cells.live_cells import LiveCells
from widgets.wall.tile_picture import TilePicture, size_px
from widgets.wall.tile_text import empty_strips, row_strip
from widgets.wall.wall_canvas import WallCanvas
from widgets.wall.wall_layout import FOOT_ROWS, HEAD_ROWS, Spot, Tile, WallLayout, lay_out


class WallView(FaultIsolated, LiveCells, can_focus=True):
    """All phones."""

    DEFAULT_CSS = """
    WallView { width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(0, 1)", "Down", show=False, id="view.down"),
        Binding("up,k", "move(0, -1)", "Up", show=False, id="view.up"),
        Binding("right,l", "move(1, 0)", "Right", show=False, id="wall.right"),
        Binding("left,h", "move(-1, 0)", "Left", show=False, id="wall.left"),
        Binding("g,home", "go('first')", "First", show=False, id="view.first"),
        Binding("G,end", "go('last')", "Last", show=False, id="view.last"),
        Binding("ctrl+d,pagedown", "page(1)", "A page down", show=False, id="view.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "A page up", show=False, id="view.page_up"),
        Binding("enter", "open", "Open", show=False),
    ]

    class Opened(Message):
        """The operator wants to see one phone large."""

        def __init__(self, serial: str) -> None:
            super().__init__()
            self.serial = serial

    class Moved(Message):
        """The cursor, the size or what is seen changed: other pictures may be wanted."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty
        self.cursor = ""
        self.top_row = 0
        self._tiles: tuple[Tile, ...] = ()
        self._pictures: dict[str, TilePicture] = {}
        self._due: dict[str, None] = {}
        self._boxes: dict[str, tuple[Tile, Region]] = {}
        self._canvas: WallCanvas | None = None
        self._layout = lay_out(0, 0, 0)
        self._strips: dict[int, Strip] = {}

    # --- what is seen ----------

    @property
    def has_nothing(self) -> bool:
        """Whether there is nothing to move to."""
        return not self._tiles

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """Every phone there is."""
        return self._tiles

    @property
    def plan(self) -> WallLayout:
        """Where tiles are."""
        return self._layout

    @property
    def first(self) -> int:
        """The number of the first tile that is seen."""
        return self.top_row * self._layout.across

    @property
    def seen(self) -> tuple[Tile, ...]:
        """The tiles that are seen, in their places."""
        return self._tiles[self.first : self.first + self._layout.capacity]

    @property
    def wanted_px(self) -> dict[str, tuple[int, int]]:
        """The size in pixels at which the picture of each phone that is seen is wanted."""
        if not self._layout.picture_rows or self.is_colourless or not self.is_on_screen:
            return {}
        box = (self._layout.columns, self._layout.picture_rows)
        blocks = self.blocks
        return {tile.serial: size_px(box, tile.proportions, blocks) for tile in self.seen}

    # --- what is shown ----------

    def say_when_empty(self, sentence: str) -> None:
        """Set what stands here while there are no phones."""
        if sentence != self.empty:
            self.empty = sentence
            self.refresh()

    def show_tiles(self, tiles: Sequence[Tile]) -> None:
        """Show these phones; the cursor keeps its own, or takes the one in its place."""
        fresh = tuple(tiles)
        if fresh == self._tiles:
            return
        old = self._tiles
        places = [tile.serial for tile in old]
        self._tiles = fresh
        serials = {tile.serial for tile in fresh}
        for gone in self._pictures.keys() - serials:
            del self._pictures[gone]
            self._due.pop(gone, None)
        if self.cursor not in serials:
            at = places.index(self.cursor) if self.cursor in places else 0
            self.cursor = fresh[min(at, len(fresh) - 1)].serial if fresh else ""
        if [(tile.serial, tile.proportions) for tile in old] == [
            (tile.serial, tile.proportions) for tile in fresh
        ]:
            self._find_boxes()
            pairs = zip(old, fresh, strict=True)
            changed = {new.serial for was, new in pairs if was != new}
            self._tell(changed)
        else:
            self._arrange()

    def show_frames(self, frames: Mapping[str, LiveFrame], *, budget_cells: int) -> None:
        """Take new frames and draw what the budget allows: the phone under the cursor first, then
        those that have waited longest; the rest stays for the next call.
        """
        boxes = self._boxes
        for serial, frame in frames.items():
            if serial in boxes:
                picture = self._pictures.setdefault(serial, TilePicture())
                if picture.take(frame):
                    self._due.setdefault(serial)
        canvas, now_s = self._canvas, monotonic()
        if canvas is None or not self._layout.picture_rows:
            return
        if canvas.blocks is not self.blocks:
            self._draw_all()
            return
        order = [serial for serial in self._due if serial == self.cursor]
        order += [serial for serial in self._due if serial != self.cursor]
        a_picture = self._layout.columns * self._layout.picture_rows
        order = order[: max(1, -(-budget_cells // a_picture))]
        for serial in order:
            del self._due[serial]
        pictures = self._pictures
        resting = {s for s in boxes if s in pictures and pictures[s].may_rest(now_s)}
        resting.difference_update(order)
        if order or resting:
            self._put(canvas, [*order, *resting], now_s, exact=resting)
            self.show_cells(canvas.draw())

    def _put(
        self, canvas: WallCanvas, serials: Iterable[str], now_s: float, *, exact: Set[str]
    ) -> None:
        """Put pictures where they belong on the canvas; those of `exact` with their noise."""
        boxes = self._boxes
        put = [
            (tile, self._pictures.setdefault(tile.serial, TilePicture()), box)
            for tile, box in (boxes[serial] for serial in serials if serial in boxes)
        ]
        TilePicture.fit_all(
            (
                (picture, size_px(box.size, tile.proportions, canvas.blocks))
                for tile, picture, box in put
            ),
            now_s,
        )
        for tile, picture, box in put:
            word = tile.missing or picture.word
            is_held = canvas.put(box, picture.pixels, word, exact=tile.serial in exact)
            picture.note_drawn(is_held=is_held)

    def _arrange(self) -> None:
        """Place every tile anew."""
        columns, rows = self.size
        if not columns or not rows:
            return
        self._layout = lay_out(len(self._tiles), columns, rows, pictures=not self.is_colourless)
        self._scroll_to_cursor()
        self._draw_all()

    def _draw_all(self) -> None:
        columns, rows = self.size
        self._due.clear()
        self._find_boxes()
        canvas = self._canvas = WallCanvas(columns, rows, self.blocks)
        if self._layout.picture_rows:
            self._put(canvas, self._boxes, monotonic(), exact=frozenset())
        self._strips.clear()
        self.drawn = None
        self.show_cells(canvas.draw())
        self.refresh()
        self.post_message(self.Moved())

    def _find_boxes(self) -> None:
        """Note where the picture of each phone that is seen belongs."""
        layout = self._layout
        self._boxes = {}
        for at, tile in enumerate(self.seen):
            spot = layout.spot(at)
            box = Region(spot.column, spot.row + HEAD_ROWS, layout.columns, layout.picture_rows)
            self._boxes[tile.serial] = tile, box

    def _tell(self, serials: set[str]) -> None:
        """Draw the text of these tiles again, and what their pictures lack."""
        touched: set[int] = set()
        for at, tile in enumerate(self.seen):
            if tile.serial in serials:
                touched.update(self._text_rows(self._layout.spot(at)))
                self._due.setdefault(tile.serial)
        self._redraw_rows(touched)

    def _redraw_rows(self, rows: set[int]) -> None:
        rows = {row for row in rows if row < self.size.height}
        for row in rows:
            self._strips.pop(row, None)
        if rows:
            self.refresh(*(Region(0, row, self.size.width, 1) for row in sorted(rows)))

    def _text_rows(self, spot: Spot) -> list[int]:
        foot = spot.row + HEAD_ROWS + self._layout.picture_rows
        return [*range(spot.row, spot.row + HEAD_ROWS), *range(foot, foot + FOOT_ROWS)]

    # --- keys and mouse ----------

    def _at(self) -> int:
        serials = [tile.serial for tile in self._tiles]
        return serials.index(self.cursor) if self.cursor in serials else 0

    def go_to(self, at: int) -> None:
        """Put the cursor on the tile of this number, and show it."""
        if not self._tiles:
            return
        before = self.cursor
        self.cursor = self._tiles[max(0, min(len(self._tiles) - 1, at))].serial
        if self.cursor == before:
            return
        if self._scroll_to_cursor():
            self._draw_all()
        else:
            touched = {
                row
                for number, tile in enumerate(self.seen)
                if tile.serial in (before, self.cursor)
                for row in self._text_rows(self._layout.spot(number))
            }
            self._redraw_rows(touched)
            self.post_message(self.Moved())

    def _scroll_to_cursor(self) -> bool:
        """Show the row of the cursor; returns whether other rows are seen now."""
        before = self.top_row
        row = self._at() // self._layout.across
        last = max(0, self._layout.rows_of(len(self._tiles)) - self._layout.down)
        self.top_row = min(max(self.top_row, row - self._layout.down + 1), row, last)
        return self.top_row != before

    def action_move(self, right: int, down: int) -> None:
        """Move the cursor by tiles."""
        at, across = self._at(), self._layout.across
        to = at + right + down * across
        if down > 0 and to >= len(self._tiles) and at // across < (len(self._tiles) - 1) // across:
            to = len(self._tiles) - 1
        if 0 <= to < len(self._tiles):
            self.go_to(to)

    def action_page(self, direction: int) -> None:
        """Move the cursor by as many rows as are seen."""
        self.go_to(self._at() + direction * self._layout.across * self._layout.down)

    def action_go(self, where: str) -> None:
        """Move the cursor to the first or last tile."""
        self.go_to(len(self._tiles) if where == "last" else 0)

    def action_open(self) -> None:
        """Open the phone under the cursor."""
        if self.cursor:
            self.post_message(self.Opened(self.cursor))

    def on_click(self, event: Click) -> None:
        row, across = event.y // self._layout.tile_rows, self._layout.columns + 1
        column = min(max(event.x - 1, 0) // across, self._layout.across - 1)
        at = self.first + row * self._layout.across + column
        if row >= self._layout.down or at >= len(self._tiles):
            return
        if self._tiles[at].serial == self.cursor:
            self.action_open()
        else:
            self.go_to(at)

    def on_mouse_scroll_down(self, _event: MouseScrollDown) -> None:
        self.action_move(0, 1)

    def on_mouse_scroll_up(self, _event: MouseScrollUp) -> None:
        self.action_move(0, -1)

    # --- drawing ----------

    def on_resize(self) -> None:
        self._arrange()

    def on_show(self) -> None:
        self.post_message(self.Moved())

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        if self.drawn is not None:
            # The size may be another already, before there was a Resize.
            self._arrange()

    def on_focus(self) -> None:
        self._tell({self.cursor})

    def on_blur(self) -> None:
        self._tell({self.cursor})

    def render_lines(self, crop: Region) -> list[Strip]:
        if not self._tiles or self.drawn is None:
            strips = empty_strips(self, self.empty, self.size.width)[crop.y : crop.bottom]
        else:
            pictures = self.picture_strips(crop.y, crop.bottom)
            strips = [
                self._line(row, pictures[row - crop.y] if row - crop.y < len(pictures) else None)
                for row in range(crop.y, crop.bottom)
            ]
        blank = Strip.blank(self.size.width, self.ground)
        strips += [blank] * (crop.height - len(strips))
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def _line(self, row: int, picture: Strip | None) -> Strip:
        within = row % self._layout.tile_rows
        is_text = within < HEAD_ROWS or within >= HEAD_ROWS + self._layout.picture_rows
        if not is_text and picture is not None:
            return picture
        strip = self._strips.get(row)
        if strip is None:
            first = row // self._layout.tile_rows * self._layout.across
            beside = self.seen[first : first + self._layout.across]
            number = within if within < HEAD_ROWS else within - self._layout.picture_rows
            strip = self._strips[row] = row_strip(
                self, beside, number, self._layout, cursor=self.cursor, width=self.size.width
            )
        return strip

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width
