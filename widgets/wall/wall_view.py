"""The wall: every phone live in one widget, under a cursor that moves in two directions.

One widget and not one a phone: Textual's partial update asks every widget between two dirty
regions for all its lines. Draws what it is given. Invariants: the cursor stays on its phone (by
serial) when phones come, go or move; pictures that nobody sees are neither wanted nor worked on;
everything that is said reads without colour.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from time import monotonic
from types import MappingProxyType
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from agent.records import LiveFrame
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.rows import Line, Row
from widgets.cells.live_cells import LiveCells
from widgets.wall.tile_picture import TilePicture, size_px
from widgets.wall.tile_text import empty_strips, heading_strip, row_strip
from widgets.wall.wall_canvas import WallCanvas
from widgets.wall.wall_layout import Tile
from widgets.wall.wall_places import WallPlaces

_NO_HEADINGS: Mapping[str, Row] = MappingProxyType({})


def _place(tile: Tile) -> tuple[str, tuple[int, int], str]:
    return tile.serial, tile.proportions, tile.group


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
        self.places = WallPlaces()
        self._pictures: dict[str, TilePicture] = {}
        self._due: dict[str, None] = {}
        self._boxes: dict[str, tuple[Tile, Region]] = {}
        self._canvas: WallCanvas | None = None
        self._strips: dict[int, Strip] = {}
        self._headings: Mapping[str, Row] = {}

    # --- what is seen ----------

    @property
    def has_nothing(self) -> bool:
        return not self.places.tiles

    @property
    def wanted_px(self) -> dict[str, tuple[int, int]]:
        """The size in pixels at which the picture of each phone that is seen is wanted."""
        if not self.places.layout.picture_rows or self.is_colourless or not self.is_on_screen:
            return {}
        box = (self.places.layout.columns, self.places.layout.picture_rows)
        blocks = self.blocks
        return {tile.serial: size_px(box, tile.proportions, blocks) for tile in self.places.visible}

    # --- what is shown ----------

    def say_when_empty(self, sentence: str) -> None:
        """Set what stands here while there are no phones."""
        if sentence != self.empty:
            self.empty = sentence
            self.refresh()

    def show_tiles(self, tiles: Sequence[Tile], headings: Mapping[str, Row] = _NO_HEADINGS) -> None:
        """Show these phones; the cursor keeps its own, or takes the one in its place.

        Args:
            tiles: those of a group one after the other.
            headings: the heading of each group, by its name.
        """
        fresh, old = tuple(tiles), self.places.tiles
        if headings != self._headings:
            self._headings = headings
            each = self.places.layout.tile_rows
            self._redraw_rows({row for row in self._strips if row % each == 0})
        if fresh == old:
            return
        self.places.take(fresh)
        for gone in self._pictures.keys() - {tile.serial for tile in fresh}:
            del self._pictures[gone]
            self._due.pop(gone, None)
        if [_place(tile) for tile in old] == [_place(tile) for tile in fresh]:
            self._boxes = self.places.boxes()
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
        if canvas is None or not self.places.layout.picture_rows:
            return
        if canvas.blocks is not self.blocks:
            self._draw_all()
            return
        order = [serial for serial in self._due if serial == self.places.cursor]
        order += [serial for serial in self._due if serial != self.places.cursor]
        a_picture = self.places.layout.columns * self.places.layout.picture_rows
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
        columns, rows = self.size
        if not columns or not rows:
            return
        self.places.arrange(self.size, pictures=not self.is_colourless)
        self._draw_all()

    def _draw_all(self) -> None:
        columns, rows = self.size
        self._due.clear()
        self._boxes = self.places.boxes()
        canvas = self._canvas = WallCanvas(columns, rows, self.blocks)
        if self.places.layout.picture_rows:
            self._put(canvas, self._boxes, monotonic(), exact=frozenset())
        self._strips.clear()
        self.drawn = None
        self.show_cells(canvas.draw())
        self.refresh()
        self.post_message(self.Moved())

    def _tell(self, serials: set[str]) -> None:
        """Draw the text of these tiles again, and what their pictures lack."""
        for serial in self._boxes:
            if serial in serials:
                self._due.setdefault(serial)
        self._redraw_rows(self.places.text_rows(*serials))

    def _redraw_rows(self, rows: set[int]) -> None:
        rows = {row for row in rows if row < self.size.height}
        for row in rows:
            self._strips.pop(row, None)
        if rows:
            self.refresh(*(Region(0, row, self.size.width, 1) for row in sorted(rows)))

    # --- keys and mouse ----------

    def go_to(self, at: int) -> None:
        """Put the cursor on the tile of this number, and show it."""
        before = self.places.cursor
        if not self.places.put_cursor(at):
            return
        if self.places.scroll_to_cursor():
            self._draw_all()
        else:
            self._redraw_rows(self.places.text_rows(before, self.places.cursor))
            self.post_message(self.Moved())

    def action_move(self, right: int, down: int) -> None:
        """Move the cursor by tiles."""
        to = self.places.beside(right, down)
        if to is not None:
            self.go_to(to)

    def action_page(self, direction: int) -> None:
        """Move the cursor by as many rows as are seen."""
        self.go_to(self.places.at + direction * self.places.layout.capacity)

    def action_go(self, where: str) -> None:
        """Move the cursor to the first or last tile."""
        self.go_to(self.places.last if where == "last" else 0)

    def action_open(self) -> None:
        """Open the phone under the cursor."""
        if self.places.cursor:
            self.post_message(self.Opened(self.places.cursor))

    def on_click(self, event: Click) -> None:
        at = self.places.tile_at(event.offset)
        if at == self.places.at:
            self.action_open()
        elif at is not None:
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
        self._tell({self.places.cursor})

    def on_blur(self) -> None:
        self._tell({self.places.cursor})

    def render_lines(self, crop: Region) -> list[Strip]:
        if not self.places.tiles or self.drawn is None:
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
        places = self.places
        layout = places.layout
        within, head = row % layout.tile_rows, layout.head_rows
        is_text = within < head or within >= head + layout.picture_rows
        if not is_text and picture is not None:
            return picture
        strip = self._strips.get(row)
        if strip is None:
            number = within if within < head else within - layout.picture_rows
            strip = self._strips[row] = self._text(row // layout.tile_rows, number)
        return strip

    def _text(self, row: int, number: int) -> Strip:
        """Return a line of text of a row of tiles, the heading of its group being the first."""
        places, width = self.places, self.size.width
        across = places.layout.across
        beside = places.visible_slots[row * across : (row + 1) * across]
        number -= places.layout.group_rows
        if number >= 0 or not beside or beside[0] is None:
            return row_strip(
                self, beside, max(0, number), places.layout, cursor=places.cursor, width=width
            )
        heading = self._headings.get(beside[0].group) or Row(beside[0].group, (Line(()),))
        return heading_strip(self, heading, is_first=places.begins_group(row), width=width)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width
