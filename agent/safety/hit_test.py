"""What a finger touches beside the element that was named: buttons in it, over it and around it.

Pure. A phone gives a touch to whatever lies on top at that point, whoever the number was meant for.
Invariant: nothing that can be pressed at the point of a touch is left unjudged.
"""

from collections.abc import Sequence

from agent.records import Bounds, Element, Point

UNNAMED = "unlabeled"


def touched(element: Element, point: Point, screen: Sequence[Element]) -> tuple[Element, ...]:
    """Return what else a touch of an element may press, or shows what it presses.

    Args:
        element: what is to be touched.
        point: where, in shares of the display.
        screen: the elements that were numbered with it.
    """
    return tuple(
        other
        for other in screen
        if other is not element
        and not (other.editable or other.scrollable)
        and _counts(other, element, point)
    )


def _counts(other: Element, element: Element, point: Point) -> bool:
    at_point = _holds(other.bounds, point)
    if other.clickable or other.long_clickable:
        # What is around a button does not get its touch; what is around mere text does.
        takes_it = element.clickable or element.editable
        return at_point and not (takes_it and _area(other.bounds) > _area(element.bounds))
    if not element.clickable or not _holds(element.bounds, other.bounds.center):
        return False
    # A text on a button says what the button does: all of them where it has no name of its own.
    return at_point or element.label == UNNAMED


def _holds(bounds: Bounds, point: Point) -> bool:
    return bounds.left <= point.x <= bounds.right and bounds.top <= point.y <= bounds.bottom


def _area(bounds: Bounds) -> float:
    return (bounds.right - bounds.left) * (bounds.bottom - bounds.top)
