"""Say what changed between two observations (the strings of CONTRACTS 5.2).

Not a verdict on an action (that is `agent.loop.screen.verify`). Invariant: app comes before screen,
screen before labels, labels before layout; the first that differs is what is said.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from agent.loop.screen.elements import NEW_LABEL_CHARS, UNLABELED
from agent.loop.screen.screen_text import activity_name
from agent.records import Element, Foreground, Observation
from agent.text import breaks_shown, one_line

FIRST_SCREEN = "FIRST_SCREEN"
NO_CHANGE = "NO_CHANGE: Nothing on the screen changed."
PICTURE_ONLY = "PICTURE_CHANGED: The picture changed, no element did."
PICTURE_DIFFERS = 0.0002
"""From this share on a picture counts as another; one cell of `picture_distance` is 0.00036."""
SHIFTED = "SCREEN_CHANGED: Layout or positions shifted."
_SHOWN = 5
VALUE_CHARS = 120
"""How much of a field's value a change names; the screen shows more."""
_TOAST_CHARS = 200
_DIGITS = re.compile(r"\d+")
_FINGERPRINT_ELEMENTS = 200
# 50 px of the 1080 × 2400 screen of CONTRACTS 5.1; the rows make a scroll a change.
_COLUMN, _ROW = 50 / 1080, 50 / 2400


def fingerprint(foreground: Foreground, elements: Sequence[Element]) -> str:
    """Hash what a person would call the same screen: app, labels, values, states and places."""
    lines = [foreground.package, foreground.activity, "k" if foreground.keyboard_shown else "-"]
    for element in elements[:_FINGERPRINT_ELEMENTS]:
        x, y = int(element.bounds.center_x / _COLUMN), int(element.bounds.center_y / _ROW)
        flags = (
            ("x" if element.checked else "-")
            + ("x" if element.enabled else "-")
            + ("x" if element.selected else "-")
            + ("x" if element.editable and element.focused else "-")
        )
        lines.append(
            f"{element.label}@{x},{y}{flags}{element.length}{element.value}|{element.more}"
        )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]


def is_same(previous: Observation, current: Observation) -> bool:
    """Tell whether a person would have noticed nothing between two screens."""
    return (
        previous.fingerprint == current.fingerprint
        and not current.toast
        and not picture_differs(current)
    )


def picture_differs(current: Observation) -> bool:
    """Tell whether the picture of a screen is another than that of the screen before."""
    return current.picture_change >= PICTURE_DIFFERS


def only_digits_differ(before: Sequence[Element], after: Sequence[Element]) -> bool:
    """Tell whether two screens differ by digits alone: a clock that runs is no unrest."""
    if len(before) != len(after):
        return False
    return all(
        was.label == now.label or (_DIGITS.sub("0", was.label) == _DIGITS.sub("0", now.label))
        for was, now in zip(before, after, strict=True)
    ) and all(
        (was.key.rsplit("|", 1)[-1], was.checked, was.enabled, was.value, was.focused)
        == (now.key.rsplit("|", 1)[-1], now.checked, now.enabled, now.value, now.focused)
        for was, now in zip(before, after, strict=True)
    )


def describe_change(previous: Observation | None, current: Observation) -> str:
    """Say in one line how a screen differs from the one before, as a person would notice it."""
    if previous is None:
        return FIRST_SCREEN
    said = _difference(previous, current)
    if not current.toast:
        return said
    if said in (NO_CHANGE, PICTURE_ONLY):
        return f"TOAST: {toast_said(current)} No element changed."
    return f"{said} {toast_said(current)}"


def toast_said(current: Observation) -> str:
    """Say what a toast said."""
    return f'A toast said "{current.toast[:_TOAST_CHARS]}".'.replace("\n", " ")


def _difference(previous: Observation, current: Observation) -> str:
    if previous.fingerprint == current.fingerprint:
        return PICTURE_ONLY if picture_differs(current) else NO_CHANGE
    was, now = previous.foreground, current.foreground
    if was.package != now.package:
        return f"NEW APP: Changed from {was.package or 'unknown'} to {now.package or 'unknown'}."
    if was.activity != now.activity:
        return f"NEW SCREEN: {activity_name(now.activity)} (was: {activity_name(was.activity)})."
    if previous.tree_note or current.tree_note:
        return "SCREEN_CHANGED"
    keyboard = keyboard_change(previous, current)
    added, removed = label_difference(previous.elements, current.elements)
    said = []
    if added:
        said.append(f"New elements: {listed(added)}.")
    if removed:
        said.append(f"Removed: {listed(removed)}.")
    states = _states(previous.elements, current.elements)
    if states:
        said.append(f"{', '.join(states[:_SHOWN])}{_more(states)}.")
    if keyboard:
        said.append(keyboard)
    return f"CONTENT_UPDATED: {' '.join(said)}" if said else SHIFTED


def keyboard_change(previous: Observation, current: Observation) -> str:
    """Say whether the keyboard came or went; empty when it did neither."""
    if previous.foreground.keyboard_shown == current.foreground.keyboard_shown:
        return ""
    return "The keyboard opened." if current.foreground.keyboard_shown else "The keyboard closed."


def label_difference(
    before: Sequence[Element], after: Sequence[Element]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels that came and those that went, in reading order.

    Whole labels are compared; what is returned is cut at 40 characters where that tells them apart.
    """
    old = dict.fromkeys(_labels(before))
    new = dict.fromkeys(_labels(after))
    added = [label for label in new if label not in old]
    removed = [label for label in old if label not in new]
    alike = set(map(_short, added)) & set(map(_short, removed))

    def shown(label: str) -> str:
        short = _short(label)
        return label if short in alike else short

    return tuple(map(shown, added)), tuple(map(shown, removed))


def _short(label: str) -> str:
    return one_line(label, NEW_LABEL_CHARS)


def _states(before: Sequence[Element], after: Sequence[Element]) -> list[str]:
    """Say which switch, field or focus changed where the element stayed."""
    old = {element.key: element for element in before}
    said = []
    for element in after:
        was = old.get(element.key)
        if was is None:
            continue
        name = f'"{_short(element.label)}"'
        if element.checkable and was.checked != element.checked:
            said.append(f"{name} is now {_on(element)}")
        elif was.value != element.value:
            said.append(f'{name} now holds "{one_line(breaks_shown(element.value), VALUE_CHARS)}"')
        elif was.length != element.length:
            said.append(f"{name} now holds {element.length} hidden characters")
        elif was.selected != element.selected and element.selected:
            said.append(f"{name} is now SELECTED")
        elif was.enabled != element.enabled:
            said.append(f"{name} is now {'enabled' if element.enabled else 'DISABLED'}")
        elif element.editable and element.focused and not was.focused:
            said.append(f"{name} has the focus")
    return said


def _on(element: Element) -> str:
    return "CHECKED" if element.checked else "UNCHECKED"


def _labels(elements: Sequence[Element]) -> list[str]:
    return [e.label for e in elements if e.label != UNLABELED]


def listed(labels: Sequence[str], most: int = _SHOWN) -> str:
    """Return the first labels in quotes, and how many more there are."""
    return ", ".join(f'"{label}"' for label in labels[:most]) + _more(labels, most)


def _more(labels: Sequence[str], most: int = _SHOWN) -> str:
    return f" and {len(labels) - most} more" if len(labels) > most else ""
