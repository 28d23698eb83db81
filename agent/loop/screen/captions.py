"""Name what has no name in itself by the text that stands beside it.

A form writes a field's name over it, a list a switch's name into its row, an icon bar a name under
each icon; a flat tree (Compose, Flutter) has them as siblings. Pure. Invariants: a text names one
thing at most, the nearest; what can be pressed itself or holds no letter names no field; a page's
title names none of its fields.
"""

from collections.abc import Callable, Mapping, Sequence

from agent.loop.screen.list_rows import Rows, is_editable, is_usable
from agent.loop.screen.names import names_nothing
from agent.records import Bounds, UiNode

_NEAR = 0.03  # How far, as a share of the display, a caption may lie from its field.
_FAR = 0.08  # How far one that begins or ends where its field does.
_ALIGNED = 0.02
_BELOW = 1.5  # A text below counts as so much farther: most forms write the name over the field.
_NARROW = 0.4  # A wider field has its name over it or beside it, and a remark below.
_OVERLAP = 0.5
_CAPTION_HEIGHT = 0.9  # A text that is higher, compared with its field, is a heading.
_PAGE = 0.5  # What is lower than this is a part of a page: field and caption in it belong together.
_ALIKE = 0.25  # By so much the heights of one form's captions differ.
_MAX_CHARS = 60
_MAX_FIELDS = 40
_MAX_TEXTS = 400
_CLIMB = 3
_CARD = 0.2  # In what is no higher than this the first text names the one switch.
_SCAN = 200
_MAX_TOGGLES = 40
_MAX_BESIDE = 12  # So many texts of a row are looked at.
_UNDER = 0.02  # How far below its icon a name stands.
_TILE_WIDTH = 0.5

Distance = Callable[[Bounds, Bounds], float | None]


def name_by_place(nodes: Sequence[UiNode], rows: Rows) -> None:
    """Add to `rows` the names that stand beside what has none."""
    toggles, icons = [], []
    for at in rows.nameless:
        node = nodes[at]
        if node.checkable:
            toggles.append(at)
        elif node.clickable and not (node.scrollable or rows.holds_elements[at]):
            icons.append(at)
    if toggles:
        _name_toggles(toggles, nodes, rows)
    icons = [at for at in icons if not is_editable(nodes[at])]
    if icons:
        _name_icons(icons, nodes, rows)
    _name_fields(nodes, rows)


# -- fields


def _name_fields(nodes: Sequence[UiNode], rows: Rows) -> None:
    fields = [at for at, node in enumerate(nodes) if is_editable(node) or is_slider(node)]
    if not fields:
        return
    nameless = [at for at in fields if _is_nameless(nodes[at]) and at not in rows.placeholders]
    texts = [at for at, node in enumerate(nodes) if _is_caption(node)]
    found = _matched(nameless[:_MAX_FIELDS], texts[:_MAX_TEXTS], nodes, rows, fields)
    for field, text in found.items():
        # The text stays: it may be the title of a dialog besides.
        rows.placeholders[field] = nodes[text].text


def _matched(
    nameless: Sequence[int],
    texts: Sequence[int],
    nodes: Sequence[UiNode],
    rows: Rows,
    fields: Sequence[int],
) -> dict[int, int]:
    named = [nodes[at].bounds for at in fields if not _is_nameless(nodes[at])]
    pairs = [
        (distance, field, text)
        for field in nameless
        for text in texts
        if (distance := _from_field(nodes[text].bounds, nodes[field].bounds)) is not None
        # The caption of a field with a hint is not the next field's.
        and not any((_from_field(nodes[text].bounds, other) or 1.0) < distance for other in named)
        and _is_of_form(field, text, nodes, rows)
    ]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, field, text in sorted(pairs):
        if field not in found and text not in taken:
            found[field] = text
            taken.add(text)
    # One caption that is higher than all others of its form is the heading over them.
    heights = sorted(_height(nodes[text].bounds) for text in found.values())
    if len(heights) > 1 and heights[-1] > (1 + _ALIKE) * heights[-2]:
        found = {f: t for f, t in found.items() if _height(nodes[t].bounds) < heights[-1]}
    return found


