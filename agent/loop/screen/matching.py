"""Find the elements of one screen again on the next one, also where they have moved.

Pure. Invariant: an element is found once at most, and none is taken for another where two could be
meant.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from agent.loop.by_identity import by_identity
from agent.records import Element

_MOVED = 0.01  # From this share of the screen on an element has moved.
_ALIKE = 0.015  # Parts of one area move by the same way but for this share.
_SAME_PLACE = 0.02


class Pair(NamedTuple):
    """One element, before and after."""

    was: Element
    now: Element


class Displacement(NamedTuple):
    """How far something has moved, as shares of the screen."""

    across: float
    down: float


@by_identity
def pairs(before: Sequence[Element], after: Sequence[Element]) -> tuple[Pair, ...]:
    """Return the elements of `after` that `before` had too, in their order there.

    An element is known by its key; one that has moved by its key without the place; a field by its
    id, whatever its name has become.
    """
    old, new = list(before), list(after)
    found: dict[int, Pair] = {}
    for names in (_keys, _names, _field_ids):
        known = _unique(old, names)
        if known:
            for said, element in _unique(new, names).items():
                was = known.get(said)
                if was is not None:
                    found[id(element)] = Pair(was, element)
            taken = {id(pair.was) for pair in found.values()}
            old = [element for element in old if id(element) not in taken]
            new = [element for element in new if id(element) not in found]
        if not (old and new):
            break
    return tuple([found[id(element)] for element in after if id(element) in found])


def same_element(
    element: Element, before: Sequence[Element], after: Sequence[Element]
) -> Element | None:
    """Return an element on the next screen: also in its place with another label."""
    matched = pairs(before, after)
    for pair in matched:
        if pair.was.key == element.key:
            return pair.now
    if not (element.resource_id or element.checkable) or 2 * len(matched) < len(before):
        # Of another page nothing is the same, though its rows stand where those of this one did.
        return None
    return next(
        (
            other
            for other in after
            if (other.resource_id, other.class_name, other.kind)
            == (element.resource_id, element.class_name, element.kind)
            and abs(other.bounds.center_x - element.bounds.center_x) < _SAME_PLACE
            and abs(other.bounds.center_y - element.bounds.center_y) < _SAME_PLACE
            and not any(other is pair.now for pair in matched)
        ),
        None,
    )


def shift(matched: Sequence[Pair]) -> Displacement | None:
    """Return how far the content of a screen has moved as one; None where it has not."""
    ways = [
        (now.bounds.center_x - was.bounds.center_x, now.bounds.center_y - was.bounds.center_y)
        for was, now in matched
        if not now.scrollable
    ]
    moved = [(x, y) for x, y in ways if abs(x) > _MOVED or abs(y) > _MOVED]
    if not moved:
        return None
    across, down = median(x for x, _ in moved), median(y for _, y in moved)
    if any(abs(x - across) > _ALIKE or abs(y - down) > _ALIKE for x, y in moved):
        return None
    return Displacement(across, down)


def leaves(element: Element, moved: Displacement, areas: Sequence[Element]) -> bool:
    """Return whether a movement takes an element out of the area that scrolls around it."""
    x, y = element.bounds.center_x, element.bounds.center_y
    for area in areas:
        box = area.bounds
        if box.left <= x <= box.right and box.top <= y <= box.bottom:
            there = x + moved.across, y + moved.down
            inside = box.left <= there[0] <= box.right and box.top <= there[1] <= box.bottom
            return not inside
    return False


def _keys(elements: Sequence[Element]) -> list[str]:
    return [element.key for element in elements]


def _names(elements: Sequence[Element]) -> list[str]:
    return [element.key.rsplit("|", 1)[0] for element in elements]


def _field_ids(elements: Sequence[Element]) -> list[str]:
    return [f"{e.resource_id}|{e.class_name}" if e.editable else "" for e in elements]


def _unique(
    elements: Sequence[Element], names: Callable[[Sequence[Element]], list[str]]
) -> dict[str, Element]:
    """Return the elements by their names, without those that share theirs or have none."""
    said = names(elements)
    found = dict(zip(said, elements, strict=True))
    if len(found) < len(said):
        for name, number in Counter(said).items():
            if number > 1:
                del found[name]
    found.pop("", None)
    return found
