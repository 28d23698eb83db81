"""Gestures as the judge takes them, and as the operator reads them on an approval.

Pure. Invariant: every element that a gesture may press, and every text and link that it hands over,
is an act of its own.
"""

from __future__ import annotations

from typing import assert_never

from agent.safety.effects.acts import Act, ActKind
from agent.tools.gesture_arguments import (
    Clipboard,
    DragTo,
    GestureArguments,
    OpenLink,
    PressKeys,
    TapPoint,
)
from agent.tools.planned_action import Deed, clip


def acts_of_gesture(action: GestureArguments, deed: Deed) -> tuple[Act, ...]:
    """Return the acts that a gesture is made of, at least one."""
    match action:
        case TapPoint(press=press):
            kind = ActKind.LONG_PRESS if press == "long" else ActKind.PRESS
            return (Act(kind=kind, point=deed.point),)
        case DragTo():
            # What is dragged, and what it is dropped on: a bin deletes.
            return (
                Act(kind=ActKind.DRAG, point=deed.point, end=deed.end),
                Act(kind=ActKind.DRAG, point=deed.end, end=deed.end),
            )
        case PressKeys():
            # Of a secret only the pad is known here, and no key of it.
            keys = (deed.pad,) if deed.pad is not None else deed.keys
            return tuple(
                Act(kind=ActKind.PRESS, element=key, point=clip(key.bounds.center)) for key in keys
            )
        case OpenLink() if deed.package:
            return (Act(kind=ActKind.LAUNCH, package=deed.package),)
        case OpenLink(link=link):
            return (Act(kind=ActKind.OPEN_LINK, link=link.strip()),)
        case Clipboard(do="paste", text=text):
            return (Act(kind=ActKind.TYPE, element=deed.element, text=text),)
        case Clipboard(text=text):
            return (Act(kind=ActKind.COPY, text=text),)
        case _:
            assert_never(action)


def gesture_intent(deed: Deed) -> str:
    """Say what a gesture would do, as a sentence: "Dragged …" becomes "Drag …"."""
    verb, _, rest = deed.said.partition(" ")
    return f"{_PRESENT.get(verb, verb)} {rest}."


_PRESENT = {
    "Tapped": "Tap",
    "Double-tapped": "Double-tap",
    "Long-pressed": "Long-press",
    "Dragged": "Drag",
    "Pressed": "Press",
    "Opened": "Open",
    "Read": "Read",
    "Copied": "Copy",
    "Pasted": "Paste",
}
