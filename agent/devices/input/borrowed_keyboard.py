"""Borrow an input method for text that no key writes, and put the phone's own one back.

Not the text itself: `input_methods` makes the broadcasts. Invariant: what was chosen before stands
in a file on the phone while the keyboard is borrowed, with the phone's own time, so whoever finds
that file gives the phone its own keyboard again: at the next typing, and when the phone is next
met, after a crash too.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agent.devices.adb.client import ShellResult
from agent.devices.facts.fact import Known
from agent.devices.facts.input_methods import read_chosen, read_method_ids
from agent.devices.input.input_methods import KNOWN, InputMethod
from agent.devices.input.input_text import quote
from agent.devices.resources.resource_ledger import Resource, ResourceKind, ResourceLedger
from agent.errors import TextEntryError
from agent.text import one_line

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
        resources: where a borrowing is written down on this computer too.
    """

    def __init__(
        self,
        serial: str,
        shell: Shell,
        *,
        known: tuple[InputMethod, ...] = KNOWN,
        resources: ResourceLedger | None = None,
    ) -> None:
        self._serial = serial
        self._shell = shell
        self._known = known
        self._resources = resources or ResourceLedger()
        self._repaired = False

    async def repair(self, timeout_s: float) -> None:
        """Put back what a process that died had borrowed; looks once per connection.

        Whoever calls drives the phone alone, so that no living process can be borrowing.
        """
        if self._repaired:
            return
        mine = self._left()
        left, _, _ = await self._note(timeout_s)
        if left:
            await self._give_back(left, timeout_s)
        self._settle(mine)
        self._repaired = True

    async def repair_abandoned(self, timeout_s: float) -> None:
        """Put back what a process borrowed that ended, as this computer's ledger says, or so long
        ago that nobody can be typing any more.
        """
        mine = self._left()
        left, age_s, by = await self._note(timeout_s)
        is_mine = by in {one.resource_id for one in mine}
        if left and (is_mine or not 0 <= age_s <= LEFT_AFTER_S):
            await self._give_back(left, timeout_s)
        # A note of another's was written after ours had been given back.
        self._settle(mine)

    @asynccontextmanager
    async def borrowed(self, timeout_s: float) -> AsyncIterator[InputMethod | None]:
        """Make an input method that takes broadcasts the phone's own meanwhile.

        Gives which; None when the phone has none. Raises TextEntryError when it will not use it.
        """
        await self.repair(timeout_s)
        current, found = await self._method_to_use(timeout_s)
        if found is None or current == found.id:
            yield found
            return
        taken = self._resources.take(ResourceKind.INPUT_METHOD, current, serial=self._serial)
        note = f"{quote(current)} $(date +%s) {taken.resource_id}"
        try:
            result = await self._shell(
                f"echo {note} > {NOTE} && ime enable {found.id} && ime set {found.id}", timeout_s
            )
            if result.exit_code != 0 or "Exception" in result.text:
                # ColorOS and Funtouch let adb choose none without a switch (WRITE_SECURE_SETTINGS).
                raise TextEntryError(
                    f"{self._serial} does not let its keyboard be chosen by adb: "
                    f"{one_line(result.text, 160)}.",
                    f"Choose {found.name} by hand in the phone's settings.",
                )
            await self._until_bound(found, timeout_s)
            yield found
        finally:
            try:
                await self._give_back(current, _UNDO_S)
            except BaseException:
                self._repaired = False
                self._resources.abandon(taken)
                raise
            self._resources.settle(taken)

    async def can_be_borrowed(self, timeout_s: float) -> bool:
        """Return whether the phone has an input method that takes broadcasts."""
        return (await self._method_to_use(timeout_s))[1] is not None

    async def _method_to_use(self, timeout_s: float) -> tuple[str, InputMethod | None]:
        """Return the phone's present method, and the one to use; None where there is none."""
        asked = await self._shell("settings get secure default_input_method", timeout_s)
        chosen = read_chosen(asked.text)
        current = chosen.value if isinstance(chosen, Known) else ""
        for method in self._known:
            if current == method.id:
                return current, method
        listed = read_method_ids((await self._shell("ime list -a -s", timeout_s)).text)
        there = listed.value if isinstance(listed, Known) else ()
        found = next((method for method in self._known if method.id in there), None)
        # Without the name of the present one it could not be given back.
        return current, found if _METHOD.fullmatch(current) else None

    def _left(self) -> tuple[Resource, ...]:
        return self._resources.left(self._serial, ResourceKind.INPUT_METHOD)

    def _settle(self, resources: tuple[Resource, ...]) -> None:
        for one in resources:
            self._resources.settle(one)

    async def _note(self, timeout_s: float) -> tuple[str, int, str]:
        """Return the method that was noted, how many seconds ago, and the record of the borrowing;
        empty without a note.
        """
        said = (await self._shell(f"date +%s; cat {NOTE} 2>/dev/null", timeout_s)).text.split()
        if len(said) < 2 or not _METHOD.fullmatch(said[1]):
            return "", 0, ""
        now, then = said[0], said[2] if len(said) > 2 else ""
        known = now.isascii() and now.isdigit() and then.isascii() and then.isdigit()
        age_s = int(now[:12]) - int(then[:12]) if known else LEFT_AFTER_S + 1
        return said[1], age_s, said[3] if len(said) > 3 else ""

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
