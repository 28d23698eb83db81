"""The base of what shows moving pictures: only changed cells are drawn, by the shortest route there
is.

Not a picture itself. Invariant: what the widget would draw anew and what the terminal was sent are
the same cells; what draws, and numpy with it, is imported when there is something to draw.
"""

from typing import TYPE_CHECKING

from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from widgets.cells import direct_route
from widgets.cells.blocks import Blocks

if TYPE_CHECKING:
    from widgets.cells.cells import Cells
    from widgets.cells.frame_strip import Drawn


class LiveCells(Widget):
    """A widget whose content is cells that change many times a second."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn: Drawn | None = None
        self.cells_sent = 0
        """How many cells were drawn again since the start: what a budget is reckoned in."""

    @property
    def blocks(self) -> Blocks:
        """What pictures are made of here; the app may name it as `blocks`."""
        named = getattr(self.app, "blocks", Blocks.HALF)
        return named if isinstance(named, Blocks) else Blocks.HALF

    @property
    def is_colourless(self) -> bool:
        """Whether pictures cannot be shown: no colours, or sixteen of them."""
        return self.app.no_color or self.app.console.color_system in (None, "standard")

    @property
    def ground(self) -> Style:
        """The style of what lies under the picture."""
        return Style() if self.app.no_color else self.visual_style.rich_style

    def show_cells(self, cells: "Cells | None") -> None:
        """Take cells for the new content, and draw those that differ from the last."""
        old = self.drawn
        if cells is None:
            self.drawn = None
            if old is not None:
                self.refresh()
            return
        from widgets.cells.cells import rows_of
        from widgets.cells.frame_strip import Drawn

        truecolor = self.app.console.color_system == "truecolor"
        self.drawn = drawn = Drawn(cells, self.ground, truecolor=truecolor)
        if old is None or self.is_colourless or _size(old.cells) != _size(cells):
            self.cells_sent += cells.rows * cells.columns
            self.refresh()
            return
        changed = cells.differs(old.cells)
        count = int(changed.sum())
        if not count:
            return
        self.cells_sent += count
        console, size = self.app.console, self.size
        if (cells.columns, cells.rows) != tuple(size) or not direct_route.show(
            self, lambda x, y: drawn.changes(changed, console, x=x, y=y)
        ):
            self.refresh(*(Region(0, row, size.width, 1) for row in rows_of(changed)))

    def picture_strips(self, first: int, below: int) -> list[Strip]:
        """Return the rows from `first` on as strips; fewer where the picture ends."""
        if self.drawn is None:
            return []
        from widgets.cells.frame_strip import FrameStrip

        drawn = self.drawn
        return [FrameStrip(drawn, row) for row in range(first, min(below, drawn.cells.rows))]


def _size(cells: "Cells") -> tuple[int, int]:
    return cells.rows, cells.columns
