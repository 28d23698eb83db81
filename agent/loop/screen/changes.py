"""What changed between two observations (the strings of CONTRACTS 5.2).

Not a verdict on an action (that is `agent.loop.screen.verify`). Invariant: app comes before screen,
screen before labels, labels before layout; the first that differs is what is said.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from agent.loop.by_identity import by_identity
from agent.loop.screen.dialogs import dialog_title
from agent.loop.screen.elements import NEW_LABEL_CHARS, UNLABELED
from agent.loop.screen.matching import Displacement, Pair, leaves, pairs, shift
from agent.loop.screen.screen_text import activity_name
from agent.loop.screen.windows import STATUS_BAR
from agent.records import Element, Foreground, Observation
from agent.text import on_one_line, one_line

FIRST_SCREEN = "FIRST_SCREEN"
NO_CHANGE = "NO_CHANGE: Nothing on the screen changed."
PICTURE_ONLY = "PICTURE_CHANGED: The picture changed, no element did."
PICTURE_DIFFERS = 0.0002
"""From this share on a picture counts as another; one cell of `picture_distance` is 0.00036."""
SHIFTED = "SCREEN_CHANGED: Layout or positions shifted."
KEYBOARD_OPENED, KEYBOARD_CLOSED = "The keyboard opened.", "The keyboard closed."
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
        if element.kind == STATUS_BAR:
            # A clock that runs and a message that comes are no effect of what was done.
            continue
        box = element.bounds
        x = int((box.left + box.right) / 2 / _COLUMN)
        y = int((box.top + box.bottom) / 2 / _ROW)
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
    """Return whether a person would have noticed nothing between two screens."""
    return (
        previous.fingerprint == current.fingerprint
        and not current.toast
        and not picture_differs(current)
    )


def picture_differs(current: Observation) -> bool:
    """Return whether the picture of a screen is another than that of the screen before."""
    return current.picture_change >= PICTURE_DIFFERS


def only_digits_differ(before: Sequence[Element], after: Sequence[Element]) -> bool:
    """Return whether two screens differ by digits alone: a clock that runs is no unrest."""
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


def describe_change(
    previous: Observation | None,
    current: Observation,
    *,
    covered: Observation | None = None,
    scrolled: bool = False,
) -> str:
    """Return in one line how a screen differs from the one before, as a person would notice it.

    Args:
        covered: the screen that a dialog of `previous` stood over, where that is known.
        scrolled: whether the screen was scrolled in between.
    """
    if previous is None:
        return FIRST_SCREEN
    said = _difference(previous, current, covered, scrolled)
    if not current.toast:
        return said
    if said in (NO_CHANGE, PICTURE_ONLY):
        return f"TOAST: {toast_said(current)} No element changed."
    return f"{said} {toast_said(current)}"


def toast_said(current: Observation) -> str:
    return f'A toast said "{current.toast[:_TOAST_CHARS]}".'.replace("\n", " ")


def _difference(
    previous: Observation, current: Observation, covered: Observation | None, scrolled: bool
) -> str:
    if previous.fingerprint == current.fingerprint:
        return PICTURE_ONLY if picture_differs(current) else NO_CHANGE
    was, now = previous.foreground, current.foreground
    if was.package != now.package:
        return f"NEW APP: Changed from {was.package or 'unknown'} to {now.package or 'unknown'}."
    if was.activity != now.activity:
        return f"NEW SCREEN: {activity_name(now.activity)} (was: {activity_name(was.activity)})."
    if previous.tree_note or current.tree_note:
        return "SCREEN_CHANGED"
    differing = difference(previous, current, covered=covered, scrolled=scrolled)
    said = [differing.dialog]
    if differing.states:
        said.append(f"{', '.join(differing.states[:_SHOWN])}{_more(differing.states)}.")
    for name, labels in (
        ("New elements", differing.added),
        ("Now visible", differing.shown),
        ("Removed", differing.removed),
        ("No longer visible", differing.hidden),
    ):
        said += [f"{name}: {listed(labels)}."] if labels else []
    said.append(differing.keyboard)
    said = [part for part in said if part]
    return f"CONTENT_UPDATED: {' '.join(said)}" if said else SHIFTED


class Difference(NamedTuple):
    """How one page differs from itself some time before."""

    dialog: str  # That a dialog opened or closed; empty when none did.
    states: Sequence[str]
    added: Sequence[str]  # Labels that came.
    shown: Sequence[str]  # Labels that a movement or the keyboard uncovered.
    removed: Sequence[str]
    hidden: Sequence[str]  # Labels that a movement or the keyboard took out of sight.
    keyboard: str


def difference(
    previous: Observation,
    current: Observation,
    *,
    covered: Observation | None = None,
    scrolled: bool = False,
) -> Difference:
    """Compare two screens of one page; `describe_change` says what the arguments are."""
    return _compared(previous, current, covered, scrolled)


@by_identity
def _compared(
    previous: Observation, current: Observation, covered: Observation | None, scrolled: bool
) -> Difference:
    before, after = previous.elements, current.elements
    opened, closed = dialog_title(after), dialog_title(before)
    keyboard = keyboard_change(previous, current)
    if opened is not None and closed is None:
        # What it covers is still there, and all that is new is the dialog.
        return Difference(_opened(opened), (), (), (), (), (), keyboard)
    dialog = ""
    if closed is not None and opened is None:
        dialog = "The dialog closed."
        if covered is None or covered.foreground.activity != current.foreground.activity:
            return Difference(dialog, (), (), (), (), (), keyboard)
        before = covered.elements
    added, removed = label_difference(before, after)
    uncovers = scrolled or keyboard == KEYBOARD_CLOSED
    covers = scrolled or keyboard == KEYBOARD_OPENED
    matched = pairs(before, after)
    out, came = _moved_labels(before, after, matched)
    return Difference(
        dialog=dialog,
        states=_states(matched),
        added=[label for label in added if not (uncovers or label in came)],
        shown=[label for label in added if uncovers or label in came],
        removed=[label for label in removed if not (covers or label in out)],
        hidden=[label for label in removed if covers or label in out],
        keyboard=keyboard,
    )


def _opened(title: str) -> str:
    return f'A dialog opened: "{title}".' if title else "A dialog opened."


def _moved_labels(
    before: Sequence[Element], after: Sequence[Element], matched: Sequence[Pair]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a movement of the content took out of its area, and what it brought in."""
    moved = shift(matched)
    if moved is None:
        return frozenset(), frozenset()
    back = Displacement(-moved.across, -moved.down)
    areas = [element for element in before if element.scrollable]
    out = [e.label for e in before if leaves(e, moved, areas)]
    came = [e.label for e in after if leaves(e, back, areas)]
    return frozenset(_cut(out)), frozenset(_cut(came))


