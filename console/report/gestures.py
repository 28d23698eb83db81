"""Where a step's calls touched the screen it saw: what a film and a page draw over its frame.

Pure. Places are shares of the screen, from 0 to 1. Invariant: typed text comes from the stored
arguments, which were redacted before they were stored.
"""

import json
from typing import NamedTuple

from agent.records import Bounds, Point
from agent.state.reducer import ActionView, StepItem
from agent.text import one_line

MOST = 8
"""Gestures of one step that are drawn."""
_REACH = 0.2
_TOWARDS = {"down": (0, -1), "up": (0, 1), "right": (-1, 0), "left": (1, 0)}
"""Where the finger goes for content to be seen that lies in a direction."""


class Gesture(NamedTuple):
    """One touch, or typing."""

    way: tuple[Point, ...]  # One place for a tap; the way of the finger for a swipe.
    box: Bounds | None = None  # The element, where there is one.
    is_way: bool = False  # Whether the finger moved along its places, rather than pressed each.
    typed: str = ""


def gestures_of(step: StepItem) -> tuple[Gesture, ...]:
    """Return what a step did to its screen, in order; nothing for what touched no place."""
    found = (gesture for action in step.actions if (gesture := _gesture(action)) is not None)
    return tuple(found)[:MOST]


def _gesture(action: ActionView) -> Gesture | None:
    box = action.element.bounds if action.element is not None else None
    at = action.point or (box.center if box is not None else None)
    given = _arguments(action)
    if action.tool == "scroll":
        towards = _TOWARDS.get(str(given.get("direction", "")))
        middle = at or Point(x=0.5, y=0.5)
        if towards is None:
            return None
        return Gesture(
            (_offset(middle, towards, -1), _offset(middle, towards, 1)), box, is_way=True
        )
    if action.path:
        return Gesture(action.path, box, is_way=action.tool == "drag")
    if at is None:
        return None
    typed = one_line(str(given.get("text", "")), 60) if action.tool == "type_text" else ""
    return Gesture((at,), box, typed=typed)


def _offset(at: Point, towards: tuple[int, int], by: int) -> Point:
    return Point(
        x=min(0.95, max(0.05, at.x + by * towards[0] * _REACH)),
        y=min(0.95, max(0.05, at.y + by * towards[1] * _REACH)),
    )


def _arguments(action: ActionView) -> dict[str, object]:
    try:
        given = json.loads(action.arguments)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
