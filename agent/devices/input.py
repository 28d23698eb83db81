"""How touches and keys reach one phone: the InputChannel protocol, and the shell's `input` command
as the channel of last resort.

Not text entry (`agent.devices.text_channel`). Invariants: places are normalized to [0, 1]; a
gesture takes its true time; one that ran out of time has an unknown outcome and is never repeated.
"""

from __future__ import annotations

from typing import Protocol

from agent.devices.display_size import DisplaySize
from agent.devices.shell import PhoneShell
from agent.errors import UsageError
from agent.records import Point

LONGEST_GESTURE_MS = 60_000


class InputChannel(Protocol):
    """One way for touches and keys to reach one phone."""

    async def tap(self, at: Point, *, timeout_s: float) -> None:
        """Touch a place briefly."""
        ...

    async def swipe(
        self, start: Point, end: Point, *, duration_ms: int, timeout_s: float = 5.0
    ) -> None:
        """Move a finger from one place to another; `timeout_s` is beyond the gesture's own time."""
        ...

    async def key(self, code: int, *, timeout_s: float) -> None:
        """Press a key by its Android code, down and up."""
        ...


class ShellInput:
    """Act by `input`, which every Android has; each call starts a process on the phone."""

    def __init__(self, shell: PhoneShell, display: DisplaySize) -> None:
        self._shell = shell
        self._display = display

    async def tap(self, at: Point, *, timeout_s: float) -> None:
        """Touch a place briefly."""
        x, y = await self._display.pixel(at)
        await self._shell.checked(f"input tap {x} {y}", timeout_s)

    async def swipe(
        self, start: Point, end: Point, *, duration_ms: int, timeout_s: float = 5.0
    ) -> None:
        """Move a finger from one place to another in `duration_ms`; a place to itself is held."""
        check_duration(duration_ms)
        from_x, from_y = await self._display.pixel(start)
        to_x, to_y = await self._display.pixel(end)
        await self._shell.checked(
            f"input swipe {from_x} {from_y} {to_x} {to_y} {duration_ms}",
            timeout_s + duration_ms / 1000,
        )

    async def key(self, code: int, *, timeout_s: float) -> None:
        """Press a key by its Android code."""
        await self._shell.checked(f"input keyevent {code}", timeout_s)


def check_duration(duration_ms: int) -> None:
    """Refuse a gesture that takes no time or more than a minute. Raises UsageError."""
    if not 0 < duration_ms <= LONGEST_GESTURE_MS:
        raise UsageError(
            f"A gesture of {duration_ms} ms is not possible.",
            f"Ask for 1 to {LONGEST_GESTURE_MS} ms.",
        )
