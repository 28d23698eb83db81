"""Whether the numbers of an observation still fit the picture that they are drawn over.

Numbers, the last touch and the text map belong to the moment at which a session looked. Not the
drawing of them. Invariant: a newer picture wears them only while it looks as it did then where the
elements are, and an older one only while it is known to be what the screen still shows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent.records import Element, FrameStatus, LiveFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Look = NDArray[np.float32]

NEAR_MS = 1_000  # A picture of at most so long after the look is of the same screen.
_ACROSS, _DOWN = 32, 64
_SAME = 24  # Less of 255 is noise of coding, or a cursor.
_ENOUGH = 6  # Pixels of a side of a part, from which its brightness is known well enough.
_MOST_CHANGED = 0.04  # The share of what elements cover that may be another: a clock that ticks.


class LookRef(NamedTuple):
    """Which look numbers are of."""

    step: int
    ended_ms: int  # When the look was over, since the epoch.


class MarkAge:
    """Compares pictures with the one that a look was taken of."""

    def __init__(self) -> None:
        self._seen: LookRef | None = None
        self._look: Look | None = None

    def knows(self, seen: LookRef) -> bool:
        """Return whether it is known what the screen looked like at a look."""
        return seen == self._seen and self._look is not None

    def learn(self, seen: LookRef, frame: LiveFrame) -> None:
        """Take the stored frame of a look for what the screen looked like."""
        if frame.rgb:
            self._seen, self._look = seen, _looked(frame)

    def is_stale(
        self, seen: LookRef | None, elements: Sequence[Element], frame: LiveFrame | None
    ) -> bool:
        """Return whether a picture is newer than a look, and another where its elements are."""
        if seen != self._seen:
            self._seen, self._look = seen, None
        if seen is None or frame is None or not frame.rgb or not elements:
            return False
        is_older = frame.captured_ms + NEAR_MS < seen.ended_ms
        if is_older and frame.status not in (FrameStatus.LIVE, FrameStatus.STATIC):
            # Pictures stopped coming before the look: what was seen then is not on this one.
            return self._look is None or _differs(self._look, _looked(frame), elements)
        if frame.captured_ms <= seen.ended_ms + NEAR_MS:
            self._look = _looked(frame)
            return False
        if self._look is None:
            # Nothing of that moment was seen here, and nothing of it is stored.
            return True
        return _differs(self._look, _looked(frame), elements)


def _looked(frame: LiveFrame) -> Look:
    """Return the brightness of the parts of a picture, (rows, columns), of 0 to 255.

    The mean of all pixels of a part: a stored picture and a video of the same screen have other
    sizes, and single points of small text would be others in each.
    """
    import numpy as np

    pixels = np.frombuffer(frame.rgb, np.uint8).reshape(frame.height_px, frame.width_px, 3)
    by_row = max(1, frame.height_px // (_DOWN * _ENOUGH))
    by_column = max(1, frame.width_px // (_ACROSS * _ENOUGH))
    # Green is most of what the eye takes for brightness.
    green = pixels[::by_row, ::by_column, 1].astype(np.float32)
    rows, columns = green.shape
    return (_shares(rows, _DOWN) @ green @ _shares(columns, _ACROSS).T).astype(np.float32)


@lru_cache(maxsize=64)
def _shares(pixels: int, parts: int) -> Look:
    """Return how much of each part each pixel is, (parts, pixels); a part's are 1 together."""
    import numpy as np

    edges = np.arange(parts + 1, dtype=np.float32) * pixels / parts
    begin, end = edges[:-1, None], edges[1:, None]
    at = np.arange(pixels, dtype=np.float32)[None, :]
    covered = np.clip(np.minimum(end, at + 1) - np.maximum(begin, at), 0, None)
    shares: Look = (covered / (end - begin)).astype(np.float32)
    return shares


def _differs(one: Look, other: Look, elements: Sequence[Element]) -> bool:
    import numpy as np

    covered = np.zeros(one.shape, bool)
    for element in elements:
        bounds = element.bounds
        top, bottom = _span(bounds.top, bounds.bottom, _DOWN)
        left, right = _span(bounds.left, bounds.right, _ACROSS)
        covered[top:bottom, left:right] = True
    if not covered.any():
        return False
    changed = (abs(one - other) > _SAME) & covered
    return bool(changed.sum() > _MOST_CHANGED * covered.sum())


def _span(begin: float, end: float, cells: int) -> tuple[int, int]:
    """Return the cells that a part from 0 to 1 touches; foreign numbers are brought into bounds."""
    # NaN becomes 0.
    first = min(cells - 1, int(min(1.0, max(0.0, begin)) * cells))
    return first, max(first + 1, int(min(1.0, max(0.0, end)) * cells))
