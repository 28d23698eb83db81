"""Borrow ADBKeyBoard for text that no key writes, and put the phone's own input method back.

Not the text itself: `text_entry` makes the broadcasts. Invariant: what was chosen before stands in
a file on the phone while the keyboard is borrowed, so whoever finds that file, at the next typing
after a crash too, gives the phone its own keyboard again.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agent.devices.client import ShellResult
from agent.devices.text_entry import ADB_KEYBOARD, quote
from agent.errors import TextEntryError

NOTE = "/data/local/tmp/switchboard-input-method"
_METHOD = re.compile(r"[A-Za-z0-9_.]+/[A-Za-z0-9_.$]+(?:;[A-Za-z0-9_.=;]*)?")
_BIND_S = 3.0
_LOOK_S = 0.05
_UNDO_S = 5.0

Shell = Callable[[str, float], Awaitable[ShellResult]]
"""Runs a command on the phone within a time-out in seconds."""


class Keyboard:
    """The input method of one phone."""

    def __init__(self, serial: str, shell: Shell) -> None:
        self._serial = serial
        self._shell = shell
        self._repaired = False

    async def repair(self, timeout_s: float) -> None:
        """Put back what a process that died had borrowed; looks once per connection."""
        if self._repaired:
            return
        left = (await self._shell(f"cat {NOTE} 2>/dev/null", timeout_s)).text.strip()
        if _METHOD.fullmatch(left):
            await self._give_back(left, timeout_s)
        self._repaired = True

    @asynccontextmanager
    async def borrowed(self, timeout_s: float) -> AsyncIterator[bool]:
        """Make ADBKeyBoard the phone's input method meanwhile; gives whether it is there.

        Raises:
            TextEntryError: it is installed and the phone will not use it.
        """
        await self.repair(timeout_s)
        current = (
            await self._shell("settings get secure default_input_method", timeout_s)
        ).text.strip()
        if current == ADB_KEYBOARD:
            yield True
            return
        known = (await self._shell("ime list -a -s", timeout_s)).text.split()
        if ADB_KEYBOARD not in known or not _METHOD.fullmatch(current):
            yield False
            return
        try:
            await self._shell(
                f"echo {quote(current)} > {NOTE} && ime enable {ADB_KEYBOARD} && "
                f"ime set {ADB_KEYBOARD}",
                timeout_s,
            )
            await self._until_bound(timeout_s)
            yield True
        finally:
            await self._give_back(current, _UNDO_S)

    async def _until_bound(self, timeout_s: float) -> None:
        # A broadcast that comes before the method is connected to the field is lost.
        deadline = time.monotonic() + min(timeout_s, _BIND_S)
        while True:
            said = (await self._shell("dumpsys input_method", timeout_s)).text
            if re.search(rf"mCurId={re.escape(ADB_KEYBOARD)}(?=\s)", said):
                return
            if time.monotonic() > deadline:
                raise TextEntryError(
                    f"{self._serial} has ADBKeyBoard and does not use it.",
                    f"Choose it by hand with `adb shell ime set {ADB_KEYBOARD}`.",
                )
            await asyncio.sleep(_LOOK_S)

    async def _give_back(self, method: str, timeout_s: float) -> None:
        await self._shell(f"ime set {quote(method)} && rm -f {NOTE}", timeout_s)
