"""The two ways of drawing an image on a terminal, behind one face: kitty's protocol and sixel.

Makes text and writes none. Invariants: an image covers whole cells and only those it is given; the
text moves nothing on the terminal but its cursor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from textual.geometry import Region

from agent.records import LiveFrame
from console.frames.shared_image import SharedImage
from widgets.cells import kitty_images


@dataclass(frozen=True, slots=True)
class Place:
    """Where on the terminal an image is seen."""

    x: int  # Column of its upper left corner, from 0.
    y: int  # Row of that corner, from 0.
    cells: tuple[int, int]  # Columns and rows.
    parts: Sequence[Region]  # What of it is to be seen, in cells from its corner.


class Images(Protocol):
    """A way of drawing an image."""

    lies_above: bool  # Whether text that is written where the image is stays under it.
    needs_cell_px: bool  # Whether it must be known how large a cell is.

    def text(self, frame: LiveFrame, cell_px: tuple[int, int], place: Place) -> str:
        """Return the text that draws these parts of a picture. Raises OSError.

        Args:
            frame: the picture.
            cell_px: width and height of a cell.
            place: where.
        """

    def taken_away(self) -> str:
        """Return the text that takes the image away; empty where any text over it does."""

    def forget(self) -> None:
        """Let go of what the terminal was to read."""


class KittyImages:
    """Images by kitty's protocol, handed over in shared memory.

    Args:
        image_id: the number of the one image.
    """

    lies_above = True
    needs_cell_px = False

    def __init__(self, image_id: int) -> None:
        self._image_id = image_id
        self._memory = SharedImage()

    def question(self) -> str | None:
        """Ask whether the terminal draws such images; None where there is no such memory."""
        if not self._memory.is_there:
            return None
        try:
            return kitty_images.ask(self._image_id, self._memory.put(b"\0\0\0"))
        except OSError:
            # No room in memory, say: then there are no images either.
            return None

    def text(self, frame: LiveFrame, cell_px: tuple[int, int], place: Place) -> str:
        # The terminal scales what it is given to the cells it is to cover.
        image_px = (frame.width_px, frame.height_px)
        handed = kitty_images.hand_over(self._image_id, self._memory.put(frame.rgb), *image_px)
        return handed + kitty_images.place(
            self._image_id, image_px, place.cells, place.parts, x=place.x, y=place.y
        )

    def taken_away(self) -> str:
        return kitty_images.delete(self._image_id)

    def forget(self) -> None:
        self._memory.remove()


class SixelImages:
    """Images by sixel, of the same 216 colours always."""

    lies_above = False
    needs_cell_px = True

    def text(self, frame: LiveFrame, cell_px: tuple[int, int], place: Place) -> str:
        from widgets.cells import sixel_images

        picture_px = frame.width_px, frame.height_px
        image = sixel_images.encode(frame.rgb, picture_px, cell_px, place.cells, place.parts)
        return f"\x1b[{place.y + 1};{place.x + 1}H{image}"

    def taken_away(self) -> str:
        return ""

    def forget(self) -> None:
        return None
