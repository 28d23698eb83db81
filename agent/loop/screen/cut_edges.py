"""Find rows of which a list shows only a part, because its edge cuts them off.

Pure. A row that is cut off has lost some or all of its texts, so it must not be taken for a row
without any. Invariant: a row is called so only where it touches the list's edge and is lower than
the rows beside it.
"""

from collections.abc import Sequence

from agent.loop.screen.elements import UNLABELED
from agent.records import Element

_TOUCHES = 0.003
"""How near, as a share of the display's height, a row's edge lies to that of its list."""
_LOWER = 0.9  # A row that is cut off is at most so high, compared with the rows beside it.
_LEAST_SIBLINGS = 2
AT_TOP = "cut off at the top: scroll up"
AT_BOTTOM = "cut off at the bottom: scroll down"


def cut_off(elements: Sequence[Element]) -> dict[int, str]:
    """Return what to say of each row that is cut off, by its number."""
    lists = {element.number: element for element in elements if element.kind == "scrollable"}
    whole: dict[tuple[int, str], list[float]] = {}
    at_edge: list[tuple[Element, str]] = []
    for element in elements:
        around = lists.get(element.parent)
        if around is None or element.kind in ("text", "scrollable"):
            continue
        at_top = element.bounds.top <= around.bounds.top + _TOUCHES
        at_bottom = element.bounds.bottom >= around.bounds.bottom - _TOUCHES
        if at_top is not at_bottom:
            at_edge.append((element, AT_TOP if at_top else AT_BOTTOM))
        elif not at_top:
            whole.setdefault((element.parent, element.kind), []).append(_height(element))
    return {
        element.number: said
        for element, said in at_edge
        if _is_lower(element, whole.get((element.parent, element.kind), []))
    }


def _is_lower(element: Element, whole: Sequence[float]) -> bool:
    if element.label == UNLABELED and not whole:
        return True
    enough = len(whole) >= (1 if element.label == UNLABELED else _LEAST_SIBLINGS)
    return enough and _height(element) <= _LOWER * min(whole)


def _height(element: Element) -> float:
    return element.bounds.bottom - element.bounds.top
