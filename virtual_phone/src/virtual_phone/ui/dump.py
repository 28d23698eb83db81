"""Write a view tree as `uiautomator dump` does.

Attribute names, their order and the XML head follow recordings of Android 13 and 14 phones; text
that XML cannot carry becomes a dot, as there. Invariant: only what can be seen is written, with
its bounds cut to the screen.
"""

import re

from virtual_phone.ui.layout import shown_text
from virtual_phone.ui.views import Kind, View

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SPECIAL = re.compile('[&<>"\n\r\t]')
_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}
_NAF_EXCLUDED = (
    "android.widget.GridView",
    "android.widget.GridLayout",
    "android.widget.ListView",
    "android.widget.TableLayout",
)
TRUE, FALSE = "true", "false"


def xml_text(text: str) -> str:
    """Return what of a text XML can carry: a dot stands for each character that it forbids."""
    if not text or text.isalnum() or (text.isascii() and text.isprintable()):
        return text
    return _dotted(text)


def _dotted(text: str) -> str:
    return _FORBIDDEN.sub(".", text)


def escape(text: str) -> str:
    """Return text as it stands inside an attribute."""
    if text.isalnum():
        return text
    return _SPECIAL.sub(lambda m: _ESCAPES[m[0]], _dotted(text))


def dump(root: View | None, package: str, rotation: int, *, compressed: bool = False) -> str:
    """Return the hierarchy of one window as XML; rotation in quarter turns."""
    parts = [HEAD, f'<hierarchy rotation="{rotation}">']
    if root is not None:
        _write(root, 0, package, parts, compressed)
    parts.append("</hierarchy>")
    return "".join(parts)


def resource_id(view: View, package: str) -> str:
    """Return a view's full resource id; a short one gets the package in front."""
    if not view.id or ":" in view.id:
        return view.id
    return f"{package}:id/{view.id}"


def _shown(view: View) -> bool:
    return not (view.hidden_from_tree or view.clip.empty)


def _important(view: View) -> bool:
    """Return whether a compressed dump keeps a view: it says or does something."""
    return bool(
        view.acts or view.text or view.desc or view.scrolls or view.checkable or view.on_long_click
    )


def _write(view: View, index: int, package: str, parts: list[str], compressed: bool) -> int:
    """Write a view and its children; return how many nodes were written at this level."""
    if not _shown(view):
        return 0
    if compressed and not _important(view):
        written = 0
        for child in view.children:
            written += _write(child, index + written, package, parts, compressed)
        return written
    clickable = view.acts and view.clickable is not False
    text = shown_text(view) if view.kind is Kind.FIELD else view.text
    parts.append("<node")
    if clickable and view.enabled and view.cls not in _NAF_EXCLUDED and not _named(view):
        parts.append(' NAF="true"')
    c = view.clip
    long_clickable = view.on_long_click is not None or view.kind is Kind.FIELD
    parts.append(
        f' index="{index}" text="{escape(text)}" resource-id="{escape(resource_id(view, package))}"'
        f' class="{view.cls}" package="{package}" content-desc="{escape(view.desc)}"'
        f' checkable="{_flag(view.checkable)}" checked="{_flag(view.checked)}"'
        f' clickable="{_flag(clickable)}" enabled="{_flag(view.enabled)}"'
        f' focusable="{_flag(view.is_focusable)}" focused="{_flag(view.focused)}"'
        f' scrollable="{_flag(view.scrolls and view.scroll_range > 0)}"'
        f' long-clickable="{_flag(long_clickable)}" password="{_flag(view.password)}"'
        f' selected="{_flag(view.selected)}" bounds="[{c.left},{c.top}][{c.right},{c.bottom}]"'
        f' drawing-order="{index + 1 if index else 0}" hint="{escape(view.hint)}"'
    )
    body = len(parts)
    written = 0
    for child in view.children:
        written += _write(child, written, package, parts, compressed)
    if len(parts) == body:
        parts.append(" />")
    else:
        parts.insert(body, ">")
        parts.append("</node>")
    return 1


def _flag(value: bool) -> str:
    return TRUE if value else FALSE


def _named(view: View) -> bool:
    return bool(view.text or view.desc) or any(_named(c) for c in view.children if _shown(c))
