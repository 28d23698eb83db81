"""Say what changed between two observations (the strings of CONTRACTS 5.2).

Not a verdict on an action (that is `agent.loop.verify`). Invariant: app comes before screen, screen
before labels, labels before layout; the first that differs is what is said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from agent.loop.elements import NEW_LABEL_CHARS, UNLABELED
from agent.loop.screen import activity_name
from agent.records import Element, Foreground, Observation

FIRST_SCREEN = "FIRST_SCREEN"
NO_CHANGE = "NO_CHANGE: Screen is identical to the previous turn."
SHIFTED = "SCREEN_CHANGED: Layout or positions shifted."
_SHOWN = 5
_FINGERPRINT_ELEMENTS = 200
# 50 px of the 1080 × 2400 screen of CONTRACTS 5.1; the rows make a scroll a change.
_COLUMN, _ROW = 50 / 1080, 50 / 2400


def fingerprint(foreground: Foreground, elements: Sequence[Element]) -> str:
    """Hash what a person would call the same screen: app, labels, values, states and places."""
    lines = [foreground.package, foreground.activity]
    for element in elements[:_FINGERPRINT_ELEMENTS]:
        x, y = int(element.bounds.center_x / _COLUMN), int(element.bounds.center_y / _ROW)
        flags = (
            ("x" if element.checked else "-")
            + ("x" if element.enabled else "-")
            + ("x" if element.selected else "-")
            + ("x" if element.editable and element.focused else "-")
        )
        lines.append(f"{element.label[:20]}@{x},{y}{flags}{element.value[-40:]}")
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]


def describe_change(previous: Observation | None, current: Observation) -> str:
    """Say in one line how a screen differs from the one before."""
    if previous is None:
        return FIRST_SCREEN
    if previous.fingerprint == current.fingerprint:
        return NO_CHANGE
    was, now = previous.foreground, current.foreground
    if was.package != now.package:
        return f"NEW APP: Changed from {was.package or 'unknown'} to {now.package or 'unknown'}."
    if was.activity != now.activity:
        return f"NEW SCREEN: {activity_name(now.activity)} (was: {activity_name(was.activity)})."
    if previous.tree_note or current.tree_note:
        return "SCREEN_CHANGED"
    added, removed = label_difference(previous.elements, current.elements)
    if not added and not removed:
        return _states(previous.elements, current.elements) or SHIFTED
    said = []
    if added:
        said.append(f"New elements: {_list(added)}.")
    if removed:
        said.append(f"Removed: {_list(removed)}.")
    return f"CONTENT_UPDATED: {' '.join(said)}"


def label_difference(
    before: Sequence[Element], after: Sequence[Element]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the labels that came and those that went, in reading order, cut at 40 characters."""
    old = dict.fromkeys(_labels(before))
    new = dict.fromkeys(_labels(after))
    return (
        tuple(label for label in new if label not in old),
        tuple(label for label in old if label not in new),
    )


def _states(before: Sequence[Element], after: Sequence[Element]) -> str:
    """Say which switch or field changed when no label did."""
    old = {element.key: element for element in before}
    said = []
    for element in after:
        was = old.get(element.key)
        if was is None:
            continue
        if element.checkable and was.checked != element.checked:
            said.append(f'"{element.label[:NEW_LABEL_CHARS]}" is now {_on(element)}')
        elif was.value != element.value:
            said.append(
                f'"{element.label[:NEW_LABEL_CHARS]}" now holds "{element.value[:NEW_LABEL_CHARS]}"'
            )
    return f"CONTENT_UPDATED: {', '.join(said[:_SHOWN])}." if said else ""


def _on(element: Element) -> str:
    return "CHECKED" if element.checked else "UNCHECKED"


def _labels(elements: Sequence[Element]) -> list[str]:
    return [e.label[:NEW_LABEL_CHARS] for e in elements if e.label != UNLABELED]


def _list(labels: Sequence[str]) -> str:
    return ", ".join(f'"{label}"' for label in labels[:_SHOWN])
