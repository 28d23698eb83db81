"""Which phone has which place on a wall, and which of them is under the cursor.

Knows no widget and draws nothing. Invariants: the cursor stays on its phone (by serial) when phones
come, go or move; the row of the cursor is among those that are seen once it was scrolled to.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Offset, Region, Size

from widgets.wall.wall_layout import FOOT_ROWS, HEAD_ROWS, Tile, lay_out


class WallPlaces:
    """The tiles of a wall in their places."""

    def __init__(self) -> None:
        self.tiles: tuple[Tile, ...] = ()
        self.layout = lay_out(0, 0, 0)
        self.cursor = ""
        self.top_row = 0

    @property
    def first(self) -> int:
        """The number of the first tile that is seen."""
        return self.top_row * self.layout.across

    @property
    def seen(self) -> tuple[Tile, ...]:
        """The tiles that are seen, in their places."""
        return self.tiles[self.first : self.first + self.layout.capacity]

    @property
    def at(self) -> int:
        """The number of the tile under the cursor."""
        serials = [tile.serial for tile in self.tiles]
        return serials.index(self.cursor) if self.cursor in serials else 0

    def take(self, tiles: Sequence[Tile]) -> None:
        """Have these tiles; the cursor keeps its own, or takes the one in its place."""
        at, self.tiles = self.at, tuple(tiles)
        if self.cursor not in {tile.serial for tile in tiles}:
            self.cursor = tiles[min(at, len(tiles) - 1)].serial if tiles else ""

    def arrange(self, size: Size, *, pictures: bool) -> None:
        """Lay all tiles out anew, the cursor's row among those that are seen."""
        self.layout = lay_out(len(self.tiles), size.width, size.height, pictures=pictures)
        self.scroll_to_cursor()

    def scroll_to_cursor(self) -> bool:
        """Show the row of the cursor; returns whether other rows are seen now."""
        before, layout = self.top_row, self.layout
        row = self.at // layout.across
        last = max(0, layout.rows_of(len(self.tiles)) - layout.down)
        self.top_row = min(max(self.top_row, row - layout.down + 1), row, last)
        return self.top_row != before

    def put_cursor(self, at: int) -> bool:
        """Put the cursor on the tile of a number, or the nearest; returns whether it moved."""
        before = self.cursor
        if self.tiles:
            self.cursor = self.tiles[max(0, min(len(self.tiles) - 1, at))].serial
        return self.cursor != before

    def beside(self, right: int, down: int) -> int | None:
        """Return the number of the tile so many to the right and down; None for none.

        From the row before the last, down leads to the last tile where none is right below.
        """
        at, across, count = self.at, self.layout.across, len(self.tiles)
        to = at + right + down * across
        if down > 0 and to >= count and at // across < (count - 1) // across:
            to = count - 1
        return to if 0 <= to < count else None

    def tile_at(self, place: Offset) -> int | None:
        """Return the number of the tile that is drawn at a cell of the wall; None for none."""
        layout = self.layout
        row, column = place.y // layout.tile_rows, max(place.x - 1, 0) // (layout.columns + 1)
        at = self.first + row * layout.across + min(column, layout.across - 1)
        return at if row < layout.down and at < len(self.tiles) else None

    def boxes(self) -> dict[str, tuple[Tile, Region]]:
        """Return where the picture of each phone that is seen belongs, by serial."""
        layout, found = self.layout, {}
        for at, tile in enumerate(self.seen):
            spot = layout.spot(at)
            box = Region(spot.column, spot.row + HEAD_ROWS, layout.columns, layout.picture_rows)
            found[tile.serial] = tile, box
        return found

    def text_rows(self, *serials: str) -> set[int]:
        """Return the lines of the wall that hold text of these phones."""
        rows: set[int] = set()
        for at, tile in enumerate(self.seen):
            if tile.serial in serials:
                top = self.layout.spot(at).row
                foot = top + HEAD_ROWS + self.layout.picture_rows
                rows.update(range(top, top + HEAD_ROWS), range(foot, foot + FOOT_ROWS))
        return rows
