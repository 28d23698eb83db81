"""Find on the screen what a gesture is about. Touches nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never
from urllib.parse import urlsplit

from agent.records import Element, Observation, Point
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.redacting.secrets import SECRET, is_placeholder
from agent.text import one_line
from agent.tools.arguments import BadArguments
from agent.tools.gesture_arguments import (
    MAX_KEYS,
    SCALE,
    Clipboard,
    DragTo,
    GestureArguments,
    OpenLink,
    PressKeys,
    TapPoint,
)
from agent.tools.planned_action import Deed, clip, element_at, name_of

MAX_LINK_CHARS = 2000
MAX_CLIP_CHARS = 2000
SETTINGS_PREFIXES = ("android.settings.",)
SETTINGS_APP = "com.android.settings"
LINK_SCHEMES = frozenset({"http", "https", "geo", "tel", "sms", "smsto", "mailto", "market"})
"""What a link may begin with: none of these hands a file or an app's own component over."""
# Signs that keypads write in several ways, and the words that they say for them.
_SAME_KEYS = {
    "*": ("×", "x", "✕", "∗", "multiply", "times", "star", "asterisk"),
    "×": ("*", "x", "multiply", "times"),
    "/": ("÷", "divide", "divided by", "slash"),
    "÷": ("/", "divide", "divided by"),
    "-": ("−", "–", "minus", "subtract"),
    "−": ("-", "minus", "subtract"),
    "+": ("＋", "plus", "add"),
    "=": ("＝", "equals", "equal", "enter"),
    ".": (",", "point", "dot", "decimal", "decimal point"),
    ",": (".", "point", "comma", "decimal point"),
    "%": ("percent",),
    "#": ("pound", "hash", "number sign"),
    "(": ("left parenthesis", "open parenthesis"),
    ")": ("right parenthesis", "close parenthesis"),
}


def resolve_gesture(action: GestureArguments, screen: Observation) -> Deed:
    """Make the deed of a gesture.

    Raises:
        BadArguments: an element or a key does not exist, or what is asked for makes no gesture.
    """
    match action:
        case TapPoint(x=x, y=y, press=press):
            point = _point((x, y))
            here = smallest_at(point, screen.elements)
            how = {"tap": "Tapped", "double": "Double-tapped", "long": "Long-pressed"}[press]
            over = f", on {name_of(here)}" if here is not None else ""
            return Deed(action=action, said=f"{how} the point {x}, {y}{over}", point=point)
        case DragTo():
            return _resolve_drag(action, screen)
        case PressKeys():
            return _resolve_keys(action, screen)
        case OpenLink(link=link):
            shown = redact_secrets(one_line(check_link(link), 100))
            package = SETTINGS_APP if link.strip().startswith(SETTINGS_PREFIXES) else ""
            return Deed(action=action, said=f"Opened {shown}", package=package)
        case Clipboard(do=do, text=text):
            return _resolve_clipboard(action, do, text, screen)
        case _:
            assert_never(action)


def smallest_at(point: Point, screen: Sequence[Element]) -> Element | None:
    """Return the smallest element that lies at a point; None where there is none."""
    here = [
        e
        for e in screen
        if e.bounds.left <= point.x <= e.bounds.right and e.bounds.top <= point.y <= e.bounds.bottom
    ]
    return min(
        here,
        key=lambda e: (e.bounds.right - e.bounds.left) * (e.bounds.bottom - e.bounds.top),
        default=None,
    )


def keys_for(text: str, screen: Sequence[Element]) -> tuple[Element, ...]:
    """Return the keys of a keypad that write a text, one a character.

    Raises:
        BadArguments: a character has no key on the screen, or several; it is not named.
    """
    keys: dict[str, list[Element]] = {}
    for element in screen:
        label = element.label.split(" | ", 1)[0].strip()
        if element.clickable and element.enabled:
            keys.setdefault(label.casefold(), []).append(element)
    found = []
    for at, character in enumerate(text, start=1):
        names = (character, *_SAME_KEYS.get(character, ()))
        fitting = next((keys[n.casefold()] for n in names if n.casefold() in keys), [])
        if len(fitting) != 1:
            several = "several keys" if fitting else "no key"
            raise BadArguments(f"the screen has {several} for character {at} of `keys`")
        found.append(fitting[0])
    return tuple(found)


