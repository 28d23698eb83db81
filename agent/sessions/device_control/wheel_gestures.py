"""What an operator does at the wheel: whether it can be, how it is told, and the doing of it.

Not whose the wheel is (`agent.sessions.device_control.wheel`). Invariant: what was typed is in no
sentence.
"""

from typing import assert_never

from agent import protocol
from agent.devices.gestures import LONGEST_GESTURE_MS
from agent.devices.protocols import Button, Device
from agent.errors import UsageError
from agent.records import Point
from agent.text import counted, one_line

TEXT_LIMIT = 10_000


def check_gesture(gesture: protocol.WheelGesture) -> None:
    """Refuse what no phone can be asked for. Raises UsageError."""
    places: list[Point] = []
    duration_ms = 1
    match gesture:
        case protocol.WheelTap(at=at):
            places = [at]
        case protocol.WheelLongPress(at=at, duration_ms=duration_ms):
            places = [at]
        case protocol.WheelSwipe(start=start, end=end, duration_ms=duration_ms):
            places = [start, end]
        case protocol.WheelText(text=text) | protocol.WheelPaste(text=text):
            if not text or len(text) > TEXT_LIMIT:
                raise UsageError(f"Type 1 to {TEXT_LIMIT} characters at a time.")
        case protocol.WheelButton(button=button):
            if button not in Button.__members__:
                raise UsageError(
                    f"There is no button {one_line(button, 40)!r}.",
                    f"Buttons: {', '.join(Button.__members__)}.",
                )
        case _:
            assert_never(gesture)
    if not 0 < duration_ms <= LONGEST_GESTURE_MS:
        raise UsageError(
            f"A gesture cannot take {duration_ms} ms.", f"Give 1 to {LONGEST_GESTURE_MS}."
        )
    if any(not (0 <= at.x <= 1 and 0 <= at.y <= 1) for at in places):
        raise UsageError("A place is outside the screen.", "Give x and y from 0 to 1.")


def describe(gesture: protocol.WheelGesture) -> str:
    """Return what was done, without what was typed."""
    match gesture:
        case protocol.WheelTap(at=at):
            return f"tapped at {_at(at)}"
        case protocol.WheelLongPress(at=at, duration_ms=duration_ms):
            return f"pressed {_at(at)} for {duration_ms} ms"
        case protocol.WheelSwipe(start=start, end=end):
            return f"swiped from {_at(start)} to {_at(end)}"
        case protocol.WheelText(text=text):
            return f"typed {counted(len(text), 'character')}"
        case protocol.WheelPaste(text=text):
            return f"pasted {counted(len(text), 'character')}"
        case protocol.WheelButton(button=button):
            return f"pressed {button}"
        case _:
            assert_never(gesture)


def _at(point: Point) -> str:
    return f"({point.x:.2f}, {point.y:.2f})"


async def perform(gesture: protocol.WheelGesture, device: Device) -> None:
    """Have a phone do it. Raises DeviceError as the phone does."""
    match gesture:
        case protocol.WheelTap(at=at):
            await device.tap(at)
        case protocol.WheelLongPress(at=at, duration_ms=duration_ms):
            await device.long_press(at, duration_ms=duration_ms)
        case protocol.WheelSwipe(start=start, end=end, duration_ms=duration_ms):
            await device.swipe(start, end, duration_ms=duration_ms)
        case protocol.WheelText(text=text):
            await device.type_text(text)
        case protocol.WheelPaste(text=text):
            await device.set_clipboard(text, paste=True)
        case protocol.WheelButton(button=button):
            await device.press(Button(button))
        case _:
            assert_never(gesture)