def keyboard_change(previous: Observation, current: Observation) -> str:
    """Return whether the keyboard came or went; empty when it did neither, or nobody knows."""
    before, now = previous.foreground.keyboard_shown, current.foreground.keyboard_shown
    if before is None or now is None or before == now:
        return ""
    return KEYBOARD_OPENED if now else KEYBOARD_CLOSED


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
    came, went = _cut(added), _cut(removed)
    alike = set(came) & set(went)
    if alike:
        came = [
            label if short in alike else short for label, short in zip(added, came, strict=True)
        ]
        went = [
            label if short in alike else short for label, short in zip(removed, went, strict=True)
        ]
    return tuple(came), tuple(went)


def _short(label: str) -> str:
    return one_line(label, NEW_LABEL_CHARS)


def _cut(labels: Sequence[str]) -> list[str]:
    # An element's label was cleaned as it was read.
    return [label if len(label) <= NEW_LABEL_CHARS else _short(label) for label in labels]


def _states(matched: Sequence[Pair]) -> list[str]:
    """Return which switch, field or focus changed where the element stayed."""
    said = (
        state_change(was, now, f'"{_short(now.label)}"', focus=True)
        for was, now in matched
        if was != now
    )
    return [state for state in said if state]


def state_change(was: Element, now: Element, name: str, *, focus: bool = False) -> str:
    """Return how the state of one element changed; empty when it did not.

    Args:
        name: what the element is called.
        focus: whether a field that got the focus is reported.
    """
    if now.checkable and was.checked != now.checked:
        return f"{name} is now {_on(now)}"
    if was.value != now.value and now.kind == "slider" and now.value:
        return f"{name} is now at {one_line(now.value, VALUE_CHARS)}"
    # A slider whose app says its place no more is not empty.
    if was.value != now.value and now.kind != "slider":
        held = f'now holds "{on_one_line(now.value, VALUE_CHARS)}"'
        return f"{name} {held if now.value else 'is now empty'}"
    if was.length != now.length:
        return f"{name} now holds {now.length} hidden characters"
    if was.selected != now.selected and now.selected:
        return f"{name} is now SELECTED"
    if was.enabled != now.enabled:
        return f"{name} is now {'enabled' if now.enabled else 'DISABLED'}"
    if focus and now.editable and now.focused and not was.focused:
        return f"{name} has the focus"
    return ""


def _on(element: Element) -> str:
    return "CHECKED" if element.checked else "UNCHECKED"


def _labels(elements: Sequence[Element]) -> list[str]:
    return [e.label for e in elements if e.label != UNLABELED and e.kind != STATUS_BAR]


def listed(labels: Sequence[str], most: int = _SHOWN) -> str:
    """Return the first labels in quotes, and how many more there are."""
    return ", ".join(f'"{label}"' for label in labels[:most]) + _more(labels, most)


def _more(labels: Sequence[str], most: int = _SHOWN) -> str:
    return f" and {len(labels) - most} more" if len(labels) > most else ""
