"""Read UI trees from a service that stays up on the phone, and by `uiautomator dump` otherwise.

Not the service (`agent.devices.uiautomator_service`). Invariants: a tree that cannot be had warm is
asked for cold within the same time-out; after a failure the warm way is tried again after a pause
that grows; an empty tree is an error with its reason, never a blank screen.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from agent.devices import uiautomator_rpc as rpc
from agent.devices.device import UiTree
from agent.devices.display_size import DisplaySize
from agent.devices.dump import treeless
from agent.devices.focus import DISPLAY_LIMIT_PX
from agent.devices.shell import PhoneShell
from agent.devices.tree import parse_tree
from agent.devices.tree_source import LARGE_XML_BYTES, TreeSource
from agent.devices.treeless import QUESTIONS, why_no_tree
from agent.devices.uiautomator_service import (
    AutomationTakenError,
    NoServiceError,
    UiautomatorService,
)
from agent.errors import DeviceError, DeviceTimeoutError, TreeUnavailableError

DEEPEST = 200
"""How many levels are asked for; the library's own default of 50 cuts real screens of web views."""
FIRST_REST_S = 5.0
LONGEST_REST_S = 300.0
_WARM_SHARE = 0.5
_SHORTEST_START_S = 3.0
_EXPLAIN_TIMEOUT_S = 5.0


class _Info(msgspec.Struct, rename="camel"):
    """What the service says of the phone: the display as it is turned now, in pixels."""

    display_width: int
    display_height: int
    display_rotation: int = 0


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
        self._rest_s = FIRST_REST_S
        self._rests_until = 0.0
        self.why_cold = ""
        """Why the last tree did not come from the service; empty when it did."""

    @property
    def is_warm(self) -> bool:
        """Whether trees come from the service now."""
        return self._service.is_up

    async def tree(self, *, timeout_s: float) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason when there is none."""
        began = time.monotonic()
        is_taken = False
        if began >= self._rests_until:
            try:
                tree = await self._warm(timeout_s)
            except (NoServiceError, rpc.ServiceDownError, rpc.CallFailedError) as error:
                is_taken = isinstance(error, AutomationTakenError)
                self._service.drop()
                self._rest(error)
            except DeviceTimeoutError as error:
                # It holds the phone's UiAutomation and hangs: without an end there is no dump.
                await self._service.stop()
                self._rest(error)
            else:
                self._rest_s, self.why_cold = FIRST_REST_S, ""
                return tree
        left_s = max(timeout_s - (time.monotonic() - began), 0.1)
        try:
            return await self._cold.tree(timeout_s=left_s)
        except TreeUnavailableError:
            if is_taken:
                raise treeless(
                    self._shell.serial,
                    "another program reads the screen (UiAutomation is already registered)",
                ) from None
            raise

    def forget(self) -> None:
        """Begin anew: the phone came back and may be another build."""
        self._service.drop()
        self._rests_until, self._rest_s = 0.0, FIRST_REST_S

    async def close(self) -> None:
        """Stop on the phone what was started there; it may be used again."""
        await self._service.stop()
        await self._cold.close()

    def _rest(self, error: DeviceError) -> None:
        """Read trees cold for a while, longer after each failure in a row."""
        self.why_cold = error.message
        self._rests_until = time.monotonic() + self._rest_s
        self._rest_s = min(self._rest_s * 2, LONGEST_REST_S)

    async def _warm(self, timeout_s: float) -> UiTree:
        patience_s = timeout_s * _WARM_SHARE
        await self._service.ensure(timeout_s=max(patience_s, min(timeout_s, _SHORTEST_START_S)))
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
            rpc.call(self._shell, "deviceInfo", wanted=_Info, timeout_s=timeout_s),
        )
        ended_ms = _now_ms()
        xml = text.encode("utf-8", "surrogatepass")
        size = (info.display_width, info.display_height)
        if not 0 < min(size) <= max(size) <= DISPLAY_LIMIT_PX:
            raise treeless(self._shell.serial, "the phone gives its display no size")
        turned = xml.find(b'rotation="%d"' % info.display_rotation, 0, 1024) >= 0
        if not turned and b"<hierarchy" in xml[:1024]:
            return None
        natural = (size[1], size[0]) if info.display_rotation in (1, 3) else size
        if len(xml) > LARGE_XML_BYTES:
            nodes = await asyncio.to_thread(parse_tree, xml, natural)
        else:
            nodes = parse_tree(xml, natural)
        if not nodes:
            raise treeless(self._shell.serial, await self._why_empty())
        self._display.learn(size)
        return UiTree(nodes=nodes, xml=xml, started_ms=started_ms, ended_ms=ended_ms)

    async def _why_empty(self) -> str:
        try:
            said = (await self._shell.run(QUESTIONS, _EXPLAIN_TIMEOUT_S)).text
        except DeviceTimeoutError:
            said = ""
        return why_no_tree(said) or "no window has content yet (null root node)"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
