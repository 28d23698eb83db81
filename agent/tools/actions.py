"""Turn an action tool's arguments into one action on a phone.

Not a policy and not a verifier. Two halves, so that the intent can be stored in between: `resolve`
reads the screen and touches nothing; `carry_out` touches the phone and decides nothing. Invariant:
an action points at the bounds of the very node the model's number meant.
"""

from collections.abc import Sequence
from typing import assert_never

from agent.devices.gestures import DoubleTap
from agent.devices.protocols import Button, Device, PlacesCaret
from agent.errors import InputRefusedError
from agent.knowledge.library import Library
from agent.records import AppInfo, Element, Observation, Point, Session
from agent.safety.redacting.secrets import (
    SECRET,
    is_secret_field,
    mentions_vault,
    vault_name,
    vault_reference,
)
from agent.tools.app_names import find_app
from agent.tools.arguments import (
    BadArguments,
    ClickElement,
    LaunchApp,
    LongPressElement,
    PressButton,
    Scroll,
    TypeText,
)
from agent.tools.planned_action import (
    ActionArguments,
    PhoneTool,
    ResolvedAction,
    clip,
    element_at,
    name_of,
    said_text,
)
from agent.tools.relaunch import launch
from agent.tools.volume import volume_note

__all__ = ["ActionArguments", "ResolvedAction", "carry_out", "resolve", "swipe_for"]

LONG_PRESS_MS = 1000
SWIPE_MS = 700
"""Slow enough that lists glide on by less than the part of them that the swipe leaves out."""
_TYPED_CHARS = 80  # How much of a typed text its result repeats.
_SHOWN_FIELDS = 6
_MARGIN = 0.15  # Share of an area that a swipe keeps clear of at either end.


def resolve(
    action: ActionArguments, screen: Observation, apps: Sequence[AppInfo], library: Library
) -> ResolvedAction:
    """Find on the screen what an action is about.

    Raises:
        BadArguments: the element, the field or the app does not exist or cannot take the action.
    """
    match action:
        case ClickElement(element=number):
            element = element_at(screen, number)
            if not element.enabled:
                raise BadArguments(f"element [{number}] {name_of(element)} is disabled")
            how = "Double-clicked" if action.double else "Clicked"
            return ResolvedAction(
                action=action,
                said=f"{how} [{number}] {name_of(element)}",
                element=element,
                point=clip(element.bounds.center),
            )
        case LongPressElement(element=number):
            element = element_at(screen, number)
            return ResolvedAction(
                action=action,
                said=f"Long-pressed [{number}] {name_of(element)}",
                element=element,
                point=clip(element.bounds.center),
            )
        case TypeText(text=text, element=field_number):
            return _resolve_typing(action, text, field_number, screen)
        case Scroll(direction=direction, element=area_number):
            area = None if area_number is None else element_at(screen, area_number)
            if area is None:
                area = _largest_scrollable(screen.elements)
            return ResolvedAction(action=action, said=f"Scrolled {direction}", element=area)
        case PressButton(button=button):
            return ResolvedAction(action=action, said=f"Pressed {button}")
        case PhoneTool():
            return action.resolve(screen)
        case LaunchApp(app=name):
            app = find_app(name, apps, library)
            shown = app.label or app.package
            return ResolvedAction(action=action, said=f'Launched "{shown}"', package=app.package)
        case _:
            assert_never(action)


async def carry_out(resolved: ResolvedAction, device: Device, session: Session) -> str:
    """Do it, and give what is to be added to what it came to; mostly nothing.

    Raises what the device raises; a time-out leaves the outcome unknown.
    """
    action = resolved.action
    match action:
        case ClickElement(double=True):
            await device.perform(DoubleTap(_point(resolved)))
        case ClickElement():
            await device.tap(_point(resolved))
        case LongPressElement():
            await device.long_press(_point(resolved), duration_ms=LONG_PRESS_MS)
        case TypeText(text=text, clear=clear):
            if clear:
                await device.clear_field()
            elif text and resolved.element is not None and resolved.element.value:
                await _to_end(device)
            return (await device.type_text(text)).note if text else ""
        case Scroll(direction=direction):
            start, end = swipe_for(direction, resolved.element)
            await device.swipe(start, end, duration_ms=SWIPE_MS)
        case PressButton(button=button):
            await device.press(Button(button))
            return await volume_note(Button(button), device)
        case PhoneTool():
            return await action.perform(resolved, device, session)
        case LaunchApp():
            await launch(device, resolved.package, session)
        case _:
            assert_never(action)
    return ""


