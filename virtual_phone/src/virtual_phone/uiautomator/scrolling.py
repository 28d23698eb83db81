"""Scrolling and flinging an object, as UiScrollable does it: swipes inside its bounds.

Invariant: every search ends, by the end of the list or by its number of swipes.
"""

from collections.abc import Awaitable, Callable

from virtual_phone.uiautomator.nodes import Node
from virtual_phone.uiautomator.rpc import MethodTable
from virtual_phone.uiautomator.selector import Selector
from virtual_phone.uiautomator.service import Service, Target, steps_of

DEAD_ZONE = 0.1  # The part of an object's length at each end where no swipe begins.
SCROLL_STEPS, FLING_STEPS = 55, 5
SCROLL_EVENTS_S = 5.0  # How long scrolling is waited for.
SEARCH_SWIPES, SWIPES_LIMIT = 30, 500


class Scroller:
    """The scrolling methods."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def register(self, table: MethodTable) -> None:
        """Put the methods into a table under the names that the library calls."""
        table.add("scrollForward", self._forward)
        table.add("scrollBackward", self._backward)
        table.add("scrollToEnd", self._to_end)
        table.add("scrollToBeginning", self._to_beginning)
        table.add("flingForward", self._fling_forward)
        table.add("flingBackward", self._fling_backward)
        table.add("flingToEnd", self._fling_to_end)
        table.add("flingToBeginning", self._fling_to_beginning)
        table.add("scrollTo", self._scroll_to)

    async def _forward(self, target: Target, vertical: bool, steps: float) -> bool:
        return await self._swipe(target, vertical, steps, forward=True)

    async def _backward(self, target: Target, vertical: bool, steps: float) -> bool:
        return await self._swipe(target, vertical, steps, forward=False)

    async def _to_end(self, target: Target, vertical: bool, swipes: int, steps: float) -> bool:
        return await self._repeat(target, vertical, swipes, steps, forward=True)

    async def _to_beginning(
        self, target: Target, vertical: bool, swipes: int, steps: float
    ) -> bool:
        return await self._repeat(target, vertical, swipes, steps, forward=False)

    async def _fling_forward(self, target: Target, vertical: bool) -> bool:
        return await self._swipe(target, vertical, FLING_STEPS, forward=True)

    async def _fling_backward(self, target: Target, vertical: bool) -> bool:
        return await self._swipe(target, vertical, FLING_STEPS, forward=False)

    async def _fling_to_end(self, target: Target, vertical: bool, swipes: int) -> bool:
        return await self._repeat(target, vertical, swipes, FLING_STEPS, forward=True)

    async def _fling_to_beginning(self, target: Target, vertical: bool, swipes: int) -> bool:
        return await self._repeat(target, vertical, swipes, FLING_STEPS, forward=False)

    async def _scroll_to(self, target: Target, wanted: Selector, vertical: bool) -> bool:
        inside = self._service.selector_of(target).below("child", wanted)

        async def is_there() -> bool:
            return bool(await self._service.find_all(inside))

        return await is_there() or await self.scroll_until(target, is_there, vertical=vertical)

    async def scroll_until(
        self, target: Target, is_there: Callable[[], Awaitable[bool]], *, vertical: bool = True
    ) -> bool:
        """Scroll to the beginning and then on until something is there; return whether it is."""
        await self._repeat(target, vertical, SEARCH_SWIPES, SCROLL_STEPS, forward=False)
        for _ in range(SEARCH_SWIPES):
            if await is_there():
                return True
            if not await self._swipe(target, vertical, SCROLL_STEPS, forward=True):
                return await is_there()
        return await is_there()

    async def _repeat(
        self, target: Target, vertical: bool, swipes: int, steps: float, *, forward: bool
    ) -> bool:
        for _ in range(min(max(swipes, 0), SWIPES_LIMIT)):
            if not await self._swipe(target, vertical, steps, forward=forward):
                break
        return True

    async def _swipe(self, target: Target, vertical: bool, steps: float, *, forward: bool) -> bool:
        """Scroll once; return whether there is more in that direction."""
        node = await self._service.find(target)
        seen = node.view.clip
        x, y = node.center
        if vertical:
            margin = seen.height * DEAD_ZONE
            low, high = (x, seen.bottom - margin), (x, seen.top + margin)
        else:
            margin = seen.width * DEAD_ZONE
            low, high = (seen.right - margin, y), (seen.left + margin, y)
        start, end = (low, high) if forward else (high, low)
        before = _position(node)
        # Only a fling throws: UiScrollable's searches count on nothing being passed by.
        await self._service.swipe(start, end, steps_of(steps), throws=steps <= FLING_STEPS)
        await self._service.phone.animations.wait_idle(SCROLL_EVENTS_S)
        nodes = await self._service.find_all(target)
        if not nodes or not vertical:
            return bool(nodes) and _texts(nodes[0]) != _texts(node)
        after, most = nodes[0].view.scroll_y, nodes[0].view.scroll_range
        if after == before:
            return False
        return 0 < after < most


def _position(node: Node) -> int:
    return node.view.scroll_y


def _texts(node: Node) -> list[str]:
    return [one.text or one.view.desc for one in node.walk()]
