"""Put boxes into the order in which a person reads them, and nest what lies in a row.

A recursive XY-cut (Nagy and Seth, 1984) over the boxes of sibling subtrees: bands from top to
bottom first, columns from left to right within a band. What cannot be cut, because one box lies
over another, goes by its middle. Cutting among siblings only keeps the parts of a row together.
Invariant: every index comes out once; a parent comes before all that lies in it.
"""

from collections.abc import Callable, Sequence

from agent.records import Bounds

_OVERLAP = 0.006
"""Boxes that reach into each other by no more than this share of the screen are still apart."""
_DEEPEST = 40
_PAGE = 0.4
"""A box under others is a page from this height on, with a bar over its top; else it is a card."""
_BAR = 0.15  # How much of a page's height a bar over it takes at most.

Edges = Callable[[Bounds], tuple[float, float]]


def reading_order(parents: Sequence[int], bounds: Sequence[Bounds | None]) -> list[int]:
    """Return the indices of the boxes in reading order.

    Args:
        parents: the parent of each node, by index; negative for a root. A parent comes before its
            children.
        bounds: the box of each node that is to be ordered; None for a mere container.
    """
    extents: list[Bounds | None] = list(bounds)
    for at in range(len(parents) - 1, -1, -1):
        box, parent = extents[at], parents[at]
        # A box of its own stands for all that lies in it.
        if box is not None and parent >= 0 and bounds[parent] is None:
            above = extents[parent]
            extents[parent] = box if above is None else _union(above, box)
    children: dict[int, list[int]] = {}
    for at, box in enumerate(extents):
        if box is not None:
            children.setdefault(_nearest(parents, extents, at), []).append(at)
    order: list[int] = []
    waiting = list(reversed(_sorted(children.get(-1, []), extents)))
    while waiting:
        at = waiting.pop()
        if bounds[at] is not None:
            order.append(at)
        waiting += reversed(_sorted(children.get(at, []), extents))
    return order


def _nearest(parents: Sequence[int], extents: Sequence[Bounds | None], at: int) -> int:
    parent = parents[at]
    while parent >= 0 and extents[parent] is None:
        parent = parents[parent]
    return max(parent, -1)


def _union(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(
        left=min(one.left, other.left),
        top=min(one.top, other.top),
        right=max(one.right, other.right),
        bottom=max(one.bottom, other.bottom),
    )


def _sorted(group: list[int], extents: Sequence[Bounds | None]) -> list[int]:
    if len(group) < 2:
        return group
    boxes = {at: box for at in group if (box := extents[at]) is not None}
    return _cut(group, boxes, 0)


def _cut(group: list[int], boxes: dict[int, Bounds], deep: int) -> list[int]:
    if len(group) < 2:
        return group
    if deep < _DEEPEST:
        for edges in (_vertical, _horizontal):
            parts = _parted(group, boxes, edges)
            if len(parts) > 1:
                return [at for part in parts for at in _cut(part, boxes, deep + 1)]
        return _around_largest(group, boxes, deep)
    return sorted(group, key=lambda at: (boxes[at].center_y, boxes[at].center_x))


def _around_largest(group: list[int], boxes: dict[int, Bounds], deep: int) -> list[int]:
    """Order boxes of which one lies under others: a card under its texts, a list under a bar."""
    largest = max(group, key=lambda at: (_area(boxes[at]), -at))
    rest = _cut([at for at in group if at != largest], boxes, deep + 1)
    box = boxes[largest]
    if box.bottom - box.top < _PAGE:
        return [largest, *rest]
    bar = box.top + _BAR * (box.bottom - box.top)
    before = next((n for n, at in enumerate(rest) if boxes[at].bottom > bar), len(rest))
    return [*rest[:before], largest, *rest[before:]]


def _area(box: Bounds) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


def _parted(group: list[int], boxes: dict[int, Bounds], edges: Edges) -> list[list[int]]:
    """Cut a group wherever no box crosses, along one axis."""
    spans = sorted(((*edges(boxes[at]), at) for at in group), key=lambda span: span[:2])
    parts: list[list[int]] = []
    reach = float("-inf")
    for start, end, at in spans:
        if start >= reach - min(_OVERLAP, (end - start) / 2):
            parts.append([])
        parts[-1].append(at)
        reach = max(reach, end)
    return parts


def _vertical(box: Bounds) -> tuple[float, float]:
    return box.top, box.bottom


def _horizontal(box: Bounds) -> tuple[float, float]:
    return box.left, box.right
