"""The phone's touch panel as the kernel gives it: raw events, of a person's fingers and no others.

What `input`, scrcpy and automation inject does not come through here, as on Android, so whoever
reads the panel (`getevent`) tells a person from a program. Not the meaning of touches: that is
`virtual_phone.input.touch`. Format: Linux multi-touch protocol, type B (multi-touch-protocol.rst),
codes of input-event-codes.h. Invariant: what listeners are told is what the fingers did, in order.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

PATH = "/dev/input/event1"
NAME = "virtual_touchscreen"
SLOTS = 10
REPORT_MS = 16
PRESSURE, TOUCH_MAJOR = 50, 6
EV_SYN, EV_KEY, EV_ABS = 0, 1, 3
SYN_REPORT = 0
BTN_TOUCH = 0x14A
NO_FINGER = 0xFFFFFFFF


class Axis(IntEnum):
    """The axes of the panel."""

    ABS_MT_SLOT = 0x2F
    ABS_MT_TOUCH_MAJOR = 0x30
    ABS_MT_POSITION_X = 0x35
    ABS_MT_POSITION_Y = 0x36
    ABS_MT_TRACKING_ID = 0x39
    ABS_MT_PRESSURE = 0x3A


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One `struct input_event`; the time is that of the kernel's monotonic clock, in seconds."""

    at_s: float
    type: int
    code: int
    value: int  # Unsigned, 32 bits.


@dataclass(slots=True)
class _Slot:
    tracking: int = NO_FINGER
    x: int = 0
    y: int = 0
    was_down: bool = False
    has_moved: bool = False


@dataclass(slots=True)
class TouchPanel:
    """The panel of one phone's default display."""

    phone: "Phone"
    listeners: set[Callable[[RawEvent], None]] = field(default_factory=set)
    _slots: list[_Slot] = field(default_factory=lambda: [_Slot() for _ in range(SLOTS)])
    _at: int = 0
    _next_tracking: int = 0

    def limits(self) -> dict[Axis, int]:
        """Return the highest value of each axis."""
        width, height = self._size()
        return {
            Axis.ABS_MT_SLOT: SLOTS - 1,
            Axis.ABS_MT_TOUCH_MAJOR: 255,
            Axis.ABS_MT_POSITION_X: width - 1,
            Axis.ABS_MT_POSITION_Y: height - 1,
            Axis.ABS_MT_TRACKING_ID: 65535,
            Axis.ABS_MT_PRESSURE: 255,
        }

    def _size(self) -> tuple[int, int]:
        """Return width and height as the phone is held upright: the glass does not turn."""
        width, height, _ = self.phone.displays.size(0)
        return (height, width) if self.phone.rotation.quarters % 2 else (width, height)

    def finger(self, action: str, number: int, x: float, y: float) -> None:
        """Do what a person's finger does: `down`, `move` or `up`, at a point of the display.

        Args:
            number: tells the fingers of one hand apart, from 0 to 9.
            x: display pixels, as the display is turned now.
            y: likewise.
        """
        slot = self._slots[number]
        across, down = self._to_glass(round(x), round(y))
        self._put(EV_ABS, Axis.ABS_MT_SLOT, number)
        if action == "up":
            self._put(EV_ABS, Axis.ABS_MT_TRACKING_ID, NO_FINGER)
        else:
            if slot.tracking == NO_FINGER:
                self._next_tracking = (self._next_tracking + 1) % 65536
                self._put(EV_ABS, Axis.ABS_MT_TRACKING_ID, self._next_tracking)
            self._put(EV_ABS, Axis.ABS_MT_POSITION_X, across)
            self._put(EV_ABS, Axis.ABS_MT_POSITION_Y, down)
            self._put(EV_ABS, Axis.ABS_MT_TOUCH_MAJOR, TOUCH_MAJOR)
            self._put(EV_ABS, Axis.ABS_MT_PRESSURE, PRESSURE)
        held = sum(one.tracking != NO_FINGER for one in self._slots)
        if (action == "down" and held == 1) or (action == "up" and not held):
            self._put(EV_KEY, BTN_TOUCH, int(action == "down"))
        self._put(EV_SYN, SYN_REPORT, 0)

    async def swipe(
        self, start: tuple[float, float], end: tuple[float, float], *, duration_ms: int
    ) -> None:
        """Draw one finger in a straight line; it taps where the ends are one point."""
        steps = max(1, duration_ms // REPORT_MS)
        self.finger("down", 0, *start)
        try:
            for step in range(1, steps + 1):
                await asyncio.sleep(duration_ms / steps / 1000)
                part = step / steps
                at = (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
                if start != end:
                    self.finger("move", 0, *at)
        finally:
            self.finger("up", 0, *end)

    def write(self, type_: int, code: int, value: int) -> None:
        """Take an event that somebody wrote to the panel's file, as `sendevent` does."""
        self._put(type_, code, value & 0xFFFFFFFF)

    def _put(self, type_: int, code: int, value: int) -> None:
        event = RawEvent(time.monotonic(), type_, int(code), value)
        for listener in list(self.listeners):
            listener(event)
        slot = self._slots[self._at]
        match (type_, code):
            case (3, Axis.ABS_MT_SLOT):
                self._at = min(value, SLOTS - 1)
            case (3, Axis.ABS_MT_TRACKING_ID):
                slot.tracking = value
            case (3, Axis.ABS_MT_POSITION_X):
                slot.x, slot.has_moved = value, True
            case (3, Axis.ABS_MT_POSITION_Y):
                slot.y, slot.has_moved = value, True
            case (0, 0):
                self._report()

    def _report(self) -> None:
        """Tell the phone what its fingers did since the last report."""
        for number, slot in enumerate(self._slots):
            is_down = slot.tracking != NO_FINGER
            x, y = self._to_display(slot.x, slot.y)
            if is_down and not slot.was_down:
                self.phone.gestures.finger("down", number, x, y)
            elif is_down and slot.has_moved:
                self.phone.gestures.finger("move", number, x, y)
            elif slot.was_down and not is_down:
                self.phone.gestures.finger("up", number, x, y)
            slot.was_down, slot.has_moved = is_down, False

    def _to_glass(self, x: int, y: int) -> tuple[int, int]:
        width, height = self._size()
        match self.phone.rotation.quarters:
            case 1:
                found = width - 1 - y, x
            case 2:
                found = width - 1 - x, height - 1 - y
            case 3:
                found = y, height - 1 - x
            case _:
                found = x, y
        return min(max(found[0], 0), width - 1), min(max(found[1], 0), height - 1)

    def _to_display(self, x: int, y: int) -> tuple[int, int]:
        width, height = self._size()
        match self.phone.rotation.quarters:
            case 1:
                return y, width - 1 - x
            case 2:
                return width - 1 - x, height - 1 - y
            case 3:
                return height - 1 - y, x
            case _:
                return x, y
