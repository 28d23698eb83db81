"""What the Device screen asks the core for: elements, log, findings; one of a kind at a time.

Not the screen. Invariants: an answer that came for another phone is dropped; what failed is kept as
a sentence beside what was known before; nothing is asked that nobody looks at.
"""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING

from agent.errors import SwitchboardError
from agent.protocol import DeviceExamine, DeviceLog, DeviceLook, DeviceRepair
from agent.records import PhoneFinding, PhoneLook
from console.input.gate import Wait

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

LOG_LINES = 500


class DeviceParts:
    """What is known of one phone beside its picture.

    Args:
        app: whom to ask through.
        serial: of the phone.
        changed: called when something has come.
    """

    def __init__(self, app: "ConsoleApp", serial: str, changed: Callable[[], None]) -> None:
        self.serial = serial
        self.look: PhoneLook | None = None
        self.log: tuple[str, ...] | None = None
        self.findings: tuple[PhoneFinding, ...] | None = None
        self.failed: dict[str, str] = {}
        """What could not be had, by the kind of question, and why."""
        self.busy: set[str] = set()
        """The kinds of questions that are under way."""
        self._app = app
        self._changed = changed
        self._again = False

    def read_elements(self) -> None:
        """Read the elements; once more when asked while a reading is under way."""
        if "elements" in self.busy:
            self._again = True
            return
        self._ask("elements", self._read_elements)

    def read_log(self) -> None:
        """Read the newest lines of the log."""
        self._ask("log", self._read_log)

    def examine(self) -> None:
        self._ask("health", self._examine)

    def repair(self, name: str) -> None:
        """Put one finding right."""

        async def work() -> None:
            reply = await self._app.core.request(DeviceRepair(serial=self.serial, name=name))
            now = {found.name: found for found in reply.findings}
            self.findings = tuple(now.get(one.name, one) for one in self.findings or ())

        self._ask("health", work)

    def _ask(self, kind: str, work: Callable[[], Awaitable[None]]) -> None:
        if kind not in self.busy:
            self.busy.add(kind)
            doing = f"reading the {kind} of a phone"
            # The keys after the one that shows a screen's text are for what is in it.
            opens = kind == "elements" and self.look is None
            self._app.spawn(self._guarded(kind, work), doing, Wait.OPENS if opens else Wait.NOT)

    async def _guarded(self, kind: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
            self.failed.pop(kind, None)
        except SwitchboardError as error:
            self.failed[kind] = str(error)
        finally:
            self.busy.discard(kind)
            self._changed()
        if kind == "elements" and self._again:
            self._again = False
            self.read_elements()

    async def _read_elements(self) -> None:
        began_s = monotonic()
        self.look = (await self._app.core.request(DeviceLook(serial=self.serial))).look
        self._app.bridge.latencies.note(self.serial, round((monotonic() - began_s) * 1000))

    async def _read_log(self) -> None:
        reply = await self._app.core.request(DeviceLog(serial=self.serial, last=LOG_LINES))
        self.log = reply.lines

    async def _examine(self) -> None:
        self.findings = (await self._app.core.request(DeviceExamine(serial=self.serial))).findings
