"""Borrow an input method for text that no key writes, and put the phone's own one back.

Not the text itself: `input_methods` makes the broadcasts. Invariant: what was chosen before stands
in a file on the phone while the keyboard is borrowed, with the phone's own time, so whoever finds
that file gives the phone its own keyboard again: at the next typing, and when the phone is next
met, after a crash too.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agent.devices.client import ShellResult
from agent.devices.input_methods import KNOWN, InputMethod
from agent.devices.text_entry import quote
from agent.errors import TextEntryError

NOTE = "/data/local/tmp/switchboard-input-method"
_METHOD = re.compile(r"[A-Za-z0-9_.]+/[A-Za-z0-9_.$]+(?:;[A-Za-z0-9_.=;]*)?")
_BIND_S = 3.0
_LOOK_S = 0.05
_UNDO_S = 5.0
LEFT_AFTER_S = 120
"""A borrowing that is older was left by a process that died: nothing is typed for so long."""

Shell = Callable[[str, float], Awaitable[ShellResult]]
"""Runs a command on the phone within a time-out in seconds."""


class Keyboard:
    """The input method of one phone.

    Args:
        known: those that may be borrowed, best first.
    """

    def __init__(
        self, serial: str, shell: Shell, *, known: tuple[InputMethod, ...] = KNOWN
    ) -> None:
        self._serial = serial
        self._shell = shell
        self._known = known
        self._repaired = False

    async def repair(self, timeout_s: float) -> None:
        """Put back what a process that died had borrowed; looks once per connection.

        Whoever calls drives the phone alone, so that no living process can be borrowing.
        """
        if self._repaired:
            return
        left, _ = await self._note(timeout_s)
        if left:
            await self._give_back(left, timeout_s)
        self._repaired = True

    async def repair_abandoned(self, timeout_s: float) -> None:
        """Put back what was borrowed so long ago that nobody can be typing any more."""
        left, age_s = await self._note(timeout_s)
        if left and not 0 <= age_s <= LEFT_AFTER_S:
            await self._give_back(left, timeout_s)

    @asynccontextmanager
    async def borrowed(self, timeout_s: float) -> AsyncIterator[InputMethod | None]:
        """Make an input method that takes broadcasts the phone's own meanwhile.

        Gives which; None when the phone has none. Raises TextEntryError when it will not use it.
        """
        await self.repair(timeout_s)
        current = (
            await self._shell("settings get secure default_input_method", timeout_s)
        ).text.strip()
        for method in self._known:
            if current == method.id:
                yield method
                return
        there = (await self._shell("ime list -a -s", timeout_s)).text.split()
        found = next((method for method in self._known if method.id in there), None)
        if found is None or not _METHOD.fullmatch(current):
            yield None
            return
        try:
            await self._shell(
                f"echo {quote(current)} $(date +%s) > {NOTE} && ime enable {found.id} && "
                f"ime set {found.id}",
                timeout_s,
            )
            await self._until_bound(found, timeout_s)
            yield found
        finally:
            await self._give_back(current, _UNDO_S)

    async def _note(self, timeout_s: float) -> tuple[str, int]:
        """Give the method that was noted and how many seconds ago; empty without a note."""
        said = (await self._shell(f"date +%s; cat {NOTE} 2>/dev/null", timeout_s)).text.split()
        if len(said) < 2 or not _METHOD.fullmatch(said[1]):
            return "", 0
        now, then = said[0], said[2] if len(said) > 2 else ""
        known = now.isascii() and now.isdigit() and then.isascii() and then.isdigit()
        return said[1], int(now[:12]) - int(then[:12]) if known else LEFT_AFTER_S + 1

    async def _until_bound(self, method: InputMethod, timeout_s: float) -> None:
        # A broadcast that comes before the method is connected to the field is lost.
        deadline = time.monotonic() + min(timeout_s, _BIND_S)
        while True:
            said = (await self._shell("dumpsys input_method", timeout_s)).text
            if re.search(rf"mCurId={re.escape(method.id)}(?=\s)", said):
                return
            if time.monotonic() > deadline:
                raise TextEntryError(
                    f"{self._serial} has {method.name} and does not use it.",
                    f"Choose it by hand with `adb shell ime set {method.id}`.",
                )
            await asyncio.sleep(_LOOK_S)

    async def _give_back(self, method: str, timeout_s: float) -> None:
        await self._shell(f"ime set {quote(method)} && rm -f {NOTE}", timeout_s)
