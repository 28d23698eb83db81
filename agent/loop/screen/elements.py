"""Turn a UI tree into the numbered elements that a model may name (CONTRACTS 5.1).

Not the text form (that is `agent.loop.screen.screen_text`). Invariants: numbers run from 1 in
reading order, what lies in a row after the row; every label has passed the text gate and the
redactor; a password field never gives its text; a number means the same node's own bounds, never a
look-alike's.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec.structs import replace

from agent.language.fold import as_drawn
from agent.loop.screen.captions import name_by_place
from agent.loop.screen.list_rows import Rows, is_editable, is_usable, read_rows
from agent.loop.screen.names import contains, joined, names_nothing, own_parts
from agent.loop.screen.reading_order import reading_order
from agent.loop.screen.windows import STATUS_BAR, on_screen
from agent.records import Bounds, Element, UiNode
from agent.safety.redacting.redaction import hidden_as_written
from agent.safety.redacting.secrets import is_secret_field
from agent.text import one_line, without_glyphs

LABEL_CHARS = 120
NEW_LABEL_CHARS = 40
MAX_ELEMENTS = 500
"""More than any screen shows to a person; a hostile tree of 10,000 nodes ends here."""
TOP_ZONE = 1 / 8
BOTTOM_ZONE = 7 / 8
UNLABELED = "unlabeled"
SEEN_TEXT = "seen-text"
"""Class and kind of what was read from the picture, where the tree says nothing."""
_MAX_TEXT = 20_000
_MAX_SAID = 2000
_SHAPE_CHARS = 80
# 2 px and 20 px of the 1080 × 2400 screen of CONTRACTS 5.1, as shares of width and height.
_MIN_WIDTH, _MIN_HEIGHT = 2 / 1080, 2 / 2400
_CELL_WIDTH, _CELL_HEIGHT = 20 / 1080, 20 / 2400
_POSITION = re.compile(r"[+-]?\d{1,6}(?:[.,]\d{1,3})?(?: ?%)?")
_NAMED_POSITION = re.compile(r"(?P<name>.*[^\s,:;–-])[\s,:;–-]+(?P<at>\d{1,3}(?:[.,]\d+)? ?%)")
"""What a slider is called and where it stands, in one text: "Brightness, 45%"."""
_ROW_HEIGHT = 0.2  # What is higher, scrolls and holds other elements is a list.
_NAV_LABELS = frozenset({"back", "close", "cancel", "navigate up", "menu", "more options"})


def number_elements(
    nodes: Sequence[UiNode],
    *,
    redact: Callable[[str], str],
    previous: Sequence[Element] | None = None,
) -> tuple[Element, ...]:
    """Number what can be seen or used on a screen.

    Args:
        nodes: the tree in document order; a parent index that points nowhere is taken as none.
        redact: takes personal data out of a text.
        previous: the elements of the screen before; what was not on it is new. None: no screen
            was seen before, so nothing is new.
    """
    nodes = on_screen(nodes)
    rows = read_rows(nodes)
    name_by_place(nodes, rows)
    found: list[Element] = []
    at_node: list[int] = []
    taken: set[tuple[str, int, int, bool, bool]] = set()
    for at, node in enumerate(nodes):
        element = _element(at, node, rows, redact)
        if element is None:
            continue
        box = element.bounds
        column = int((box.left + box.right) / 2 / _CELL_WIDTH)
        row = int((box.top + box.bottom) / 2 / _CELL_HEIGHT)
        seen = (element.label, column, row, element.clickable, element.editable)
        if seen in taken:
            continue
        taken.add(seen)
        found.append(element)
        at_node.append(at)
        if len(found) >= MAX_ELEMENTS:
            break
    return _numbered(found, at_node, nodes, previous)


def plain_texts(nodes: Sequence[UiNode]) -> tuple[str, ...] | None:
    """Return all that the nodes of a tree say, where the text gate leaves every text as it is.

    But for spaces at its ends, a label is then what its node says, or the beginning of that: who
    has looked through these has looked through every label. None where the gate changes a text.
    """
    texts = {text for node in nodes for text in (node.text, node.description, node.hint)}
    every = "".join(texts)
    # A run of spaces becomes one; no two texts make one where they meet, unless one has an edge.
    if every.isprintable() and "  " not in every:
        return tuple(texts)
    return None


def zone(element: Element) -> int:
    """Return the zone of the screen that an element is in: 0 top, 1 content, 2 bottom."""
    return _zone_at(element.bounds.center_y)


def _zone_at(y: float) -> int:
    return 0 if y < TOP_ZONE else 2 if y > BOTTOM_ZONE else 1


def find_by_key(elements: Sequence[Element], key: str) -> Element | None:
    """Find an element again in a later observation by its stable key."""
    return next((element for element in elements if element.key == key), None)


def _element(at: int, node: UiNode, rows: Rows, redact: Callable[[str], str]) -> Element | None:
    if rows.absorbed[at] or not _is_visible(node.bounds):
        return None
    editable = is_editable(node)
    inner = rows.toggle_of(at)
    checkable = node.checkable or inner is not None
    checked = inner.checked if inner is not None else node.checked
    said, value = _name_and_value(at, node, rows, redact, editable)
    if not said and not (checkable or is_usable(node) or _is_web_view(node)):
        return None
    label = cut(said)
    kind = _kind(at, node, rows, inner, label, editable)
    if not label and kind == "btn" and rows.holds_elements[at]:
        return None
    resource_id = node.resource_id
    if not resource_id and at in rows.ids and names_nothing(label):
        resource_id = rows.ids[at]
    resource_id = one_line(resource_id, 120)
    class_name = one_line(node.class_name, 120)
    label = label or UNLABELED
    return Element(
        number=0,
        key=_key(node, resource_id, class_name, label),
        kind=kind,
        label=label,
        more="" if editable else _more(at, node, rows, said, label, redact),
        value=value,
        bounds=node.bounds,
        resource_id=resource_id,
        class_name=class_name,
        package=one_line(node.package, 120),
        clickable=node.clickable,
        editable=editable,
        scrollable=node.scrollable,
        checkable=checkable,
        checked=checked,
        enabled=node.enabled,
        focused=node.focused,
        selected=node.selected or at in rows.selected,
        password=node.password,
        length=_masked_length(node, editable),
        long_clickable=node.long_clickable,
    )


def _masked_length(node: UiNode, editable: bool) -> int:
    """Count what a secret field shows: a third dot is a change, whatever it stands for."""
    if not (node.password or (editable and is_secret_field(node))):
        return 0
    return 0 if node.text == node.hint else min(len(node.text), _MAX_SAID)


def _more(
    at: int, node: UiNode, rows: Rows, said: str, label: str, redact: Callable[[str], str]
) -> str:
    """Return what a node says beside its label; nearly always nothing."""
    if said == label and not (node.text and node.description) and at not in rows.inside:
        return ""
    parts = [said] if said != label else []
    if node.text and node.description:
        own = (_tidy(node.text, redact), _tidy(node.description, redact))
        parts += [part for part in own if part not in said] if parts else own
    parts += [_tidy(text, redact) for text in rows.inside.get(at, ())]
    more = joined(part for part in parts if part.casefold() != label.casefold())
    return "" if more == label else more


def _tidy(text: str, redact: Callable[[str], str]) -> str:
    # Redact before cutting: half a card number would no longer be recognised.
    return redact(one_line(as_drawn(text[:_MAX_TEXT]), _MAX_SAID))


def _held(text: str, redact: Callable[[str], str]) -> str:
    """Return what a field holds as it stands there, unless a detail that is hidden spans lines."""
    return hidden_as_written(as_drawn(text[:_MAX_TEXT]), redact, _MAX_SAID)


def _name_and_value(
    at: int, node: UiNode, rows: Rows, redact: Callable[[str], str], editable: bool
) -> tuple[str, str]:
    """Return all that a node is called, and what it holds."""
    if editable:
        return _field_name_and_value(at, node, rows, redact)
    if node.password:
        return _tidy(node.hint or node.description, redact) or "password", ""
    if _kind_of(_shape(node.class_name)[-_SHAPE_CHARS:]) == "slider":
        name, at_value = _slider_name_and_value(
            _tidy(node.text, redact), _tidy(node.description, redact)
        )
        caption = _tidy(rows.placeholders.get(at, ""), redact)
        if caption and (not name or names_nothing(name)):
            name, at_value = caption, name or at_value
        if name:
            return name, at_value
    parts = own_parts(node)
    if len(parts) > 2 and not is_usable(node):
        parts = (" ".join(parts),)
    return joined([_tidy(part, redact) for part in parts or rows.parts_of(at)]), ""


def _field_name_and_value(
    at: int, node: UiNode, rows: Rows, redact: Callable[[str], str]
) -> tuple[str, str]:
    caption, hint, description = rows.placeholders.get(at, ""), node.hint, node.description
    if description == node.text and not hint and (caption or names_nothing(description)):
        # An app that says again what its field holds, as a calculator does, names nothing by it.
        description = ""
    named = hint if contains(hint, description) else description
    if named == description and not contains(description, hint):
        named = joined((description, hint))
    if caption and not contains(named, caption):
        named = joined((caption, named))
    # What a field is called decides too whether it holds a secret.
    if is_secret_field(replace(node, hint=named)):
        return _tidy(named, redact) or "password", ""
    value = _held(node.text, redact)
    shown = without_glyphs(value).strip()
    if shown and any(shown == _tidy(text, redact) for text in (hint, description, caption)):
        return _tidy(named or node.text, redact), ""
    return _tidy(named, redact), value


def _slider_name_and_value(text: str, description: str) -> tuple[str, str]:
    """Return what a slider is called and where it stands, if its app says that in words.

    The range that a slider has for screen readers (RangeInfo, stateDescription) is in no dump.
    """
    if description and _POSITION.fullmatch(text):
        return description, text
    own = text or description
    found = _NAMED_POSITION.fullmatch(own)
    return (found["name"], found["at"]) if found else (own, "")


def cut(label: str) -> str:
    """Cut a label to 120 characters, the last three of them dots."""
    return label if len(label) <= LABEL_CHARS else label[: LABEL_CHARS - 3] + "..."


def _kind(
    at: int, node: UiNode, rows: Rows, toggle: UiNode | None, label: str, editable: bool
) -> str:
    if editable:
        return "INPUT"
    if node.class_name in (SEEN_TEXT, STATUS_BAR):
        return node.class_name
    if _is_web_view(node):
        return "webview"
    if node.scrollable and not (label and _is_pressed_whole(at, node, rows)):
        return "scrollable"
    shape = _shape(toggle.class_name if toggle is not None else node.class_name)
    kind = _kind_of(shape[-_SHAPE_CHARS:])
    if kind in {"switch", "radio", "chip"}:
        return kind
    if kind == "slider":
        return kind
    if toggle is not None or node.checkable:
        return "checkbox"
    # A button that is off can be pressed no more in some apps, and is a button all the same.
    is_off = not node.enabled and shape.endswith("Button")
    if not (node.clickable or node.long_clickable or is_off):
        return "text"
    if kind == "tab":
        return kind
    return "nav-btn" if label.casefold() in _NAV_LABELS else kind


def _is_pressed_whole(at: int, node: UiNode, rows: Rows) -> bool:
    """Return whether a press on what scrolls does something: a row or a tile does, a list not."""
    is_low = node.bounds.bottom - node.bounds.top <= _ROW_HEIGHT
    pressed = node.clickable or node.long_clickable or node.checkable
    return pressed and (is_low or not rows.holds_elements[at])


@lru_cache(maxsize=512)
def _kind_of(shape: str) -> str:
    shape = shape.lower()
    if "switch" in shape or "toggle" in shape:
        return "switch"
    for kind in ("radio", "chip"):
        if kind in shape:
            return kind
    if shape.endswith(("seekbar", "slider")):
        return "slider"
    if "imagebutton" in shape or "imageview" in shape:
        return "icon-btn"
    return "tab" if "tab" in shape.replace("table", "") else "btn"


def _is_web_view(node: UiNode) -> bool:
    """Return whether a node is a web page: what is below it comes late, and may be anybody's."""
    return node.class_name.endswith("WebView")


