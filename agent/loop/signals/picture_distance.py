"""Measure how far two pictures of a screen are apart, and whether one shows a tree's elements.

Pure, on small grey copies, fine enough for a dot of a PIN pad. The status bar is left out, since
its clock ticks by itself, and so is the field that has the focus: its caret blinks, and what it
holds is in the tree. Blocks for a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.records import Bounds, Element

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

_COLUMNS, _ROWS = 36, 80
_STATUS_ROWS = 4  # Rows of cells at the top that are left out: 5 % of the height.
_CELL_LEVELS = 12
"""How many of 256 grey levels the mean of a cell must differ by to count as another."""
_LEAST_TEXTS = 3
_FLAT_LEVELS = 10  # A box whose grey levels lie within this range has no text drawn in it.
_MISSING_SHARE = 0.6
_BLACK = 4
_INK_LEVELS, _INK_SHARE = 24, 0.004
"""How far from the ground a pixel is ink, and the share of ink from which a region is drawn in."""


def thumbnail(picture: Image) -> NDArray[np.int16]:
    """Return the mean grey levels of a grid of cells, rows first, without the status bar."""
    import numpy as np
    from PIL import Image

    small = _grey(picture).resize((_COLUMNS, _ROWS), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.int16)[_STATUS_ROWS:]


def distance(
    one: NDArray[np.int16], other: NDArray[np.int16], elements: Sequence[Element] = ()
) -> float:
    """Return the share of cells that differ, in [0, 1], beside the field that has the focus."""
    import numpy as np

    differs = np.abs(one - other) > _CELL_LEVELS
    for element in elements:
        if element.editable and element.focused:
            box = element.bounds
            top = max(int(box.top * _ROWS) - _STATUS_ROWS, 0)
            bottom = max(math.ceil(box.bottom * _ROWS) - _STATUS_ROWS, 0)
            differs[top:bottom, int(box.left * _COLUMNS) : math.ceil(box.right * _COLUMNS)] = False
    return float(np.mean(differs))


def is_drawn(picture: Image, region: Bounds, elements: Sequence[Element]) -> bool:
    """Return whether something is drawn in a region beside the elements that are named."""
    import numpy as np

    grey = np.array(_grey(picture), dtype=np.int16)
    height, width = grey.shape

    def part(box: Bounds) -> tuple[slice, slice]:
        rows = slice(round(box.top * height), round(box.bottom * height))
        return rows, slice(round(box.left * width), round(box.right * width))

    inside = grey[part(region)]
    if inside.size == 0:
        return False
    ground = int(np.bincount(inside.ravel()).argmax())
    for element in elements:
        grey[part(element.bounds)] = ground
    return float(np.mean(np.abs(inside - ground) > _INK_LEVELS)) >= _INK_SHARE


def shows(picture: Image, elements: Sequence[Element]) -> bool:
    """Return whether a picture can be of a screen with these elements.

    A splash screen is one flat surface where the tree has texts already. True where there is too
    little to tell by, and for a black picture: a secure window hides all texts.
    """
    import numpy as np

    grey = np.asarray(_grey(picture), dtype=np.uint8)
    if int(grey.max(initial=0)) <= _BLACK:
        return True
    height, width = grey.shape
    texts = flat = 0
    for element in elements:
        if element.kind == "scrollable" or element.editable or element.label == "unlabeled":
            continue
        box = element.bounds
        part = grey[
            round(box.top * height) : round(box.bottom * height),
            round(box.left * width) : round(box.right * width),
        ]
        if part.size == 0:
            continue
        texts += 1
        flat += int(int(part.max()) - int(part.min()) <= _FLAT_LEVELS)
    return texts < _LEAST_TEXTS or flat < _MISSING_SHARE * texts


def _grey(picture: Image) -> Image:
    """Return the brightness of a picture, which one of a JPEG's colours has as a channel."""
    return picture.getchannel(0) if picture.mode == "YCbCr" else picture.convert("L")
