"""Gestures with real durations, in display pixels.

What a finger does is `virtual_phone.input.touch`. Invariant: a coroutine returns when its gesture
has been delivered.
"""

from virtual_phone.display.animations import MOVE_STEP_S
from virtual_phone.errors import PhoneError
from virtual_phone.input.touch import LONG_PRESS_S, Touch
from virtual_phone.timing import Timing

TAP_S = 0.05
SOON_S = 1e-6  # What is less is no time: a clock may not be able to tell it.


class Gestures:
    """Move one finger, or one step of several."""

    def __init__(self, touch: Touch, timing: Timing) -> None:
        self._touch = touch
        self._timing = timing

    async def tap(self, x: float, y: float, display: int = 0) -> None:
        self._touch.down(0, x, y, display, stays=False)
        await self._timing.sleep(TAP_S)
        self._touch.up(0, x, y, display)

    async def long_press(self, x: float, y: float, duration_ms: int, display: int = 0) -> None:
        """Hold a finger on a point."""
        self._touch.down(0, x, y, display)
        await self._timing.sleep(max(duration_ms, 0) / 1000)
        self._touch.up(0, x, y, display)

    async def swipe(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        duration_ms: int,
        display: int = 0,
        *,
        throws: bool = True,
    ) -> None:
        """Move a finger in a straight line, taking `duration_ms`.

        Args:
            throws: whether it is lifted in motion, so that what it scrolled glides on.
        """
        now = self._timing.monotonic
        self._touch.down(0, x1, y1, display, stays=duration_ms >= LONG_PRESS_S * 1000)
        start, length = now(), max(duration_ms, 1) / 1000
        while (left := start + length - now()) > SOON_S:
            await self._timing.sleep(min(MOVE_STEP_S, left))
            part = min(1.0, (now() - start) / length)
            self._touch.move(0, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, display)
        # Of the two ends, as when its moves came tells how busy the machine is.
        self._touch.up(0, x2, y2, display, speed=(y2 - y1) / length if throws else 0.0)

    def finger(self, action: str, pointer_id: int, x: float, y: float, display: int = 0) -> None:
        """Do one step of a gesture: `down`, `move`, `up` or `cancel` of one finger.

        Raises:
            PhoneError: the action is none of these.
        """
        match action:
            case "down":
                self._touch.down(pointer_id, x, y, display)
            case "move":
                self._touch.move(pointer_id, x, y, display)
            case "up":
                self._touch.up(pointer_id, x, y, display)
            case "cancel":
                self._touch.cancel(pointer_id, display)
            case _:
                raise PhoneError(f"Unknown touch action {action}.", "Use down, move, up or cancel.")