def _key(node: UiNode, resource_id: str, class_name: str, label: str) -> str:
    box = node.bounds
    x, y = int((box.left + box.right) / 2 * 20), int((box.top + box.bottom) / 2 * 20)
    return f"{resource_id}|{class_name.rpartition('.')[2]}|{label[:NEW_LABEL_CHARS]}|{x},{y}"


def _shape(class_name: str) -> str:
    return class_name[class_name.rfind(".") + 1 :]


def _numbered(
    found: Sequence[Element],
    at_node: Sequence[int],
    nodes: Sequence[UiNode],
    previous: Sequence[Element] | None,
) -> tuple[Element, ...]:
    """Number elements as a person reads them, each with the number of what it lies in."""
    known = None if previous is None else {UNLABELED, *(e.label for e in previous)}
    parents = [node.parent if 0 <= node.parent < at else -1 for at, node in enumerate(nodes)]
    boxes: list[Bounds | None] = [None] * len(nodes)
    for at, element in zip(at_node, found, strict=True):
        boxes[at] = element.bounds
    elements = dict(zip(at_node, found, strict=True))
    numbers: dict[int, int] = {}
    numbered: list[Element] = []
    for number, at in enumerate(reading_order(parents, boxes), start=1):
        numbers[at] = number
        above = parents[at]
        while above >= 0 and above not in numbers:
            above = parents[above]
        element = elements[at]
        numbered.append(
            replace(
                element,
                number=number,
                parent=numbers.get(above, 0),
                is_new=known is not None and element.label not in known,
            )
        )
    return tuple(numbered)


def _is_visible(bounds: Bounds) -> bool:
    left, top, right, bottom = bounds.left, bounds.top, bounds.right, bounds.bottom
    if not 0.0 <= left <= right <= 1.0 or not 0.0 <= top <= bottom <= 1.0:
        left, right, top, bottom = max(left, 0.0), min(right, 1.0), max(top, 0.0), min(bottom, 1.0)
        if not (0.0 <= bounds.center_x <= 1.0 and 0.0 <= bounds.center_y <= 1.0):
            return False
    return right - left > _MIN_WIDTH and bottom - top > _MIN_HEIGHT
