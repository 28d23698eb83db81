"""Probe the ways to a UI tree: the service that stays up, a dump, and a dump of every window.

Invariants: the service is stopped before a dump, for a phone gives its UiAutomation to one program
at a time; each is asked without the other standing in for it.
"""

import re
import time

from agent.devices.passport.passport import Area, Row, TreeWay
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.probe import Probe, absent, fails, works
from agent.devices.trees.dump import dump_command, read_dump
from agent.errors import TreeUnavailableError

_TIMEOUT_S = 8.0
_FIRST_WINDOWS_SDK = 30
"""`uiautomator dump --windows` came with Android 11 (AOSP `DumpCommand`)."""
_WINDOW = re.compile(rb"<window[ >]")
_DISPLAY = re.compile(rb"<display[ >]")
_NODE = re.compile(rb"<node[ >]")


class TreeProbes:
    """The probes of one phone's trees; they are asked in turn."""

    def __init__(self, parts: PhoneParts) -> None:
        self._parts = parts

    def probes(self) -> tuple[Probe, ...]:
        return (
            Probe(Area.TREE, TreeWay.SERVICE, _TIMEOUT_S, self._service),
            Probe(Area.TREE, TreeWay.DUMP, _TIMEOUT_S, self._dump),
            Probe(Area.TREE, "windows", _TIMEOUT_S, self._windows),
        )

    async def _service(self) -> list[Row]:
        trees = self._parts.service_trees
        began_s = time.monotonic()
        try:
            await trees.tree(timeout_s=_TIMEOUT_S)
            first_ms = _ms(began_s)
            began_s = time.monotonic()
            tree = await trees.tree(timeout_s=_TIMEOUT_S)
        except TreeUnavailableError as error:
            why = (trees.why_cold or error.message).rstrip(".")
            if "not on this computer" in why:
                remedy = 'For faster trees: pip install "switchboard-console[uiautomator2]"'
                return [absent(Area.TREE, TreeWay.SERVICE, why, remedy)]
            return [fails(Area.TREE, TreeWay.SERVICE, why)]
        what = f"{len(tree.nodes)} nodes; the first, with its start, in {first_ms} ms"
        return [works(Area.TREE, TreeWay.SERVICE, what, took_ms=_ms(began_s))]

    async def _dump(self) -> list[Row]:
        await self._parts.service.stop()
        began_s = time.monotonic()
        tree = await self._parts.dump.tree(timeout_s=_TIMEOUT_S)
        what = f"{len(tree.nodes)} nodes"
        return [works(Area.TREE, TreeWay.DUMP, what, took_ms=_ms(began_s))]

    async def _windows(self) -> list[Row]:
        shell = self._parts.shell
        profile = await shell.profile()
        if 0 < profile.sdk < _FIRST_WINDOWS_SDK:
            return [absent(Area.TREE, "windows", "dumps of every window came with Android 11")]
        await self._parts.service.stop()
        began_s = time.monotonic()
        command = dump_command(profile.features, windows=True)
        result = await shell.run(command, _TIMEOUT_S)
        xml = read_dump(shell.serial, result, profile.natural_size).xml
        windows, nodes = len(_WINDOW.findall(xml)), len(_NODE.findall(xml))
        if not windows:
            return [fails(Area.TREE, "windows", "the dump has no windows in it")]
        what = f"{nodes} nodes in {windows} windows of {len(_DISPLAY.findall(xml))} displays"
        return [works(Area.TREE, "windows", what, took_ms=_ms(began_s))]


def _ms(began_s: float) -> int:
    return max(1, round((time.monotonic() - began_s) * 1000))
