"""Carry out a gesture that was resolved. Decides nothing but when to stop."""

from __future__ import annotations

from typing import assert_never

from agent.devices.gestures import DoubleTap, Drag, Swipe
from agent.devices.protocols import Device, OpensLinks
from agent.errors import DeviceError, TreeUnavailableError
from agent.records import Element, Point, Session, UiNode
from agent.safety.redacting.redaction import redact
from agent.text import one_line
from agent.tools.arguments import BadArguments
from agent.tools.gesture_arguments import (
    Clipboard,
    DragTo,
    GestureArguments,
    OpenLink,
    PressKeys,
    TapPoint,
)
from agent.tools.planned_action import Deed, clip
from agent.tools.relaunch import refuse_relaunch

LONG_PRESS_MS = 1000
SLIDE_MS = 700
_NEAR = 0.01
"""How far, in shares of the display, a key may lie from where it was and be the same."""
_MAX_READ_CHARS = 1000


async def perform_gesture(
    action: GestureArguments, deed: Deed, device: Device, session: Session
) -> str:
    """Do it, and return what is to be added to what it came to.

    Raises what the device raises; a time-out leaves the outcome unknown.
    """
    match action:
        case TapPoint(press=press):
            point = _point(deed.point)
            match press:
                case "tap":
                    await device.tap(point)
                case "double":
                    await device.perform(DoubleTap(point))
                case "long":
                    await device.long_press(point, duration_ms=LONG_PRESS_MS)
        case DragTo(hold=hold):
            start, end = _point(deed.point), _point(deed.end)
            if hold:
                await device.perform(Drag(start, end))
            else:
                await device.perform(Swipe(start, end, SLIDE_MS))
        case PressKeys():
            return await _press(deed, device)
        case OpenLink(link=link):
            if not isinstance(device, OpensLinks):
                raise DeviceError(
                    f"Nothing opens links on this display of {device.serial}.",
                    "Open the app, and go there by its own menus.",
                )
            refuse_relaunch(device, session, f"am start {link}")
            await device.open_link(link.strip())
        case Clipboard(do="read"):
            found = redact(one_line(await device.clipboard(), _MAX_READ_CHARS))
            return f'It holds "{found}".' if found else "It is empty."
        case Clipboard(do=do, text=text):
            await device.set_clipboard(text, paste=do == "paste")
        case _:
            assert_never(action)
    return ""


async def _press(deed: Deed, device: Device) -> str:
    """Press keys one after another; stop where the next one is not where it was."""
    if not deed.keys:
        raise BadArguments("there is no key to press")
    for done, key in enumerate(deed.keys):
        if done and not await _is_there(key, device):
            left = len(deed.keys) - done
            return (
                f"Only the first {done} were pressed: then the screen changed, and {left} are left."
            )
        await device.tap(clip(key.bounds.center))
    return ""


async def _is_there(key: Element, device: Device) -> bool:
    try:
        nodes = (await device.tree()).nodes
    except TreeUnavailableError:
        return False
    return any(_is_same(key, node) for node in nodes)


def _is_same(key: Element, node: UiNode) -> bool:
    was, now = key.bounds, node.bounds
    in_place = all(
        abs(a - b) <= _NEAR
        for a, b in (
            (was.left, now.left),
            (was.top, now.top),
            (was.right, now.right),
            (was.bottom, now.bottom),
        )
    )
    named = node.package == key.package and node.resource_id == key.resource_id
    return in_place and named and node.enabled


def _point(point: Point | None) -> Point:
    if point is None:
        raise BadArguments("the gesture has no place on the screen")
    return point
