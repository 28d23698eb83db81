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

from agent.loop.screen.captions import captions
from agent.loop.screen.list_rows import Rows, is_editable, read_rows
from agent.loop.screen.reading_order import reading_order
from agent.records import Bounds, Element, UiNode
from agent.safety.redacting.redaction import hidden_as_written
from agent.safety.redacting.secrets import is_secret_field
from agent.safety.words import as_drawn
from agent.text import one_line

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
_KEYBOARD_WORDS = ("inputmethod", "keyboard")
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
    nodes = [node for node in nodes if not _is_keyboard(node)] if _has_keyboard(nodes) else nodes
    rows = read_rows(nodes)
    for at, caption in captions(nodes).items():
        rows.placeholders.setdefault(at, caption)
    found: list[Element] = []
    at_node: list[int] = []
    taken: set[tuple[str, int, int, bool, bool]] = set()
    for at, node in enumerate(nodes):
        element = _element(at, node, rows, redact)
        if element is None:
            continue
        bounds = element.bounds
        cell = (int(bounds.center_x / _CELL_WIDTH), int(bounds.center_y / _CELL_HEIGHT))
        seen = (element.label, *cell, element.clickable, element.editable)
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
    label, value = _label_and_value(at, node, rows, redact, editable)
    usable = node.clickable or editable or node.scrollable or checkable or node.long_clickable
    usable = usable or _is_web_view(node)
    if not label and not usable:
        return None
    kind = _kind(node, inner, label, editable)
    if not label and kind == "btn" and rows.holds_elements[at]:
        return None
    resource_id = one_line(node.resource_id, 120)
    class_name = one_line(node.class_name, 120)
    label = label or UNLABELED
    return Element(
        number=0,
        key=_key(node, resource_id, class_name, label),
        kind=kind,
        label=label,
        more="" if editable else _more(at, node, rows, label, redact),
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
        selected=node.selected,
        password=node.password,
        length=_masked_length(node, editable),
        long_clickable=node.long_clickable,
    )


def _masked_length(node: UiNode, editable: bool) -> int:
    """Count what a secret field shows: a third dot is a change, whatever it stands for."""
    if not (node.password or (editable and is_secret_field(node))):
        return 0
    return 0 if node.text == node.hint else min(len(node.text), _MAX_SAID)


def _more(at: int, node: UiNode, rows: Rows, label: str, redact: Callable[[str], str]) -> str:
    """Return what a node says beside its label; nearly always nothing."""
    said = [node.text, node.description] if node.text and node.description else []
    if len(node.text or node.description) > LABEL_CHARS or label.endswith("..."):
        said += [node.text, node.description, *rows.parts_of(at)]
    said += rows.inside.get(at, ())
    if not said:
        return ""
    parts = dict.fromkeys(part for part in (_tidy(text, redact) for text in said) if part)
    return " | ".join(part for part in parts if part.casefold() != label.casefold())


def _tidy(text: str, redact: Callable[[str], str]) -> str:
    # Redact before cutting: half a card number would no longer be recognised.
    return redact(one_line(as_drawn(text[:_MAX_TEXT]), _MAX_SAID))


def _held(text: str, redact: Callable[[str], str]) -> str:
    """Return what a field holds as it stands there, unless a detail that is hidden spans lines."""
    return hidden_as_written(as_drawn(text[:_MAX_TEXT]), redact, _MAX_SAID)


def _label_and_value(
    at: int, node: UiNode, rows: Rows, redact: Callable[[str], str], editable: bool
) -> tuple[str, str]:
    if editable and not node.hint and not node.description and at in rows.placeholders:
        # What a field is called decides too whether it holds a secret.
        node = replace(node, hint=rows.placeholders[at])
    if node.password or (editable and is_secret_field(node)):
        return cut(_tidy(node.hint or node.description, redact) or "password"), ""
    if editable:
        name = _tidy(node.hint, redact) or _tidy(node.description, redact)
        value = _held(node.text, redact)
        return cut(name), "" if value and value.strip() == name else value
    text, description = _tidy(node.text, redact), _tidy(node.description, redact)
    if _kind_of(_shape(node.class_name)[-_SHAPE_CHARS:]) == "slider":
        name, at_value = _slider_name_and_value(text, description)
        if name:
            return cut(name), at_value
    own = text or description
    if own:
        return cut(own), ""
    parts = [part for part in (_tidy(text, redact) for text in rows.parts_of(at)) if part]
    return cut(" | ".join(dict.fromkeys(parts))), ""


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


def _kind(node: UiNode, toggle: UiNode | None, label: str, editable: bool) -> str:
    if editable:
        return "INPUT"
    if node.class_name == SEEN_TEXT:
        return SEEN_TEXT
    if _is_web_view(node):
        return "webview"
    if node.scrollable:
        return "scrollable"
    shape = _shape(toggle.class_name if toggle is not None else node.class_name)
    kind = _kind_of(shape[-_SHAPE_CHARS:])
    if kind in {"switch", "radio", "chip"}:
        return kind
    if kind == "slider":
        return kind
    if toggle is not None or node.checkable:
        return "checkbox"
    if not (node.clickable or node.long_clickable):
        return "text"
    if kind == "tab":
        return kind
    return "nav-btn" if label.casefold() in _NAV_LABELS else kind


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
    x, y = int(node.bounds.center_x * 20), int(node.bounds.center_y * 20)
    return f"{resource_id}|{_shape(class_name)}|{label[:NEW_LABEL_CHARS]}|{x},{y}"


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


def _is_keyboard(node: UiNode) -> bool:
    return any(word in node.package for word in _KEYBOARD_WORDS)


def _has_keyboard(nodes: Sequence[UiNode]) -> bool:
    """Return whether a keyboard's window lies over an app's, which a model must still see."""
    packages = {node.package for node in nodes}
    keyboards = {package for package in packages if any(w in package for w in _KEYBOARD_WORDS)}
    return bool(keyboards) and keyboards != packages
