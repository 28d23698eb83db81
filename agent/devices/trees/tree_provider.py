"""Read UI trees from a service that stays up on the phone, and by `uiautomator dump` otherwise.

Not the service (`agent.devices.trees.uiautomator_service`). Invariants: a tree that cannot be had
warm is asked for cold within the same time-out; after a failure the warm way is tried again after a
pause that grows; an empty tree is an error with its reason, never a blank screen.
"""

import asyncio
import time

import msgspec

from agent.devices.facts.fact import value_or_none
from agent.devices.facts.sizes import NATURAL_SIZE, read_natural_size
from agent.devices.frames.display_size import DisplaySize
from agent.devices.protocols import UiTree
from agent.devices.shell.missing_tree import QUESTIONS, why_no_tree
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees import uiautomator_rpc as rpc
from agent.devices.trees.circuit_breaker import CircuitBreaker
from agent.devices.trees.dump import treeless
from agent.devices.trees.tree_parser import parse_tree
from agent.devices.trees.tree_source import LARGE_XML_BYTES, TreeSource
from agent.devices.trees.uiautomator_service import (
    AutomationTakenError,
    NoServiceError,
    UiautomatorService,
)
from agent.errors import DeviceTimeoutError, TreeUnavailableError

DEEPEST = 200
"""How many levels are asked for; the library's own default of 50 cuts real screens of web views."""
_WARM_SHARE = 0.5
_LONGEST_ANSWER_S = 3.0  # How long a service that is up is waited for; heavy apps take it a second.
_SHORTEST_START_S = 3.0
_EXPLAIN_TIMEOUT_S = 5.0
_HEAD_BYTES = 1024
_FAILED_BEFORE = "the service failed when the phone was qualified"


class DisplayInfo(msgspec.Struct, rename="camel"):
    """What the service says of the phone: what apps may use of the display as it is turned now."""

    display_width: int
    display_height: int
    display_rotation: int = 0

    def fits(self, natural: tuple[int, int]) -> bool:
        """Return whether a display of this size, before it is turned, can be the one meant."""
        width, height = _turned(natural, self.display_rotation)
        return self.display_width == width or self.display_height == height


