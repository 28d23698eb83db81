"""Where the tiles of a wall are: as large as lets all be seen, and then page by page.

Pure arithmetic in cells. Invariants: no tile overlaps another or leaves the wall; a picture keeps
the proportions it was laid out for; with room for one tile there is one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from widgets.base.rows import Parts

HEAD_ROWS, FOOT_ROWS = 1, 2
"""Lines of text over and under each picture."""
GROUP_ROWS = 1
"""Lines over each row of tiles where there are groups."""
GAP_COLUMNS = 1
LEAST_COLUMNS, MOST_COLUMNS = 12, 48
_LEAST_PICTURE_ROWS = 7
_TEXT_COLUMNS = 26  # How wide the text of a tile wishes to be.


class Tile(NamedTuple):
    """One phone on the wall; equal tiles look equal but for their picture."""

    serial: str
    name: Parts
    state: Parts
    """At the right of the name."""
    label: Parts
    """What the picture is."""
    driver: Parts
    """Who drives."""
    proportions: tuple[int, int]
    """Width and height of its screen, in any unit."""
    looks: Parts = ()
    """How long the newest looks took, where there is room beside the label."""
    missing: str = ""
    """Why there is no live picture, in a few of our own words; empty when there is one."""
    group: str = ""
    """What it stands with others under the heading of; empty where there are no groups."""


class Spot(NamedTuple):
    """Where one tile is, from the top left of the wall."""

    row: int
    column: int


class WallLayout(NamedTuple):
    """Tiles in rows and columns."""

    across: int  # Tiles beside each other.
    down: int  # Rows of tiles that are seen at once.
    columns: int  # Of one tile, without the gap.
    picture_rows: int
    group_rows: int = 0  # Lines over each row of tiles that say which group it is of.

    @property
    def head_rows(self) -> int:
        """Lines over each picture."""
        return self.group_rows + HEAD_ROWS

    @property
    def tile_rows(self) -> int:
        """The height of one tile with its text."""
        return self.head_rows + self.picture_rows + FOOT_ROWS

    @property
    def capacity(self) -> int:
        """How many tiles are seen at once."""
        return self.across * self.down

    def spot(self, at: int) -> Spot:
        """Return where the name of the tile is that is number `at` of those that are seen."""
        row, column = divmod(at, self.across)
        return Spot(
            row * self.tile_rows + self.group_rows,
            GAP_COLUMNS + column * (self.columns + GAP_COLUMNS),
        )

    def rows_of(self, count: int) -> int:
        """Return how many rows so many tiles take."""
        return -(-count // self.across)


def lay_out(
    count: int,
    columns: int,
    rows: int,
    *,
    shape: float = 20 / 9,
    pictures: bool = True,
    groups: Sequence[int] = (),
) -> WallLayout:
    """Find the largest tiles of which all are seen at once, or the smallest that may be.

    Args:
        count: how many tiles there are.
        columns, rows: the size of the wall in cells.
        shape: height of a picture by its width, in pixels; a cell is two pixels high.
        pictures: whether there are pictures, or only text.
        groups: how many tiles are in each group, which begins a row; none for no groups.
    """
    widest = max(1, columns - 2 * GAP_COLUMNS)
    text_rows = HEAD_ROWS + FOOT_ROWS + (GROUP_ROWS if groups else 0)
    most_beside = max(groups, default=max(count, 1))
    if not pictures:
        across = max(1, min(most_beside, columns // (_TEXT_COLUMNS + GAP_COLUMNS)))
        down = max(1, rows // text_rows)
        width = max(1, (columns - GAP_COLUMNS) // across - GAP_COLUMNS)
        return WallLayout(across, down, width, 0, GROUP_ROWS if groups else 0)
    most_across = max(1, (columns - GAP_COLUMNS) // (LEAST_COLUMNS + GAP_COLUMNS))
    best: WallLayout | None = None
    best_rank: tuple[bool, float, int] = (False, 0.0, 0)
    for across in range(1, min(most_across, most_beside) + 1):
        needed = sum(-(-one // across) for one in groups or (max(count, 1),))
        for down in range(1, needed + 1):
            room = rows // down - text_rows
            if room < _LEAST_PICTURE_ROWS and down > 1:
                break
            wide = min(MOST_COLUMNS, widest, (columns - GAP_COLUMNS) // across - GAP_COLUMNS)
            high = max(1, min(room, round(wide * shape / 2)))
            wide = max(1, min(wide, max(round(high * 2 / shape), min(LEAST_COLUMNS, wide))))
            found = WallLayout(across, down, wide, high, GROUP_ROWS if groups else 0)
            rank = _rank(found, is_whole=down >= needed)
            if best is None or rank > best_rank:
                best, best_rank = found, rank
    assert best is not None
    # The text has what the picture leaves of the width, up to where it would tear tiles apart.
    room = (columns - GAP_COLUMNS) // best.across - GAP_COLUMNS
    return best._replace(columns=max(best.columns, min(room, _TEXT_COLUMNS)))


def _rank(layout: WallLayout, *, is_whole: bool) -> tuple[bool, float, int]:
    """Order layouts: all tiles seen, then the size of a picture, then as many as can be seen."""
    area = layout.picture_rows * layout.columns
    if is_whole:
        return True, area, -layout.across
    # Where not all fit, more of them matter more than size, down to what can be made out.
    is_enough = layout.columns >= LEAST_COLUMNS and layout.picture_rows >= LEAST_COLUMNS
    return False, layout.capacity if is_enough else -1 / max(area, 1), area
