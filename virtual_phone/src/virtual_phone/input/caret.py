"""Where a finger puts the caret in a field: from a point to the offset of a character.

Not editing itself. Invariant: the offset stands between whole clusters, never inside one.
"""

from virtual_phone.display import fonts
from virtual_phone.ui.draw import field_shift
from virtual_phone.ui.layout import Metrics, shown_text
from virtual_phone.ui.views import View


def offset_at(view: View, m: Metrics, at_x: float, at_y: float) -> int:
    """Return the character offset nearest to a point of a field, in display pixels."""
    if not view.text:
        return 0
    size = m.text_px(view.style.size)
    line_height = size * view.style.line_height
    shift_x, shift_y = field_shift(view, m)
    top = view.rect.top + m.px(view.pad[1])
    row = int((at_y - top + shift_y) / line_height) if view.multiline else 0
    start, end = view.lines[min(max(row, 0), len(view.lines) - 1)]
    text = shown_text(view)
    x = at_x - view.rect.left - m.px(view.pad[0]) + shift_x
    at, used = start, 0.0
    for cluster in fonts.clusters(text[start : min(end, start + fonts.LINE_LIMIT)]):
        wide = fonts.width_of(cluster, size, view.style.weight)
        if used + wide / 2 > x:
            break
        used += wide
        at += len(cluster)
    return at
