"""What can go wrong with a phone, on demand: named, deterministic, timed.

Not chance: a fault is there from `begin` until `end` or its time is over, and never otherwise.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from virtual_phone.errors import PhoneError


class FaultKind(StrEnum):
    """What can be wrong with a phone on demand."""

    DISCONNECT = "disconnect"
    UNAUTHORIZED = "unauthorized"
    SLOW_SHELL = "slow-shell"
    HUNG_SHELL = "hung-shell"
    HUNG_DUMP = "hung-dump"
    HUNG_DUMPSYS = "hung-dumpsys"
    DUMP_NOT_IDLE = "dump-not-idle"
    NULL_ROOT = "null-root"
    LOW_STORAGE = "low-storage"
    FROZEN_SCREEN = "frozen-screen"
    BLACK_CAPTURE = "black-capture"
    ENCODER_STALL = "encoder-stall"
    BATTERY_DEATH = "battery-death"
    CLOCK_JUMP = "clock-jump"
    APP_CRASH = "app-crash"
    REFUSED_INPUT = "refused-input"


MOMENTARY = frozenset({FaultKind.APP_CRASH})
"""Faults that happen once, when they begin."""


VALUES: dict[FaultKind, tuple[float, float]] = {
    FaultKind.SLOW_SHELL: (0.0, 3600.0),
    FaultKind.CLOCK_JUMP: (-20 * 365 * 86_400.0, 20 * 365 * 86_400.0),
}
"""What the value of a fault may be, where it has one; in seconds."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that is there; `until_s` on the monotonic clock, None without an end.

    `value` is the delay in seconds of `slow-shell` and the seconds of `clock-jump`.
    """

    kind: FaultKind
    value: float
    until_s: float | None


def parse_kind(name: str) -> FaultKind:
    """Return the fault of a name; raise PhoneError that lists the names."""
    try:
        return FaultKind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in FaultKind)
        raise PhoneError(f"there is no fault called {name!r}", f"Use one of: {known}.") from None


class Faults:
    """The faults of one phone."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._active: dict[FaultKind, Fault] = {}
        self._timers: dict[FaultKind, asyncio.TimerHandle] = {}
        self._changed: asyncio.Event | None = None
        self.listener: Callable[[FaultKind, bool], None] | None = None
        """Told when a fault begins (True) or ends (False)."""

    def begin(
        self, kind: FaultKind, *, value: float = 0.0, duration_s: float | None = None
    ) -> None:
        """Begin a fault, or replace the one of its kind.

        Raises:
            PhoneError: a duration that is not positive, or a value that the fault cannot have.
        """
        if duration_s is not None and not duration_s > 0:
            raise PhoneError(f"a fault cannot last {duration_s} s", "Give a positive duration.")
        least, most = VALUES.get(kind, (0.0, 0.0))
        if not least <= value <= most:
            takes = f"Give one from {least:g} to {most:g}." if most else "It takes none."
            raise PhoneError(f"the fault {kind} cannot have the value {value:g}", takes)
        self._cancel_timer(kind)
        until_s = None if duration_s is None else self._monotonic() + duration_s
        if kind not in MOMENTARY:
            self._active[kind] = Fault(kind, value, until_s)
            if duration_s is not None:
                loop = asyncio.get_running_loop()
                self._timers[kind] = loop.call_later(duration_s, self.end, kind)
        self._tell(kind, True)

    def end(self, kind: FaultKind) -> bool:
        """End a fault; return whether it was there."""
        self._cancel_timer(kind)
        if self._active.pop(kind, None) is None:
            return False
        self._tell(kind, False)
        return True

    def clear(self) -> None:
        for kind in list(self._active):
            self.end(kind)

    def get(self, kind: FaultKind) -> Fault | None:
        """Return a fault that is there, or None."""
        return self._active.get(kind)

    def __contains__(self, kind: object) -> bool:
        return kind in self._active

    def active(self) -> list[Fault]:
        """Return what is wrong now."""
        return list(self._active.values())

    def left_s(self, fault: Fault) -> float | None:
        """Return the seconds until a fault ends by itself; None when it does not."""
        return None if fault.until_s is None else max(0.0, fault.until_s - self._monotonic())

    def _cancel_timer(self, kind: FaultKind) -> None:
        timer = self._timers.pop(kind, None)
        if timer is not None:
            timer.cancel()

    def _tell(self, kind: FaultKind, begun: bool) -> None:
        if self._changed is not None:
            self._changed.set()
        if self.listener is not None:
            self.listener(kind, begun)

    # --- where faults bite ---

    async def before_shell(self, line: str) -> None:
        """Delay a shell command while the shell is slow; hold it while it hangs."""
        del line
        slow = self._active.get(FaultKind.SLOW_SHELL)
        if slow is not None:
            await self._pass(FaultKind.SLOW_SHELL, slow.value)
        await self.hold(FaultKind.HUNG_SHELL)

    async def hold(self, kind: FaultKind) -> None:
        """Wait while a fault is there."""
        while kind in self._active:
            self._changed = self._changed or asyncio.Event()
            self._changed.clear()
            await self._changed.wait()

    async def _pass(self, kind: FaultKind, seconds: float) -> None:
        """Wait for some seconds or until the fault ends."""
        try:
            async with asyncio.timeout(seconds):
                await self.hold(kind)
        except TimeoutError:
            return
