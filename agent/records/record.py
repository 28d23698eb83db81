"""Define the base of every stored record, and shared geometry."""

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of every stored record.

    Frozen and without cycles, so the garbage collector need not look at it: a long session holds
    hundreds of thousands.
    """


class Point(Record, frozen=True, kw_only=True):
    """A place on a screen; x and y in [0, 1]."""

    x: float
    y: float


class Bounds(Record, frozen=True, kw_only=True):
    """A rectangle on a screen; edges in [0, 1]."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def center(self) -> Point:
        """Return the middle of the rectangle."""
        return Point(x=self.center_x, y=self.center_y)

    @property
    def center_x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def center_y(self) -> float:
        return (self.top + self.bottom) / 2