class WarmTrees:
    """Trees of one phone by the fastest way that works now."""

    def __init__(
        self,
        shell: PhoneShell,
        display: DisplaySize,
        *,
        service: UiautomatorService,
        cold: TreeSource,
    ) -> None:
        self._shell = shell
        self._display = display
        self._service = service
        self._cold = cold
        self._rest = CircuitBreaker()
        self._natural: tuple[int, int] | None = None
        self._only_cold = False

    @property
    def why_cold(self) -> str:
        """Why the last tree did not come from the service; empty when it did."""
        return _FAILED_BEFORE if self._only_cold else self._rest.why

    def avoid_service(self, fails: bool) -> None:
        """Dump first where the service was seen to fail; it is tried again once a dump fails."""
        self._only_cold = fails

    async def tree(self, *, timeout_s: float) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason when there is none."""
        began = time.monotonic()
        is_taken = False
        if not self._rest.left_s and not self._only_cold:
            try:
                tree = await self._warm(timeout_s)
            except (NoServiceError, rpc.ServiceDownError, rpc.CallFailedError) as error:
                is_taken = isinstance(error, AutomationTakenError)
                await self._service.stop()
                self._rest.begin(error.message)
            except DeviceTimeoutError as error:
                # It holds the phone's UiAutomation and hangs: without an end there is no dump.
                await self._service.stop()
                self._rest.begin(error.message)
            else:
                self._rest.end()
                return tree
        left_s = max(timeout_s - (time.monotonic() - began), 0.1)
        try:
            return await self._cold.tree(timeout_s=left_s)
        except TreeUnavailableError:
            self._only_cold = False
            if is_taken:
                raise treeless(
                    self._shell.serial,
                    "another program reads the screen (UiAutomation is already registered)",
                ) from None
            raise

    async def toast(self, *, timeout_s: float) -> str:
        """Return the newest toast that was not returned before; empty where none can be known.

        The service hears toasts as an accessibility service does (`getLastToast`); a dump does not.
        """
        if not self._service.is_up or self._rest.left_s:
            return ""
        try:
            said = await rpc.call(self._shell, "getLastToast", wanted=object, timeout_s=timeout_s)
            if said is not None:
                await rpc.call(self._shell, "clearLastToast", wanted=object, timeout_s=timeout_s)
        except (rpc.ServiceDownError, rpc.CallFailedError, DeviceTimeoutError):
            # The next tree finds out what became of the service.
            return ""
        return said if isinstance(said, str) else ""

    def forget(self) -> None:
        """Begin anew: the phone came back and may be another build."""
        self._service.drop()
        self._cold.forget()
        self._rest.end()
        self._natural = None
        self._only_cold = False

    async def close(self) -> None:
        """Stop on the phone what was started there; it may be used again."""
        await self._service.stop()
        await self._cold.close()

    async def _warm(self, timeout_s: float) -> UiTree:
        patience_s = timeout_s * _WARM_SHARE
        await self._service.ensure(timeout_s=max(patience_s, min(timeout_s, _SHORTEST_START_S)))
        patience_s = min(patience_s, _LONGEST_ANSWER_S)
        tree = await self._read(patience_s)
        if tree is None:
            # The phone was turned while its tree was written: bounds and display disagree.
            tree = await self._read(patience_s)
        if tree is None:
            raise treeless(self._shell.serial, "the screen is being turned")
        return tree

    async def _read(self, timeout_s: float) -> UiTree | None:
        started_ms = _now_ms()
        text, info = await asyncio.gather(
            rpc.call(
                self._shell,
                "dumpWindowHierarchy",
                False,
                DEEPEST,
                True,
                wanted=str,
                timeout_s=timeout_s,
            ),
            rpc.call(self._shell, "deviceInfo", wanted=DisplayInfo, timeout_s=timeout_s),
        )
        ended_ms = _now_ms()
        xml = text.encode("utf-8", "surrogatepass")
        if b'rotation="%d"' % info.display_rotation not in xml[:_HEAD_BYTES] and (
            b"<hierarchy" in xml[:_HEAD_BYTES]
        ):
            return None
        natural = await self._natural_size(info, timeout_s)
        if len(xml) > LARGE_XML_BYTES:
            nodes = await asyncio.to_thread(parse_tree, xml, natural)
        else:
            nodes = parse_tree(xml, natural)
        if not nodes:
            raise treeless(self._shell.serial, await self._why_empty())
        self._display.learn(_turned(natural, info.display_rotation))
        return UiTree(nodes=nodes, xml=xml, started_ms=started_ms, ended_ms=ended_ms)

    async def _natural_size(self, info: DisplayInfo, timeout_s: float) -> tuple[int, int]:
        """Return the display's size before it is turned, asked again when it was overridden.

        The service leaves out the navigation bar (`Display.getSize`), so one side must agree.
        """
        if self._natural is None:
            self._natural = (await self._shell.profile(timeout_s=timeout_s)).natural_size
        if self._natural is None or not info.fits(self._natural):
            said = (await self._shell.run(NATURAL_SIZE, timeout_s)).text
            self._natural = value_or_none(read_natural_size(said))
        if self._natural is None:
            raise treeless(self._shell.serial, "the phone does not report the size of its display")
        return self._natural

    async def _why_empty(self) -> str:
        try:
            said = (await self._shell.run(QUESTIONS, _EXPLAIN_TIMEOUT_S)).text
        except DeviceTimeoutError:
            said = ""
        return why_no_tree(said) or "no window has content yet (null root node)"


def _turned(natural: tuple[int, int], rotation: int) -> tuple[int, int]:
    return (natural[1], natural[0]) if rotation in (1, 3) else natural


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