def _is_nameless(node: UiNode) -> bool:
    """Return whether a field has no name, or a mere sample of what belongs into it, and a slider
    no more than the place where it stands.
    """
    if is_slider(node) and node.text and not names_nothing(node.text):
        return False
    return not node.description and (not node.hint or names_nothing(node.hint))


def is_slider(node: UiNode) -> bool:
    """Return whether a node is dragged to a value."""
    return node.class_name.casefold().endswith(("seekbar", "slider"))


def _is_caption(node: UiNode) -> bool:
    text = node.text.strip()
    return (
        0 < len(text) <= _MAX_CHARS
        and not (node.checkable or is_usable(node))
        and any(map(str.isalpha, text))
    )


def _is_of_form(field: int, text: int, nodes: Sequence[UiNode], rows: Rows) -> bool:
    """Return whether a text stands where a form's do: not in a bar over the page."""
    steps: dict[int, int] = {}
    at = text
    while at >= 0:
        steps[at] = len(steps)
        at = rows.parents[at]
    shared = field
    while shared >= 0 and shared not in steps:
        shared = rows.parents[shared]
    if steps.get(shared, len(steps)) < _CLIMB:
        return True
    # The title of a page lies some containers deep in a bar of its own.
    return shared >= 0 and _height(nodes[shared].bounds) < _PAGE


def _from_field(text: Bounds, field: Bounds) -> float | None:
    """Return how far a text lies above, below or left of a field; None where it is elsewhere."""
    shared = min(text.right, field.right) - max(text.left, field.left)
    if shared >= _OVERLAP * min(text.right - text.left, field.right - field.left):
        above, below = field.top - text.bottom, text.top - field.bottom
        aligned = min(abs(text.left - field.left), abs(text.right - field.right)) <= _ALIGNED
        if -_NEAR / 2 <= above <= (_FAR if aligned else _NEAR):
            is_caption = _height(text) <= _CAPTION_HEIGHT * _height(field)
            return max(above, 0.0) if is_caption else None
        if -_NEAR / 2 <= below <= _NEAR and field.right - field.left <= _NARROW:
            return max(below, 0.0) * _BELOW + 0.001
        return None
    gap = max(field.left - text.right, text.left - field.right)
    return gap if _in_row(text, field) and 0 <= gap <= _NEAR * 3 else None


# -- switches


def _name_toggles(toggles: Sequence[int], nodes: Sequence[UiNode], rows: Rows) -> None:
    """Name switches by the text in their row, searched in what they lie in."""
    scanned: dict[int, tuple[list[int], list[int]]] = {}
    matched: dict[int, dict[int, int]] = {}
    for at in toggles:
        above = rows.parents[at]
        for _ in range(_CLIMB):
            if above < 0:
                break
            if above not in scanned:
                scanned[above] = _scan(nodes, rows.parents, above)
            texts, others = scanned[above]
            if above not in matched:
                matched[above] = _in_rows(others[:_MAX_TOGGLES], texts, nodes)
            text = matched[above].get(at, -1)
            if text < 0 and texts and len(others) == 1 and _height(nodes[above].bounds) <= _CARD:
                text = texts[0]
            if text >= 0:
                _borrow(at, text, nodes, rows)
                break
            if len(others) > 1:
                break
            above = rows.parents[above]


def _scan(nodes: Sequence[UiNode], parents: Sequence[int], top: int) -> tuple[list[int], list[int]]:
    """Return the texts and the switches below a node."""
    texts, toggles = [], []
    inside = {top}
    for at in range(top + 1, min(len(nodes), top + _SCAN)):
        if parents[at] not in inside:
            break
        inside.add(at)
        node = nodes[at]
        if node.checkable:
            toggles.append(at)
        elif node.text and not is_editable(node):
            texts.append(at)
    return texts, toggles


