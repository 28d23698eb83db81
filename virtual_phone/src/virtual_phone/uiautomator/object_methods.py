"""The methods on objects: find, read, click, type, drag, pinch, and name children.

Not the methods on the phone as a whole. Invariant: an object is looked up anew for each call, so
what is answered is what is on the screen now.
"""

from collections.abc import Callable

import msgspec

from virtual_phone.uiautomator.nodes import Node, information
from virtual_phone.uiautomator.rpc import MethodTable, ObjectNotFoundError
from virtual_phone.uiautomator.scrolling import Scroller
from virtual_phone.uiautomator.selector import Selector
from virtual_phone.uiautomator.service import LONG_PRESS_S, Service, Target, point_of, steps_of

NAMED_CHILDREN_LIMIT = 500
FINGER_GAP = 0.1  # Where pinching fingers begin, as part of the object's size from its middle.


class Point(msgspec.Struct):
    """A point in display pixels."""

    x: float = 0
    y: float = 0

    @property
    def place(self) -> tuple[float, float]:
        """The two numbers; raises RpcError for numbers that are none."""
        return point_of(self.x, self.y)


class ObjectMethods:
    """What can be asked of an object."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._phone = service.phone
        self._scroller = Scroller(service)

    def register(self, table: MethodTable) -> None:
        """Put the methods into a table under the names that the library calls."""
        table.add("exist", self._exist)
        table.add("count", self._count)
        table.add("objInfo", self._info)
        table.add("objInfoOfAllInstances", self._info_of_all)
        table.add("waitForExists", self._wait_for)
        table.add("waitUntilGone", self._wait_gone)
        table.add("click", self._click, self._click_corner)
        table.add("longClick", self._long_click, self._long_click_corner)
        table.add("getText", self._get_text)
        table.add("setText", self._set_text)
        table.add("clearTextField", self._clear_text)
        table.add("dragTo", self._drag_to_object, self._drag_to_point)
        table.add("swipe", self._swipe, self._swipe_part)
        table.add("gesture", self._gesture)
        table.add("pinchIn", self._pinch_in)
        table.add("pinchOut", self._pinch_out)
        table.add("childByText", self._child_by_text, self._child_by_text_scrolling)
        table.add(
            "childByDescription", self._child_by_description, self._child_by_description_scrolling
        )
        table.add("childByInstance", self._child_by_instance)
        table.add("getUiObject", self._name)
        self._scroller.register(table)

    # -- looking

    async def _exist(self, target: Target) -> bool:
        return bool(await self._service.find_all(target))

    async def _count(self, target: Selector) -> int:
        return len(await self._service.find_all(target))

    async def _info(self, target: Target) -> dict[str, object]:
        return information(await self._service.find(target))

    async def _info_of_all(self, target: Selector) -> list[dict[str, object]]:
        return [information(node) for node in await self._service.find_all(target)]

    async def _wait_for(self, target: Target, timeout_ms: float) -> bool:
        return await self._service.wait_for(target, timeout_ms, gone=False)

    async def _wait_gone(self, target: Target, timeout_ms: float) -> bool:
        return await self._service.wait_for(target, timeout_ms, gone=True)

    async def _get_text(self, target: Target) -> str:
        return (await self._service.find(target)).text

    async def _name(self, target: Selector) -> str:
        return self._service.remember(target)

    # -- clicking and typing

    async def _click(self, target: Target) -> bool:
        await self._service.gestures.tap(*(await self._service.find(target)).center)
        return True

    async def _click_corner(self, target: Target, corner: str) -> bool:
        await self._service.gestures.tap(*_corner(await self._service.find(target), corner))
        return True

    async def _long_click(self, target: Target) -> bool:
        node = await self._service.find(target)
        await self._service.gestures.long_press(*node.center, round(LONG_PRESS_S * 1000))
        return True

    async def _long_click_corner(self, target: Target, corner: str) -> bool:
        node = await self._service.find(target)
        await self._service.gestures.long_press(*_corner(node, corner), round(LONG_PRESS_S * 1000))
        return True

    async def _set_text(self, target: Target, text: str) -> bool:
        # The real service taps the object first, which may change what the object is.
        await self._service.gestures.tap(*(await self._service.find(target)).center)
        self._replace(await self._service.find(target), text)
        return True

    async def _clear_text(self, target: Target) -> None:
        self._replace(await self._service.find(target), "")

    def _replace(self, node: Node, text: str) -> None:
        if node.editable:
            self._phone.keys.replace_text(node.surface, node.view, text)

    # -- moving

    async def _drag_to_point(self, target: Target, x: float, y: float, steps: float) -> bool:
        node = await self._service.find(target)
        await self._service.drag(node.center, point_of(x, y), steps_of(steps))
        return True

    async def _drag_to_object(self, target: Target, goal: Selector, steps: float) -> bool:
        node, end = await self._service.find(target), await self._service.find(goal)
        await self._service.drag(node.center, end.center, steps_of(steps))
        return True

    async def _swipe(self, target: Target, direction: str, steps: float) -> bool:
        return await self._swipe_part(target, direction, 1.0, steps)

    async def _swipe_part(self, target: Target, direction: str, part: float, steps: float) -> bool:
        node = await self._service.find(target)
        seen = node.view.clip
        x, y = node.center
        part = min(max(part, 0.0), 1.0)
        ends = {
            "up": (x, y - part * (y - seen.top)),
            "down": (x, y + part * (seen.bottom - 1 - y)),
            "left": (x - part * (x - seen.left), y),
            "right": (x + part * (seen.right - 1 - x), y),
        }
        if direction not in ends:
            return False
        await self._service.swipe((x, y), ends[direction], steps_of(steps))
        return True

    async def _gesture(
        self, target: Target, start1: Point, start2: Point, end1: Point, end2: Point, steps: float
    ) -> bool:
        await self._service.find(target)
        paths = [[start1.place, end1.place], [start2.place, end2.place]]
        await self._service.trace(paths, steps_of(steps))
        return True

    async def _pinch_in(self, target: Target, percent: float, steps: float) -> bool:
        near, far = _fingers(await self._service.find(target), percent)
        await self._service.trace([[far[0], near[0]], [far[1], near[1]]], steps_of(steps))
        return True

    async def _pinch_out(self, target: Target, percent: float, steps: float) -> bool:
        near, far = _fingers(await self._service.find(target), percent)
        await self._service.trace([[near[0], far[0]], [near[1], far[1]]], steps_of(steps))
        return True

    # -- children by what they say

    async def _child_by_text(self, parent: Selector, child: Selector, text: str) -> str:
        return await self._child_by_text_scrolling(parent, child, text, True)

    async def _child_by_text_scrolling(
        self, parent: Selector, child: Selector, text: str, scroll: bool
    ) -> str:
        return await self._child(parent, child, lambda node: node.text == text, text, scroll)

    async def _child_by_description(self, parent: Selector, child: Selector, text: str) -> str:
        return await self._child_by_description_scrolling(parent, child, text, True)

    async def _child_by_description_scrolling(
        self, parent: Selector, child: Selector, text: str, scroll: bool
    ) -> str:
        return await self._child(parent, child, lambda node: node.view.desc == text, text, scroll)

    async def _child_by_instance(self, parent: Selector, child: Selector, number: int) -> str:
        return self._service.remember(parent.below("child", child.numbered(number)))

    async def _child(
        self,
        parent: Selector,
        child: Selector,
        says: Callable[[Node], bool],
        text: str,
        scroll: bool,
    ) -> str:
        pattern = parent.below("child", child)
        wanted: list[int] = []

        async def is_there() -> bool:
            nodes = (await self._service.find_all(pattern))[:NAMED_CHILDREN_LIMIT]
            wanted[:] = [i for i, node in enumerate(nodes) if any(says(n) for n in node.walk())]
            return bool(wanted)

        found = await is_there()
        if not found and scroll and (await self._service.find(parent)).scrollable:
            found = await self._scroller.scroll_until(parent, is_there)
        if not found:
            raise ObjectNotFoundError(f"{pattern.shown()} with {text[:200]!r}")
        return self._service.remember(parent.below("child", child.numbered(wanted[0])))


def _corner(node: Node, name: str) -> tuple[float, float]:
    seen = node.view.clip
    if name in ("tl", "topleft"):
        return seen.left + 5, seen.top + 5
    if name in ("br", "bottomright"):
        return seen.right - 5, seen.bottom - 5
    return node.center


def _fingers(
    node: Node, percent: float
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return where two fingers are when they are near to each other, and when they are far."""
    seen = node.view.clip
    x, y = node.center
    part = min(max(percent, 0.0), 100.0) / 100
    near, far = seen.width * FINGER_GAP, seen.width / 2 * part
    far = max(far, near)
    return [(x - near, y), (x + near, y)], [(x - far, y), (x + far - 1, y)]
