"""Which part of a phone's screen is seen when its picture is zoomed.

Pure. Places and parts are shares of the screen, from 0 to 1. Invariant: the part never leaves the
screen, and never has other proportions than the view that it fills.
"""

from __future__ import annotations

from typing import NamedTuple

from agent.records import Bounds, Point

FACTORS = (1, 2, 4, 8)
"""At 8 a line of a phone's text is about eight rows of half blocks high on a pane of 40 columns."""
WHOLE = Bounds(left=0.0, top=0.0, right=1.0, bottom=1.0)
_PAN = 0.5  # The share of what is seen that one step pans.
_EDGE = 0.02


class Zoom(NamedTuple):
    """How closely a picture is looked at, and where."""

    factor: int = 1
    center: Point = Point(x=0.5, y=0.5)

    def closer(self, by: int, at: Point | None = None, seen: Bounds = WHOLE) -> Zoom:
        """Return the zoom some steps closer (or farther, below 0); it stays between the ends.

        Args:
            by: steps in `FACTORS`.
            at: the place that keeps its place in the view; the center when None.
            seen: the part that is seen now.
        """
        step = FACTORS.index(self.factor) + by
        factor = FACTORS[max(0, min(len(FACTORS) - 1, step))]
        if factor == 1:
            return Zoom()
        if at is None or factor == self.factor:
            return self._replace(factor=factor)
        share = self.factor / factor
        return Zoom(
            factor,
            Point(
                x=at.x + ((seen.left + seen.right) / 2 - at.x) * share,
                y=at.y + ((seen.top + seen.bottom) / 2 - at.y) * share,
            ),
        )

    def size(self, fitted: tuple[int, int], room: tuple[int, int]) -> tuple[int, int]:
        """Return (columns, rows) of the view: the zoomed picture as far as there is room.

        Args:
            fitted: (columns, rows) of the whole picture, fitted into the room.
            room: (columns, rows) that there are.
        """
        columns, rows = (min(self.factor * fitted[at], room[at]) for at in (0, 1))
        return max(1, columns), max(1, rows)

    def part(self, fitted: tuple[int, int], room: tuple[int, int]) -> Bounds:
        """Return the part of the screen that the view shows; arguments as of `size`."""
        columns, rows = self.size(fitted, room)
        wide = min(1.0, columns / (self.factor * max(1, fitted[0])))
        high = min(1.0, rows / (self.factor * max(1, fitted[1])))
        left = min(1.0 - wide, max(0.0, self.center.x - wide / 2))
        top = min(1.0 - high, max(0.0, self.center.y - high / 2))
        return Bounds(left=left, top=top, right=left + wide, bottom=top + high)

    def panned(self, across: float, down: float, seen: Bounds) -> Zoom:
        """Return the zoom moved by so many steps; it stops where the screen ends."""
        wide, high = seen.right - seen.left, seen.bottom - seen.top
        return self.shifted(across * _PAN * wide, down * _PAN * high, seen)

    def shifted(self, across: float, down: float, seen: Bounds) -> Zoom:
        """Return the zoom moved by shares of the screen; it stops where the screen ends."""
        wide, high = seen.right - seen.left, seen.bottom - seen.top
        x = min(1.0 - wide / 2, max(wide / 2, (seen.left + seen.right) / 2 + across))
        y = min(1.0 - high / 2, max(high / 2, (seen.top + seen.bottom) / 2 + down))
        return self._replace(center=Point(x=x, y=y))


def place_words(seen: Bounds) -> str:
    """Return where a part lies: top left, middle, right; empty for the whole screen."""
    down = _side(seen.top, seen.bottom, ("top", "middle", "bottom"))
    across = _side(seen.left, seen.right, ("left", "middle", "right"))
    if not down and not across:
        return ""
    words = [word for word in (down, across) if word and word != "middle"]
    return " ".join(words) or "middle"


def _side(begin: float, end: float, words: tuple[str, str, str]) -> str:
    """Name a side; empty where all of it is seen."""
    if end - begin > 1.0 - _EDGE:
        return ""
    if begin < _EDGE:
        return words[0]
    return words[2] if end > 1.0 - _EDGE else words[1]


def on_screen(at: Point, seen: Bounds) -> Point:
    """Return the place on the screen of a place in a view of a part."""
    return Point(
        x=min(1.0, max(0.0, seen.left + at.x * (seen.right - seen.left))),
        y=min(1.0, max(0.0, seen.top + at.y * (seen.bottom - seen.top))),
    )


def in_view(at: Point, seen: Bounds) -> Point:
    """Return the place in a view of a part of a place on the screen; outside of 0 to 1 unseen."""
    return Point(
        x=(at.x - seen.left) / (seen.right - seen.left),
        y=(at.y - seen.top) / (seen.bottom - seen.top),
    )


def bounds_in_view(bounds: Bounds, seen: Bounds) -> Bounds | None:
    """Return bounds on the screen as bounds in a view of a part; None where nothing is seen."""
    if bounds.right <= seen.left or bounds.left >= seen.right:
        return None
    if bounds.bottom <= seen.top or bounds.top >= seen.bottom:
        return None
    corner = in_view(Point(x=bounds.left, y=bounds.top), seen)
    opposite = in_view(Point(x=bounds.right, y=bounds.bottom), seen)
    return Bounds(
        left=max(0.0, corner.x),
        top=max(0.0, corner.y),
        right=min(1.0, opposite.x),
        bottom=min(1.0, opposite.y),
    )
