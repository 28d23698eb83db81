"""One thing about to be done to a phone, as a tool's arguments and a screen make it.

Not the doing (`agent.tools.actions`, `agent.tools.gestures`). Invariant: a deed points at the
bounds of the very node that the model's number meant.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from agent.records import Element, Observation, Point
from agent.text import one_line
from agent.tools.arguments import (
    BadArguments,
    ClickElement,
    LaunchApp,
    LongPressElement,
    PressButton,
    Scroll,
    TypeText,
)
from agent.tools.gesture_arguments import GestureArguments

ActionArguments: TypeAlias = (
    ClickElement | LongPressElement | TypeText | Scroll | PressButton | LaunchApp | GestureArguments
)


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about to be done; `said` is how results speak of it in the past tense."""

    action: ActionArguments
    said: str
    element: Element | None = None
    point: Point | None = None
    end: Point | None = None
    """Where a drag ends."""
    keys: tuple[Element, ...] = ()
    """What is pressed one after another."""
    pad: Element | None = None
    """A key of the keypad that a secret is pressed on, whichever: what pressing there does is
    judged by it."""
    package: str = ""
    is_secret: bool = False
    """What it types or presses is a secret: the phone gets it and nobody else keeps it."""

    @property
    def path(self) -> tuple[Point, ...]:
        """The places that are touched, in order, for the record; none of a secret's."""
        if self.is_secret and self.keys:
            return ()
        if self.keys:
            return tuple(clip(key.bounds.center) for key in self.keys)
        if self.point is not None and self.end is not None:
            return self.point, self.end
        return ()


def element_at(screen: Observation, number: int) -> Element:
    """Return the element with a number. Raises BadArguments where there is none."""
    if 1 <= number <= len(screen.elements):
        return screen.elements[number - 1]
    if not screen.elements:
        raise BadArguments(f"there is no element [{number}]: the screen shows no elements")
    raise BadArguments(
        f"there is no element [{number}]: the screen has 1 to {len(screen.elements)}"
    )


def name_of(element: Element) -> str:
    """Return an element's label in quotes, bounded."""
    return f'"{one_line(element.label, 60)}"'


def clip(point: Point) -> Point:
    """Move a point onto the screen."""
    return Point(x=min(max(point.x, 0.0), 1.0), y=min(max(point.y, 0.0), 1.0))
