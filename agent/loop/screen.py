"""Write a screen as text for a model (the format of CONTRACTS 5.1).

Not the numbering (that is `agent.loop.elements`). Invariant: every element is one line, whatever
its label holds: labels have no line breaks, and a quotation mark in one is written as an apostrophe
so that nothing a phone shows can look like the end of its own label.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.loop.elements import UNLABELED, zone
from agent.loop.layout import is_navigation, layout_of
from agent.records import Element, Foreground

MAX_OTHERS = 30
_COLLAPSED = 8
MAX_VALUE_CHARS = 300
_STRONG = "  >>> "
_PLAIN = "  "


def screen_text(
    foreground: Foreground,
    elements: Sequence[Element],
    *,
    note: str = "",
    collapse: bool = False,
) -> str:
    """Write the whole screen.

    Args:
        note: why there is no UI tree; empty when there is one.
        collapse: list content that leads nowhere by label only, without numbers, to keep a model
            on its way through menus.
    """
    lines = [f"Package: {foreground.package or 'unknown'}"]
    if foreground.activity:
        lines.append(f"Screen: {activity_name(foreground.activity)}")
    if foreground.keyboard_shown:
        lines.append("Keyboard: shown")
    if note:
        lines.append(f"(no UI tree: {note})")
        return "\n".join(lines)
    if not elements:
        lines.append("(empty screen)")
        return "\n".join(lines)
    pattern = layout_of(elements)
    if pattern:
        lines.append(f"Layout: {pattern}")
    lines.append("")
    top, content, bottom = _by_zone(elements)
    if bottom:
        header = "[NAVIGATION -- click these to find support]" if collapse else "[NAVIGATION]"
        lines.append(header)
        lines += [_STRONG + element_line(element) for element in bottom]
    if top:
        lines.append("[TOP BAR]")
        lines += [
            (_STRONG if is_navigation(element) else "     ") + element_line(element)
            for element in top
        ]
    if content:
        lines += _content(content, collapse)
    focused = next((element for element in elements if element.focused), None)
    if focused is not None:
        name = focused.label if focused.label != UNLABELED else focused.class_name
        lines.append(f"Focused: {name}")
    return "\n".join(lines)


def _by_zone(elements: Sequence[Element]) -> tuple[list[Element], list[Element], list[Element]]:
    zones: tuple[list[Element], list[Element], list[Element]] = ([], [], [])
    for element in elements:
        zones[zone(element)].append(element)
    return zones


def _content(content: Sequence[Element], collapse: bool) -> list[str]:
    lines = ["[CONTENT]"]
    leads = [e for e in content if is_navigation(e) and not e.editable]
    inputs = [e for e in content if e.editable]
    strong = {element.number for element in (*leads, *inputs)}
    others = [e for e in content if e.number not in strong]
    lines += [_STRONG + element_line(element) for element in (*leads, *inputs)]
    if others and collapse:
        lines.append(f"[{len(others)} other items -- NOT paths to support]")
        labels = [e.label for e in others if 2 <= len(e.label) <= 60 and e.label != UNLABELED]
        if labels:
            lines.append("  ~ " + ", ".join(f'"{_quoted(label)}"' for label in labels[:_COLLAPSED]))
    elif others:
        lines += [_PLAIN + element_line(element) for element in others[:MAX_OTHERS]]
        if len(others) > MAX_OTHERS:
            lines.append(f"  ({len(others) - MAX_OTHERS} more items...)")
    if any(element.scrollable for element in content):
        lines.append("  (scrollable)")
    return lines


def left_out(elements: Sequence[Element]) -> tuple[Element, ...]:
    """Give the elements that `screen_text` only counts, when it is not collapsed."""
    content = [element for element in elements if zone(element) == 1]
    others = [e for e in content if not e.editable and not is_navigation(e)]
    return tuple(others[MAX_OTHERS:])


def element_line(element: Element) -> str:
    """Write one element: `[id] type: "label"`, position, value, states and whether it is new."""
    labelled = element.label != UNLABELED
    parts = [f'[{element.number}] {element.kind}: "{_quoted(element.label)}"']
    parts.append(_position(element, labelled))
    if element.value:
        parts.append(f' = "{_quoted(element.value[:MAX_VALUE_CHARS])}"')
    if not labelled and element.resource_id:
        parts.append(f" id={element.resource_id.rsplit('/', 1)[-1][:40]}")
    if element.checkable:
        parts.append(" [CHECKED]" if element.checked else " [UNCHECKED]")
    if not element.enabled and (element.clickable or element.editable or element.checkable):
        parts.append(" [DISABLED]")
    if element.selected or (element.kind == "tab" and element.checked):
        parts.append(" [SELECTED]")
    if element.is_new:
        parts.append(" <-- NEW")
    return "".join(parts)


def activity_name(activity: str) -> str:
    """Give the simple name of an activity."""
    return activity.rsplit(".", 1)[-1].rsplit("/", 1)[-1]


def _position(element: Element, labelled: bool) -> str:
    x = element.bounds.center_x
    if labelled:
        return " (left)" if x < 1 / 3 else " (right)" if x > 2 / 3 else ""
    if x > 0.85:
        return " (far-right)"
    if x > 2 / 3:
        return " (right)"
    if x < 0.15:
        return " (far-left)"
    return " (left)" if x < 1 / 3 else " (center)"


def _quoted(label: str) -> str:
    return label.replace('"', "'")