def _in_rows(
    toggles: Sequence[int], texts: Sequence[int], nodes: Sequence[UiNode]
) -> dict[int, int]:
    """Pair switches with the nearest texts in their rows, a title before what stands below it."""
    titles: dict[int, list[int]] = {}
    for toggle in toggles:
        beside = [text for text in texts if _in_row(nodes[text].bounds, nodes[toggle].bounds)]
        titles[toggle] = [
            text
            for at, text in enumerate(beside[:_MAX_BESIDE])
            if not any(_is_over(nodes[one].bounds, nodes[text].bounds) for one in beside[:at])
        ]
    return _nearest(titles, nodes, _beside)


def _beside(text: Bounds, toggle: Bounds) -> float:
    return max(toggle.left - text.right, text.left - toggle.right, 0.0)


def _is_over(title: Bounds, text: Bounds) -> bool:
    shared = min(title.right, text.right) - max(title.left, text.left)
    return shared > 0 and title.bottom <= text.top + _ALIGNED / 2


def _borrow(at: int, text: int, nodes: Sequence[UiNode], rows: Rows) -> None:
    """Name a thing by a text, which is shown no more where it only stands in the same row."""
    rows.borrowed[at] = nodes[text].text
    if not is_usable(nodes[text]) and _in_row(nodes[text].bounds, nodes[at].bounds):
        rows.absorbed[text] = True


# -- icons


def _name_icons(icons: Sequence[int], nodes: Sequence[UiNode], rows: Rows) -> None:
    """Name icons by the texts right below them, or by the one that shares their tile."""
    beside: dict[int, list[int]] = {}
    for at in icons:
        beside.setdefault(rows.parents[at], []).append(at)
    beside.pop(-1, None)
    texts: dict[int, list[int]] = {parent: [] for parent in beside}
    for at, node in enumerate(nodes):
        if rows.parents[at] in beside and not rows.absorbed[at] and _is_caption(node):
            texts[rows.parents[at]].append(at)
    for parent, group in beside.items():
        below = texts[parent][:_MAX_TEXTS]
        found = _nearest(dict.fromkeys(group[:_MAX_TOGGLES], below), nodes, _from_icon)
        box = nodes[parent].bounds
        is_tile = box.right - box.left <= _TILE_WIDTH and len(group) == len(below) == 1
        if not found and is_tile and _in_row(nodes[below[0]].bounds, nodes[group[0]].bounds):
            found = {group[0]: below[0]}
        for at, text in found.items():
            rows.borrowed[at] = nodes[text].text
            # A text below one icon alone may be a title besides.
            rows.absorbed[text] = len(found) > 1


def _from_icon(text: Bounds, icon: Bounds) -> float | None:
    below = text.top - icon.bottom
    is_centred = abs(text.center_x - icon.center_x) <= _ALIGNED
    return max(below, 0.0) if is_centred and -_UNDER <= below <= _UNDER else None


# -- both


def _nearest(
    texts_of: Mapping[int, Sequence[int]], nodes: Sequence[UiNode], distance: Distance
) -> dict[int, int]:
    """Pair each thing with one of its texts, the nearest first, each once."""
    pairs = sorted(
        (far, thing, text)
        for thing, texts in texts_of.items()
        for text in texts
        if (far := distance(nodes[text].bounds, nodes[thing].bounds)) is not None
    )
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, thing, text in pairs:
        if thing not in found and text not in taken:
            found[thing] = text
            taken.add(text)
    return found


def _in_row(one: Bounds, other: Bounds) -> bool:
    """Return whether two boxes stand side by side: each other's middle is at their height."""
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared >= _OVERLAP * min(_height(one), _height(other)) > 0


def _height(box: Bounds) -> float:
    return box.bottom - box.top