async def _to_end(device: Device) -> None:
    """Put the caret behind what the field holds: a touch has put it where the finger was."""
    if not isinstance(device, PlacesCaret):
        return
    try:
        await device.caret_to_end()
    except InputRefusedError:
        # A text can still arrive on other ways than keys, and its result says where it went.
        return


def swipe_for(direction: str, area: Element | None) -> tuple[Point, Point]:
    """Return the swipe that shows what lies in a direction: down is a finger moving up."""
    left, top, right, bottom = 0.0, 0.1, 1.0, 0.9
    if area is not None:
        left, top = max(area.bounds.left, 0.0), max(area.bounds.top, 0.05)
        right, bottom = min(area.bounds.right, 1.0), min(area.bounds.bottom, 0.95)
    x, y = (left + right) / 2, (top + bottom) / 2
    near_x, far_x = left + (right - left) * _MARGIN, right - (right - left) * _MARGIN
    near_y, far_y = top + (bottom - top) * _MARGIN, bottom - (bottom - top) * _MARGIN
    match direction:
        case "down":
            return Point(x=x, y=far_y), Point(x=x, y=near_y)
        case "up":
            return Point(x=x, y=near_y), Point(x=x, y=far_y)
        case "right":
            return Point(x=far_x, y=y), Point(x=near_x, y=y)
        case _:
            return Point(x=near_x, y=y), Point(x=far_x, y=y)


def _resolve_typing(
    action: TypeText, text: str, number: int | None, screen: Observation
) -> ResolvedAction:
    if not text and not action.clear:
        raise BadArguments("`text` is empty: there is nothing to type")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadArguments("`text` contains half a character (a lone surrogate)") from error
    if number is None:
        fields = [e for e in screen.elements if e.editable]
        element = next((e for e in fields if e.focused), None)
        if element is None and len(fields) == 1 and not is_secret_field(fields[0]):
            # Only one can be meant.
            element = fields[0]
        if element is None and screen.elements:
            named = ", ".join(f"[{e.number}] {name_of(e)}" for e in fields[:_SHOWN_FIELDS])
            here = f"; the screen has {named}" if fields else "; the screen has no field"
            raise BadArguments(f"no field is focused: name the field's number in `element`{here}")
    else:
        element = element_at(screen, number)
        if not element.editable:
            way = '; `drag` it with `end` "40%"' if element.kind == "slider" else ""
            raise BadArguments(f"element [{number}] {name_of(element)} is not a field{way}")
    where = "" if element is None else f" into {name_of(element)}"
    kept = vault_name(text)
    if kept and element is None:
        raise BadArguments("what the vault keeps goes into a field that is seen: name `element`")
    if mentions_vault(text) and not kept:
        raise BadArguments(
            f"{vault_reference('NAME')} stands alone in `text`, with the name of one entry"
        )
    secret = bool(kept) or (element is not None and is_secret_field(element))
    shown = SECRET if secret else said_text(text, _TYPED_CHARS)
    shown = vault_reference(kept) if kept else shown
    return ResolvedAction(
        action=action,
        said=f"Typed {shown}{where}" if text else f"Emptied the field{where.replace(' into', '')}",
        is_secret=secret,
        vault=kept,
        element=element,
        point=None if element is None or element.focused else clip(element.bounds.center),
    )


def _largest_scrollable(elements: Sequence[Element]) -> Element | None:
    areas = [element for element in elements if element.scrollable]
    return max(
        areas,
        key=lambda e: (e.bounds.right - e.bounds.left) * (e.bounds.bottom - e.bounds.top),
        default=None,
    )


def _point(resolved: ResolvedAction) -> Point:
    if resolved.point is None:
        raise BadArguments("the element has no place on the screen")
    return resolved.point
