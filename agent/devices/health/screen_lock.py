"""Wake a phone and put its lock screen away.

Invariants: nothing succeeds that the phone did not say; a PIN is typed only where the phone says
that its lock screen is in front, so that no app gets it.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent.devices.adb.client import ShellResult
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.focus import Cover
from agent.devices.facts.foreground import read_front
from agent.devices.facts.keyguard import KEYGUARD, KEYGUARD_OF_ACTIVITIES, Keyguard, read_keyguard
from agent.devices.facts.power import POWER, read_awake
from agent.errors import DeviceError, UsageError
from agent.text import one_line

SETTLE_S = 2.0
"""How long a screen may take to wake, and a lock screen to slide away."""
_LOOK_AGAIN_S = 0.25
_WAKE_KEY, _ENTER_KEY, _MENU_KEY = 224, 66, 82
_FOCUS = "dumpsys window displays; dumpsys window windows"

_REFUSED = re.compile(r"^\s*(?:error|unknown|usage|invalid|.*exception)\b", re.I | re.M)
"""How commands of old shells fail, which always end with 0."""

T = TypeVar("T")


class ScreenLock:
    """Wake and unlock one phone.

    Args:
        run: runs a command of its shell, whatever the exit code.
    """

    def __init__(self, serial: str, run: Callable[[str], Awaitable[ShellResult]]) -> None:
        self._serial = serial
        self._run = run

    async def is_awake(self) -> Fact[bool]:
        """Return whether the screen is on."""
        return read_awake((await self._run(POWER)).text)

    async def keyguard(self) -> Fact[Keyguard]:
        """Return the lock screen of the main display."""
        said = (await self._run(KEYGUARD)).text
        keyguard = read_keyguard(said)
        if isinstance(keyguard, Known):
            return keyguard
        more = (await self._run(KEYGUARD_OF_ACTIVITIES)).text
        return read_keyguard(f"{said}\n{more}")

    async def wake(self) -> None:
        """Switch the screen on. Raises DeviceError when it stays off, or does not say."""
        await self._checked(f"input keyevent {_WAKE_KEY}")
        awake = await _settled(self.is_awake, lambda value: value)
        if isinstance(awake, Unknown):
            raise DeviceError(
                f"Whether the screen of {self._serial} is on is unknown: {awake.reason}.",
                "Look at the phone, and press its power button by hand.",
            )
        if not awake.value:
            raise DeviceError(
                f"The screen of {self._serial} stays off.", "Press its power button by hand."
            )

    async def unlock(self, pin: str) -> None:
        """Put the lock screen away. Raises DeviceError when it stays, or nobody can tell."""
        if not all(c.isascii() and c.isalnum() for c in pin):
            raise UsageError("A PIN has digits and letters only.", "Unlock the phone by hand.")
        await self.wake()
        dismissed = await self._run("wm dismiss-keyguard")
        if dismissed.exit_code != 0 or _REFUSED.search(dismissed.text):
            # Android before 8 has no such command; the menu key puts a lock without a PIN away.
            await self._checked(f"input keyevent {_MENU_KEY}")
        keyguard = await _settled(self.keyguard, lambda its: not its.showing)
        if pin and not _is_gone(keyguard):
            await self._check_lock_screen(keyguard)
            await self._checked(f"input text {pin}")
            await self._checked(f"input keyevent {_ENTER_KEY}")
            keyguard = await _settled(self.keyguard, lambda its: not its.showing)
        if isinstance(keyguard, Unknown):
            raise DeviceError(
                f"Whether {self._serial} is locked is unknown: {keyguard.reason}.",
                "Look at the phone, and unlock it by hand.",
            )
        if keyguard.value.showing:
            raise DeviceError(
                f"{self._serial} stays locked.",
                "Give its PIN with --pin, or unlock it by hand; a phone for agents is best kept "
                "without a lock.",
            )

    async def _check_lock_screen(self, keyguard: Fact[Keyguard]) -> None:
        """Raises DeviceError unless the lock screen is in front, for an app would get the PIN."""
        front = read_front((await self._run(_FOCUS)).text)
        is_lock = isinstance(front, Known) and (
            front.value.cover is Cover.SHADE
            or (isinstance(keyguard, Known) and front.value.cover is not Cover.APP)
        )
        if not is_lock:
            what = front.reason if isinstance(front, Unknown) else front.value.package
            raise DeviceError(
                f"The PIN was not typed on {self._serial}: its lock screen is not in front "
                f"({one_line(what, 120) or 'an app is'}).",
                "Close what covers the lock screen, or unlock the phone by hand.",
            )

    async def _checked(self, command: str) -> None:
        said = await self._run(command)
        if said.exit_code != 0:
            raise DeviceError(
                f"`{command.split(' ')[0]}` failed on {self._serial}: {last_words(said)}.",
                "Some manufacturers block it over adb: do it on the phone.",
            )


async def _settled(ask: Callable[[], Awaitable[Fact[T]]], good: Callable[[T], bool]) -> Fact[T]:
    """Ask until it is as wished, for as long as a phone may take to get there."""
    until_s = time.monotonic() + SETTLE_S
    while True:
        fact = await ask()
        if (isinstance(fact, Known) and good(fact.value)) or time.monotonic() >= until_s:
            return fact
        await asyncio.sleep(_LOOK_AGAIN_S)


def _is_gone(keyguard: Fact[Keyguard]) -> bool:
    return isinstance(keyguard, Known) and not keyguard.value.showing


def last_words(said: ShellResult) -> str:
    """Return the last line that a command wrote, as the end of a sentence."""
    lines = [line for line in said.text.splitlines() if line.strip()]
    return one_line(lines[-1], 200).rstrip(".") if lines else "it gave no reason"
