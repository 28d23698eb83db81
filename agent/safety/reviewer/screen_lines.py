"""Write a screen for a reviewer: a line an element, short enough to be asked about at every act.

Not a model's view of a screen (`agent.loop.screen.screen_text`), which says how to act on it. Pure.
Invariant: every line begins with a sign and a role that no app can write, whatever its label holds.
"""

from collections.abc import Collection, Sequence

from agent.records import Element, Observation
from agent.safety.prompt_fencing import unfenced
from agent.safety.words import id_words
from agent.text import one_line

ACTED, PLAIN = "=>", "-"
_LABEL_CHARS = 110
_VALUE_CHARS = 160
_HEAD_LINES = 4  # The first lines say which page it is.
_UNNAMED = "unlabeled"
_ROW_WIDTH = 0.7
_ROLES = {
    "INPUT": "field",
    "icon-btn": "icon",
    "scrollable": "list",
    "webview": "web page",
    **dict.fromkeys(("switch", "checkbox", "chip", "slider", "tab", "text")),
    "radio": "choice",
}
"""What the numbering calls a kind of element (`agent.loop.screen.elements`), for a reader; without
a word of its own it stays. The rest is a button, a row or a control by its class and width."""
_STATUS_BAR = "status-bar"


def screen_lines(
    screen: Observation, acted: Collection[Element] = (), *, room: int = 1500
) -> list[str]:
    """Return the lines of a screen, in reading order.

    Args:
        acted: what the act touches; these lines are marked, and never left out.
        room: bytes of all lines together, since tokens go by bytes in every script. What is far
            from the act is left out first.
    """
    shown = [e for e in screen.elements if _says_something(e) or e in acted]
    lines = [element_line(e, is_acted=e in acted) for e in shown]
    kept = _near(shown, lines, acted, room)
    written: list[str] = []
    left = 0
    for at, line in enumerate(lines):
        if at in kept:
            if left:
                written.append(f"  … {left} more …")
            written.append(line)
            left = 0
        else:
            left += 1
    return [*written, f"  … {left} more …"] if left else written


def element_line(element: Element, *, is_acted: bool = False) -> str:
    """Return an element as a line: its sign, role, words, content and state."""
    sign = ACTED if is_acted else PLAIN
    parts = [sign, role_of(element)]
    if element.label != _UNNAMED:
        parts.append(f'"{_tidy(element.label, _LABEL_CHARS)}"')
    else:
        named = " ".join(id_words(element.resource_id.rpartition("/")[2]))
        parts.append(f"(no words; id: {_tidy(named, 60)})" if named else "(no words)")
    if element.more and is_acted and not element.label.endswith("..."):
        parts.append(f'also says "{_tidy(element.more, _LABEL_CHARS)}"')
    if element.editable:
        held = "a secret" if element.password else f'"{_tidy(element.value, _VALUE_CHARS)}"'
        parts.append(f"holds {held}")
    elif element.value:
        parts.append(f'at "{_tidy(element.value, 40)}"')
    states = []
    if element.checkable:
        states.append("on" if element.checked else "off")
    states += ["selected"] * element.selected + ["disabled"] * (not element.enabled)
    return " ".join([*parts, f"[{', '.join(states)}]"] if states else parts)


def role_of(element: Element) -> str:
    """Return what an element is, in a word."""
    if element.kind in _ROLES:
        return _ROLES[element.kind] or element.kind
    if element.class_name.endswith("Button"):
        return "button"
    if element.clickable or element.long_clickable or element.checkable:
        return "row" if element.bounds.right - element.bounds.left > _ROW_WIDTH else "control"
    return "text"


def size_of(line: str) -> int:
    """Return the bytes of a line."""
    return len(line.encode("utf-8", "replace"))


def _says_something(element: Element) -> bool:
    if element.kind == _STATUS_BAR or (element.scrollable and element.label == _UNNAMED):
        return False
    return element.label != _UNNAMED or element.clickable or element.editable


def _near(
    shown: Sequence[Element], lines: Sequence[str], acted: Collection[Element], room: int
) -> set[int]:
    """Return the places of the lines that are kept: the head, the act's, then the nearest."""
    marked = [at for at, e in enumerate(shown) if e in acted]
    middle = shown[marked[0]].bounds.center_y if marked else 0.0
    order = sorted(range(len(shown)), key=lambda at: abs(shown[at].bounds.center_y - middle))
    kept = {*range(min(_HEAD_LINES, len(lines))), *marked}
    room -= sum(size_of(lines[at]) for at in kept)
    for at in order:
        room -= 0 if at in kept else size_of(lines[at])
        if room < 0:
            break
        kept.add(at)
    return kept


def _tidy(text: str, limit: int) -> str:
    return unfenced(one_line(text, limit)).replace('"', "'")
