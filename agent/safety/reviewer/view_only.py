"""Which acts nobody has to read: by their kind and structure they only move the view.

Pure, and without a word of any language. Invariant: a control that could commit something is none
of these, whatever it looks like: rows, tiles, icons, long presses and swipes over them are read.
"""

from collections.abc import Sequence

from agent.records import Element, Observation
from agent.safety.effects.acts import Act, ActKind

_COMMITTING_KEYS = frozenset({"ENTER", "SPACE", "POWER", "DELETE"})
_TABS_TOP = 0.86
_FEWEST_TABS = 3
_SAME_LINE = 0.02


def is_view_only(acts: Sequence[Act], screen: Observation) -> bool:
    """Return whether all acts of an action only show, hide, move or fill in something."""
    return all(_only_views(act, screen) for act in acts)


def _only_views(act: Act, screen: Observation) -> bool:
    match act.kind:
        case ActKind.VIEW | ActKind.LAUNCH | ActKind.OPEN_LINK | ActKind.COPY:
            # What they open or copy is judged by its address, and by what follows.
            return True
        case ActKind.KEY:
            return act.key.upper() not in _COMMITTING_KEYS
        case ActKind.SWIPE:
            return act.element is None or act.element.scrollable
        case ActKind.TYPE:
            # A text counts once something commits it, as enter does. One that replaces a value may
            # count at once, as in a list of prices.
            return "\n" not in act.text and not (act.element is not None and act.element.value)
        case ActKind.PRESS:
            return act.element is not None and (
                act.element.editable or _is_tab(act.element, screen.elements)
            )
        case ActKind.LONG_PRESS | ActKind.DRAG:
            return False


def _is_tab(element: Element, elements: Sequence[Element]) -> bool:
    """Return whether an element is one of the tabs at the foot of a screen, one of them chosen."""
    if element.bounds.top < _TABS_TOP or element.checkable:
        return False
    line = [
        e
        for e in elements
        if (e.clickable or e.selected)
        and e.class_name == element.class_name
        and abs(e.bounds.center_y - element.bounds.center_y) < _SAME_LINE
    ]
    return len(line) >= _FEWEST_TABS and sum(e.selected for e in line) == 1
