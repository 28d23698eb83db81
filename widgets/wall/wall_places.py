"""Which phone has which place on a wall, and which of them is under the cursor.

Knows no widget and draws nothing. A group begins a row, so its last row may have places without a
tile. Invariants: the cursor stays on its phone (by serial) when phones
come, go or move; the row of the cursor is among those that are seen once it was scrolled to.
"""

from collections import Counter
from collections.abc import Sequence

from textual.geometry import Offset, Region, Size

from widgets.wall.wall_layout import FOOT_ROWS, HEAD_ROWS, Tile, WallLayout, lay_out


class WallPlaces:
    """The tiles of a wall in their places."""

    def __init__(self) -> None:
        self.tiles: tuple[Tile, ...] = ()
        """In order; those of a group stand together."""
        self._slots: tuple[Tile | None, ...] = ()
        self._slot_of: dict[str, int] = {}
        self.layout = lay_out(0, 0, 0)
        self.cursor = ""
        self.top_row = 0

    @property
    def first(self) -> int:
        """The number of the first place that is seen."""
        return self.top_row * self.layout.across

    @property
    def visible_slots(self) -> tuple[Tile | None, ...]:
        """The places that are seen, some without a tile."""
        return self._slots[self.first : self.first + self.layout.capacity]

    @property
    def visible(self) -> tuple[Tile, ...]:
        """The tiles that are seen, in order."""
        return tuple(tile for tile in self.visible_slots if tile is not None)

    @property
    def before(self) -> int:
        """How many tiles stand before those that are seen."""
        return sum(tile is not None for tile in self._slots[: self.first])

    @property
    def last(self) -> int:
        """The number of the last place."""
        return len(self._slots) - 1

    @property
    def at(self) -> int:
        """The number of the place under the cursor."""
        return self._slot_of.get(self.cursor, 0)

    def begins_group(self, row: int) -> bool:
        """Return whether a row that is seen is the first of its group."""
        at = self.first + row * self.layout.across
        here, above = self._slots[at], self._slots[at - self.layout.across] if at else None
        return here is not None and (above is None or above.group != here.group)

    def take(self, tiles: Sequence[Tile]) -> None:
        """Have these tiles; the cursor keeps its own, or takes the one in its place."""
        stood = [tile.serial for tile in self.tiles]
        at = stood.index(self.cursor) if self.cursor in self._slot_of else 0
        self.tiles = tuple(tiles)
        self._place()
        if self.cursor not in self._slot_of:
            self.cursor = tiles[min(at, len(tiles) - 1)].serial if tiles else ""

    def arrange(self, size: Size, *, pictures: bool) -> None:
        """Lay all tiles out anew, the cursor's row among those that are seen."""
        named = Counter(tile.group for tile in self.tiles if tile.group)
        self.layout = lay_out(
            len(self.tiles),
            size.width,
            size.height,
            pictures=pictures,
            groups=tuple(named.values()),
        )
        self._place()
        self.scroll_to_cursor()

    def _place(self) -> None:
        self._slots = _slots(self.tiles, self.layout)
        self._slot_of = {one.serial: at for at, one in enumerate(self._slots) if one is not None}

    def scroll_to_cursor(self) -> bool:
        """Show the row of the cursor; returns whether other rows are seen now."""
        before, layout = self.top_row, self.layout
        row = self.at // layout.across
        last = max(0, layout.rows_of(len(self._slots)) - layout.down)
        self.top_row = min(max(self.top_row, row - layout.down + 1), row, last)
        return self.top_row != before

    def put_cursor(self, at: int) -> bool:
        """Put the cursor on the tile at a place, or the nearest; returns whether it moved."""
        before = self.cursor
        at = max(0, min(self.last, at))
        # Only the end of a group's last row is empty.
        tile = next((one for one in reversed(self._slots[: at + 1]) if one is not None), None)
        self.cursor = tile.serial if tile is not None else before
        return self.cursor != before

    def beside(self, right: int, down: int) -> int | None:
        """Return the number of the place so many to the right and down; None for none.

        Down leads to the last tile of a row where none is right below.
        """
        at, across, count = self.at, self.layout.across, len(self._slots)
        to = at + right + down * across
        if down > 0 and to >= count and at // across < (count - 1) // across:
            to = count - 1
        while 0 <= to < count and self._slots[to] is None:
            to += 1 if right > 0 else -1
        return to if 0 <= to < count else None

    def tile_at(self, place: Offset) -> int | None:
        """Return the number of the tile that is drawn at a cell of the wall; None for none."""
        layout = self.layout
        row, column = place.y // layout.tile_rows, max(place.x - 1, 0) // (layout.columns + 1)
        at = self.first + row * layout.across + min(column, layout.across - 1)
        is_there = row < layout.down and at <= self.last and self._slots[at] is not None
        return at if is_there else None

    def boxes(self) -> dict[str, tuple[Tile, Region]]:
        """Return where the picture of each phone that is seen belongs, by serial."""
        layout, found = self.layout, {}
        for at, tile in enumerate(self.visible_slots):
            if tile is None:
                continue
            spot = layout.spot(at)
            box = Region(spot.column, spot.row + HEAD_ROWS, layout.columns, layout.picture_rows)
            found[tile.serial] = tile, box
        return found

    def text_rows(self, *serials: str) -> set[int]:
        """Return the lines of the wall that hold text of these phones."""
        rows: set[int] = set()
        for at, tile in enumerate(self.visible_slots):
            if tile is not None and tile.serial in serials:
                top = self.layout.spot(at).row
                foot = top + HEAD_ROWS + self.layout.picture_rows
                rows.update(range(top, top + HEAD_ROWS), range(foot, foot + FOOT_ROWS))
        return rows


def _slots(tiles: Sequence[Tile], layout: WallLayout) -> tuple[Tile | None, ...]:
    """Put tiles into places, each group in rows of its own."""
    if not layout.group_rows:
        return tuple(tiles)
    slots: list[Tile | None] = []
    for at, tile in enumerate(tiles):
        if at and tile.group != tiles[at - 1].group:
            slots += [None] * (-len(slots) % layout.across)
        slots.append(tile)
    return tuple(slots)