def check_link(link: str) -> str:
    """Return a link that may be opened. Raises BadArguments for any other."""
    text = link.strip()
    if not text or len(text) > MAX_LINK_CHARS or not text.isprintable() or " " in text:
        raise BadArguments("`link` must be one address without spaces")
    if text.startswith(SETTINGS_PREFIXES):
        if not all(part.isidentifier() for part in text.split(".")):
            raise BadArguments("`link` is no settings page, such as android.settings.SETTINGS")
        return text
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise BadArguments("`link` is no address") from error
    if parts.scheme.casefold() not in LINK_SCHEMES:
        raise BadArguments(
            "`link` must begin with https:// or another of "
            f"{', '.join(sorted(LINK_SCHEMES))}, or be a page of android.settings"
        )
    if parts.scheme.casefold() in {"http", "https"} and not parts.hostname:
        raise BadArguments("`link` names no host")
    return text


def _resolve_drag(action: DragTo, screen: Observation) -> Deed:
    if bool(action.element) == bool(action.start):
        raise BadArguments("name what to drag: `element`, or `start` as x and y of the picture")
    if bool(action.to_element) == bool(action.end):
        raise BadArguments("name where to: `to_element`, or `end` as x and y of the picture")
    element = element_at(screen, action.element) if action.element else None
    goal = element_at(screen, action.to_element) if action.to_element else None
    start = _read_point(action.start) if element is None else clip(element.bounds.center)
    end = _read_point(action.end) if goal is None else clip(goal.bounds.center)
    if start == end:
        raise BadArguments("the drag ends where it starts")
    what = name_of(element) if element is not None else _written(start)
    where = name_of(goal) if goal is not None else _written(end)
    return Deed(
        action=action,
        said=f"Dragged {what} to {where}",
        element=element,
        point=start,
        end=end,
    )


def _resolve_keys(action: PressKeys, screen: Observation) -> Deed:
    if bool(action.keys) == bool(action.elements):
        raise BadArguments("name what to press: `keys`, or the numbers of `elements`")
    if is_placeholder(action.keys):
        pad = next((e for e in screen.elements if e.clickable and _is_digit(e)), None)
        if pad is None:
            raise BadArguments("the screen has no keypad: type a secret into its field")
        return Deed(action=action, said=f"Pressed {SECRET} on the keypad", pad=pad, is_secret=True)
    if len(action.elements) > MAX_KEYS:
        raise BadArguments(f"`elements` names more than {MAX_KEYS}")
    if action.elements:
        pressed = tuple(element_at(screen, number) for number in action.elements)
        off = next((key for key in pressed if not key.enabled), None)
        if off is not None:
            raise BadArguments(f"element [{off.number}] {name_of(off)} is disabled")
    else:
        text = "".join(action.keys.split())
        if len(text) > MAX_KEYS:
            raise BadArguments(f"`keys` has more than {MAX_KEYS} characters")
        pressed = keys_for(text, screen.elements)
    labels = " ".join(one_line(key.label, 20) for key in pressed)
    return Deed(action=action, said=f"Pressed {redact_secrets(labels)[:200]}", keys=pressed)


def _resolve_clipboard(action: Clipboard, do: str, text: str, screen: Observation) -> Deed:
    if do == "read":
        return Deed(action=action, said="Read the clipboard")
    if not text:
        raise BadArguments("`text` is empty: say what to copy or paste")
    if len(text) > MAX_CLIP_CHARS:
        raise BadArguments(f"`text` has more than {MAX_CLIP_CHARS} characters")
    shown = f'"{redact_secrets(one_line(text, 2000))[:40]}"'
    if do == "copy":
        return Deed(action=action, said=f"Copied {shown}")
    field = next((e for e in screen.elements if e.editable and e.focused), None)
    if field is None and screen.elements:
        raise BadArguments("no field is focused: tap the field first, or use type_text")
    where = "" if field is None else f" into {name_of(field)}"
    return Deed(action=action, said=f"Pasted {shown}{where}", element=field)


def _point(at: tuple[int, int]) -> Point:
    return Point(x=at[0] / SCALE, y=at[1] / SCALE)


def _is_digit(element: Element) -> bool:
    label = element.label.split(" | ", 1)[0].strip()
    return len(label) == 1 and label.isdigit()


def _read_point(text: str) -> Point:
    """Read "x,y". Raises BadArguments for what is no point of the picture."""
    numbers = re.findall(r"\d{1,4}", text[:40])
    if len(numbers) != 2 or any(int(number) > SCALE for number in numbers):
        raise BadArguments(f'a point is written "x,y", each from 0 to {SCALE}')
    return _point((int(numbers[0]), int(numbers[1])))


def _written(point: Point) -> str:
    return f"{round(point.x * SCALE)}, {round(point.y * SCALE)}"
