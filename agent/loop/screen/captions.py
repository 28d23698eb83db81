"""Name fields that have no name of their own by the text that stands beside them.

The hour of a time picker is a field without a hint above the word "Hour"; many forms write a
field's name over it. Pure. Invariant: a text names at most one field, the nearest; what can be
pressed or holds no letter names none.
"""

from collections.abc import Sequence

from agent.loop.screen.list_rows import is_editable
from agent.records import Bounds, UiNode

_NEAR = 0.03  # How far, as a share of the display, a caption may lie from its field.
_BELOW = 1.5  # A text below counts as so much farther: most forms write the name over the field.
_OVERLAP = 0.5
_MAX_CHARS = 60
_MAX_FIELDS = 40
_MAX_TEXTS = 400


def captions(nodes: Sequence[UiNode]) -> dict[int, str]:
    """Return the caption of each nameless field, by the field's index."""
    fields = [at for at, node in enumerate(nodes) if is_editable(node) and _is_nameless(node)]
    if not fields:
        return {}
    texts = [at for at, node in enumerate(nodes) if _is_caption(node)]
    named = [node.bounds for node in nodes if is_editable(node) and not _is_nameless(node)]
    pairs = [
        (distance, field, text)
        for field in fields[:_MAX_FIELDS]
        for text in texts[:_MAX_TEXTS]
        if (distance := _distance(nodes[text].bounds, nodes[field].bounds)) is not None
        # The caption of a field with a hint is not the next field's.
        and not any((_distance(nodes[text].bounds, other) or 1.0) < distance for other in named)
    ]
    found: dict[int, str] = {}
    taken: set[int] = set()
    for _, field, text in sorted(pairs):
        if field not in found and text not in taken:
            found[field] = nodes[text].text
            taken.add(text)
    return found


def _is_nameless(node: UiNode) -> bool:
    return not node.hint and not node.description


def _is_caption(node: UiNode) -> bool:
    usable = node.clickable or node.long_clickable or node.scrollable or node.checkable
    text = node.text.strip()
    return (
        0 < len(text) <= _MAX_CHARS
        and not usable
        and not is_editable(node)
        and any(map(str.isalpha, text))
    )


def _distance(text: Bounds, field: Bounds) -> float | None:
    """Return how far a text lies above, below or left of a field; None where it is elsewhere."""
    shared = min(text.right, field.right) - max(text.left, field.left)
    if shared >= _OVERLAP * min(text.right - text.left, field.right - field.left):
        above, below = field.top - text.bottom, text.top - field.bottom
        if -_NEAR / 2 <= above <= _NEAR:
            return max(above, 0.0)
        if -_NEAR / 2 <= below <= _NEAR:
            return max(below, 0.0) * _BELOW + 0.001
        return None
    middle = (text.top + text.bottom) / 2
    left = field.left - text.right
    if field.top <= middle <= field.bottom and 0 <= left <= _NEAR * 3:
        return left
    return None
