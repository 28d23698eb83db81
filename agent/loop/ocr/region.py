"""Find the part of a screen of which the UI tree says nothing.

A game, a canvas or a web page is one large view without a word in it. Pure. Invariant: where the
tree names what is drawn there, nothing is read from the picture.
"""

from collections.abc import Sequence

from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.list_rows import is_editable
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Bounds, Element, UiNode

_LEAST_AREA = 0.3
"""The share of the screen from which on a silent view is worth a look at its picture."""
_FEW_LABELS = 1  # So many names inside a view still say nothing: the title of a web page.
_MOST = 0.8
_HALF = 0.5  # A view of which a text or a field fills so much is not silent.
WHOLE = Bounds(left=0.0, top=0.0, right=1.0, bottom=1.0)


def silent_region(nodes: Sequence[UiNode], elements: Sequence[Element]) -> Bounds | None:
    """Return the largest view without names in it; None where the tree says what is there.

    Args:
        nodes: the tree in document order; without any the whole screen is silent.
    """
    if not nodes:
        return WHOLE
    named = [e for e in elements if e.label != UNLABELED and e.kind != STATUS_BAR]
    large = [node for node in nodes if _area(node.bounds) >= _LEAST_AREA * _HALF]
    written = [node.bounds for node in large if _is_written(node)]
    silent = [node.bounds for node in large if _is_silent(node, named, written)]
    return max(silent, key=_area, default=None)


def _is_written(node: UiNode) -> bool:
    """Return whether the tree has all that a view shows: a field, or one long text."""
    return is_editable(node) or (bool(node.text) and not node.class_name.endswith("WebView"))


def _is_silent(node: UiNode, named: Sequence[Element], written: Sequence[Bounds]) -> bool:
    if _area(node.bounds) < _LEAST_AREA:
        return False
    if any(_area(_shared(text, node.bounds)) >= _HALF * _area(node.bounds) for text in written):
        return False
    inside = sum(holds(node.bounds, element) for element in named)
    return inside <= _FEW_LABELS


def holds(box: Bounds, element: Element) -> bool:
    x, y = element.bounds.center_x, element.bounds.center_y
    return box.left <= x <= box.right and box.top <= y <= box.bottom


def covers(element: Element, box: Bounds) -> bool:
    """Return whether an element is the silent view itself, or holds it."""
    return _area(_shared(element.bounds, box)) >= _MOST * _area(box)


def _shared(one: Bounds, other: Bounds) -> Bounds:
    """Return where two boxes overlap; a box without area where they do not."""
    return Bounds(
        left=max(one.left, other.left),
        top=max(one.top, other.top),
        right=max(min(one.right, other.right), one.left, other.left),
        bottom=max(min(one.bottom, other.bottom), one.top, other.top),
    )


def _area(box: Bounds) -> float:
    return (box.right - box.left) * (box.bottom - box.top)
