"""Whether a scroll reached the end of its list, or passed rows over, judged by what moved.

Pure. A list that has more to show moves as far as the finger does; one that ends moves less, or not
at all; one that glides on moves more. Invariant: nothing is said where too few elements can be told
apart, or all of them stayed.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from agent.records import Element, Observation, Point

_WHOLE = 0.88
"""A list that goes on moves at least so much of the finger's way; Android takes off a little."""
_MOVED = 0.004
_ROWS = 3
"""With fewer rows before and after, it is another page rather than the same list further on."""
_BEYOND = 0.2
"""How much further than the finger's way, of that way, the list reaches at either end."""


def reached_end(before: Observation, after: Observation, start: Point, end: Point) -> bool:
    """Return whether a swipe moved what it scrolled by less than the finger's way.

    Args:
        start, end: the swipe's ends.
    """
    vertical = abs(end.y - start.y) >= abs(end.x - start.x)
    way = end.y - start.y if vertical else end.x - start.x
    was, now = _places(before.elements, vertical), _places(after.elements, vertical)
    moved = [now[name] - was[name] for name in was.keys() & now.keys()]
    # Bars and titles stay where they are.
    moved = [by for by in moved if abs(by) > _MOVED and by * way > 0]
    return bool(moved) and abs(median(moved)) < _WHOLE * abs(way)


def passed_over(before: Observation, after: Observation, start: Point, end: Point) -> bool:
    """Return whether a swipe along a list left no row of before, so that some may be unseen.

    Args:
        start, end: the swipe's ends.
    """
    if abs(end.y - start.y) < abs(end.x - start.x):
        # Pages side by side have nothing in common.
        return False
    beyond = _BEYOND * abs(end.y - start.y)
    top, bottom = min(start.y, end.y) - beyond, max(start.y, end.y) + beyond
    was, now = (
        {name: at for name, at in _places(seen.elements, True).items() if top <= at <= bottom}
        for seen in (before, after)
    )
    gone, new = was.keys() - now.keys(), now.keys() - was.keys()
    stayed = all(abs(now[name] - was[name]) <= _MOVED for name in was.keys() & now.keys())
    return stayed and min(len(gone), len(new)) >= _ROWS


def _places(elements: Sequence[Element], vertical: bool) -> dict[str, float]:
    counts = Counter(_name(element) for element in elements)
    return {
        _name(element): element.bounds.center_y if vertical else element.bounds.center_x
        for element in elements
        if counts[_name(element)] == 1 and not element.scrollable
    }


def _name(element: Element) -> str:
    height = round(element.bounds.bottom - element.bounds.top, 3)
    return f"{element.class_name}|{element.label}|{height}"
