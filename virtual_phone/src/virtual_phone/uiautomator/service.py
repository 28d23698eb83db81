"""What every method of the service stands on: the phone, its screen at this moment, and waiting.

Not the methods. Invariant: a wait ends at its time limit, and looks again only when the screen has
changed.
"""

import asyncio
import math
from collections import OrderedDict
from typing import TYPE_CHECKING
from uuid import uuid4

from virtual_phone.input import injection
from virtual_phone.input.gestures import Gestures
from virtual_phone.input.keys import Keys
from virtual_phone.server.faults import FaultKind
from virtual_phone.uiautomator.nodes import Node, root_of, windows
from virtual_phone.uiautomator.rpc import FAILED, INVALID_PARAMETERS, ObjectNotFoundError, RpcError
from virtual_phone.uiautomator.selector import Selector, find_all

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.userland.userland import Userland

STEP_S = 0.005  # A gesture's step takes 5 ms, as InteractionController throttles them.
STEPS_LIMIT = 20_000
WAIT_LIMIT_S = 600.0
HANDLES_LIMIT = 256
COORDINATE_LIMIT = 100_000

Target = Selector | str  # An object: what it is like, or the name that the service gave to one.


class Service:
    """The phone as one running service sees it."""

    def __init__(self, userland: "Userland") -> None:
        self.userland = userland
        self.phone: Phone = userland.phone
        self.toasts_seen = self.phone.toasts.count
        self.idle_timeout_ms = 0
        self._handles: OrderedDict[str, Selector] = OrderedDict()

    # -- input

    @property
    def gestures(self) -> Gestures:
        """Fingers that the service injects; raises RpcError where the phone refuses them."""
        self._need_injection()
        return self.phone.gestures

    @property
    def keys(self) -> Keys:
        """Keys that the service injects; raises RpcError where the phone refuses them."""
        self._need_injection()
        return self.phone.keys

    def _need_injection(self) -> None:
        # As uiautomator2 issue 520 shows it on MIUI: Android checks the service as it does adb.
        if injection.is_refused(self.userland):
            why = injection.reason(self.userland)
            raise RpcError(FAILED, f"java.lang.SecurityException: {why}")

    # -- objects

    def roots(self) -> list[Node]:
        """Return the trees of the windows, the active one's first."""
        if FaultKind.NULL_ROOT in self.userland.faults:
            return []
        found = [root_of(surface) for surface in windows(self.phone.compositor.scene())]
        return [root for root in found if root is not None]

    def remember(self, selector: Selector) -> str:
        """Return an object a name; the oldest is forgotten when there are too many."""
        name = uuid4().hex
        self._handles[name] = selector
        while len(self._handles) > HANDLES_LIMIT:
            self._handles.popitem(last=False)
        return name

    def selector_of(self, target: Target) -> Selector:
        """Return what an object is like; raise ObjectNotFoundError for an unknown name."""
        if isinstance(target, Selector):
            return target
        try:
            return self._handles[target]
        except KeyError:
            raise ObjectNotFoundError(f"no object {target[:100]!r}") from None

    async def find_all(self, target: Target) -> list[Node]:
        """Return every node that an object may mean."""
        if self.idle_timeout_ms:
            await self.phone.animations.wait_idle(self.idle_timeout_ms / 1000)
        return find_all(self.roots(), self.selector_of(target))

    async def find(self, target: Target) -> Node:
        """Return the first node that an object means; raise ObjectNotFoundError without one."""
        found = await self.find_all(target)
        if not found:
            raise ObjectNotFoundError(self.selector_of(target).shown())
        return found[0]

    async def wait_for(self, target: Target, timeout_ms: float, *, gone: bool) -> bool:
        """Wait until an object is there, or gone; return whether it came to that."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + min(max(timeout_ms / 1000, 0), WAIT_LIMIT_S)
        while True:
            version = self.phone.compositor.version
            if bool(await self.find_all(target)) is not gone:
                return True
            left = deadline - loop.time()
            if left <= 0:
                return False
            try:
                async with asyncio.timeout(left):
                    await self.phone.compositor.wait_newer(version)
            except TimeoutError:
                continue

    # -- input

    async def swipe(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        steps: int,
        *,
        throws: bool = True,
    ) -> None:
        """Move a finger from a point to another; `throws` as for `Gestures.swipe`."""
        lasting_ms = round(steps_of(steps) * STEP_S * 1000)
        await self.gestures.swipe(*start, *end, lasting_ms, throws=throws)

    async def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int) -> None:
        """Hold a finger on a point long enough to pick up what is there, then move it."""
        await self.trace([[start, end]], steps, hold_s=LONG_PRESS_S)

    async def trace(
        self, paths: list[list[tuple[float, float]]], steps: int, *, hold_s: float = 0.0
    ) -> None:
        """Move fingers along paths at the same time, `steps` for each stretch between points."""
        steps = steps_of(steps)
        stretches = len(paths[0]) - 1
        if stretches * steps > STEPS_LIMIT:
            raise RpcError(INVALID_PARAMETERS, "java.lang.IllegalArgumentException: too many steps")
        for pointer, path in enumerate(paths):
            self.gestures.finger("down", pointer, *path[0])
        await asyncio.sleep(hold_s)
        loop = asyncio.get_running_loop()
        began = loop.time()
        done = 0.0
        try:
            while done < stretches:
                await asyncio.sleep(STEP_S)
                done = min((loop.time() - began) / (steps * STEP_S), stretches)
                for pointer, path in enumerate(paths):
                    self.gestures.finger("move", pointer, *_interpolate(path, done))
        finally:
            for pointer, path in enumerate(paths):
                self.gestures.finger("up", pointer, *path[-1])


LONG_PRESS_S = 0.55  # A little more than the phone takes for a long press.


def _interpolate(path: list[tuple[float, float]], done: float) -> tuple[float, float]:
    at = min(int(done), len(path) - 2)
    part = done - at
    (x1, y1), (x2, y2) = path[at], path[at + 1]
    return x1 + (x2 - x1) * part, y1 + (y2 - y1) * part


def steps_of(steps: float) -> int:
    """Return a number of steps; raise RpcError beyond what a gesture may take."""
    if not math.isfinite(steps) or steps > STEPS_LIMIT:
        raise RpcError(INVALID_PARAMETERS, "java.lang.IllegalArgumentException: too many steps")
    return max(1, int(steps))


def point_of(x: float, y: float) -> tuple[int, int]:
    """Return a point in display pixels; raise RpcError for numbers that are none."""
    if not (abs(x) < COORDINATE_LIMIT and abs(y) < COORDINATE_LIMIT):
        raise RpcError(INVALID_PARAMETERS, "java.lang.IllegalArgumentException: bad coordinates")
    return int(x), int(y)
