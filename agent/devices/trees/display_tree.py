"""Read the UI tree of a display beyond the main one, by `uiautomator dump --windows`.

Android 11 and later write every window of every display that way (AOSP `DumpCommand`,
`AccessibilityNodeInfoDumper.dumpWindowRec`): `displays` › `display id` › `window` › `hierarchy`.
Not the reader of one hierarchy (`agent.devices.trees.tree_parser`). Invariant: a tree is of the
display that was asked for, or there is none.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from xml.parsers import expat

from agent.devices.protocols import UiTree
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees.circuit_breaker import CircuitBreaker
from agent.devices.trees.dump import dump_command, read_dump, treeless
from agent.devices.trees.tree_parser import XML_LIMIT_BYTES, parse_tree
from agent.devices.trees.tree_source import check_rested, unfinished
from agent.errors import DeviceTimeoutError

_APPLICATION = "TYPE_APPLICATION"
_WINDOW_LIMIT = 500


class DisplayTrees:
    """Trees of one display.

    Args:
        number: Android's number of the display.
        size: returns width and height in pixels as it is turned.
        free: has our own warm service let go of the phone's UiAutomation, which a dump needs.
    """

    def __init__(
        self,
        shell: PhoneShell,
        number: Callable[[], int],
        size: Callable[[], tuple[int, int]],
        free: Callable[[], Awaitable[None]],
    ) -> None:
        self._shell = shell
        self._number = number
        self._size = size
        self._free = free
        self._rest = CircuitBreaker()

    async def tree(self, *, timeout_s: float) -> UiTree:
        """Read the tree of the window in front. Raises TreeUnavailableError with the reason."""
        serial, number = self._shell.serial, self._number()
        check_rested(serial, self._rest)
        try:
            await self._free()
            started_ms = time.time_ns() // 1_000_000
            result = await self._shell.run(dump_command(frozenset(), windows=True), timeout_s)
        except DeviceTimeoutError:
            raise unfinished(serial, self._rest, timeout_s) from None
        self._rest.end()
        dump = read_dump(serial, result, self._size())
        ended_ms = time.time_ns() // 1_000_000
        xml = hierarchy_of(dump.xml, number)
        if xml is None:
            raise treeless(serial, f"its uiautomator shows no window of display {number}")
        width, height = self._size()
        turned = xml[:200].find(b'rotation="1"') >= 0 or xml[:200].find(b'rotation="3"') >= 0
        natural = (height, width) if turned else (width, height)
        nodes = await asyncio.to_thread(parse_tree, xml, natural)
        if not nodes:
            raise treeless(serial, f"no window of display {number} has content yet")
        return UiTree(nodes=nodes, xml=xml, started_ms=started_ms, ended_ms=ended_ms)


def hierarchy_of(xml: bytes, number: int) -> bytes | None:
    """Cut the hierarchy of the frontmost application window of a display out of a dump.

    None when the dump has none, cannot be read, or is of an Android that dumps one display only.
    """
    if len(xml) > XML_LIMIT_BYTES:
        return None
    finder = _Finder(number)
    try:
        finder.run(xml)
    except expat.ExpatError:
        return None
    found = sorted(finder.found, key=lambda window: (not window[0], not window[1]))
    return xml[found[0][2] : found[0][3]] if found else None


class _Finder:
    """Notes where the hierarchies of one display begin and end."""

    def __init__(self, number: int) -> None:
        self._number = str(number)
        self._is_wanted = False
        self._windows: list[tuple[bool, bool]] = []
        self._begins = -1
        self.found: list[tuple[bool, bool, int, int]] = []
        """Of an application, focused, first byte, byte after the last."""

    def run(self, xml: bytes) -> None:
        parser = self._parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        parser.Parse(xml, True)

    def _refuse(self, *_declaration: object) -> None:
        raise expat.ExpatError("a document type is declared")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "display":
                self._is_wanted = attributes.get("id") == self._number
            case "window":
                is_application = attributes.get("type") == _APPLICATION
                self._windows.append((is_application, attributes.get("focused") == "true"))
                if len(self._windows) > _WINDOW_LIMIT:
                    raise expat.ExpatError("windows are nested without end")
            case "hierarchy" if self._is_wanted and self._windows:
                self._begins = self._parser.CurrentByteIndex

    def _end(self, name: str) -> None:
        match name:
            case "window" if self._windows:
                self._windows.pop()
            case "hierarchy" if self._begins >= 0 and self._windows:
                # The position is that of the end tag's first byte.
                end = self._parser.CurrentByteIndex + len(b"</hierarchy>")
                self.found.append((*self._windows[-1], self._begins, end))
                self._begins = -1
