"""Where UI trees come from: the TreeSource protocol, and `uiautomator dump` as the source of last
resort.

Not the XML's reader (`agent.devices.trees.tree_parser`) and not the dump's
(`agent.devices.trees.dump`). Invariant: a source gives a whole tree with its interval or raises
TreeUnavailableError with the reason.
"""

import asyncio
import time
from typing import Protocol

from agent.devices.frames.display_size import DisplaySize
from agent.devices.protocols import UiTree
from agent.devices.shell.missing_tree import QUESTIONS, why_no_tree
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees.circuit_breaker import FAIR_S, CircuitBreaker
from agent.devices.trees.dump import dump_command, read_dump, treeless
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import DeviceTimeoutError, TreeUnavailableError

LARGE_XML_BYTES = 64 * 1024  # Beyond it a tree is parsed in a thread, so that the loop goes on.
_EXPLAIN_TIMEOUT_S = 5.0


class TreeSource(Protocol):
    """One way to the UI tree of one phone."""

    async def tree(self, *, timeout_s: float) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason when there is none."""

    def forget(self) -> None:
        """Begin anew: the phone came back and may be another build."""

    async def close(self) -> None:
        """Stop on the phone what this source started there; it may be used again."""


class DumpTrees:
    """Read trees by `uiautomator dump`, a process of its own for each."""

    def __init__(self, shell: PhoneShell, display: DisplaySize) -> None:
        self._shell = shell
        self._display = display
        self._rest = CircuitBreaker()

    async def tree(self, *, timeout_s: float) -> UiTree:
        """Read the UI tree. Raises TreeUnavailableError with the reason when there is none."""
        serial = self._shell.serial
        check_rested(serial, self._rest)
        started_ms = _now_ms()
        try:
            profile = await self._shell.profile(timeout_s=timeout_s)
            result = await self._shell.run(dump_command(profile.features), timeout_s)
        except DeviceTimeoutError:
            raise unfinished(serial, self._rest, timeout_s) from None
        self._rest.end()
        try:
            dump = read_dump(serial, result, profile.natural_size)
        except TreeUnavailableError as error:
            raise await self._explained(error) from None
        self._display.learn(dump.display)
        if len(dump.xml) > LARGE_XML_BYTES:
            nodes = await asyncio.to_thread(parse_tree, dump.xml, dump.natural_size)
        else:
            nodes = parse_tree(dump.xml, dump.natural_size)
        return UiTree(nodes=nodes, xml=dump.xml, started_ms=started_ms, ended_ms=_now_ms())

    async def _explained(self, error: TreeUnavailableError) -> TreeUnavailableError:
        try:
            said = (await self._shell.run(QUESTIONS, _EXPLAIN_TIMEOUT_S)).text
        except DeviceTimeoutError:
            return error
        why = why_no_tree(said)
        return treeless(self._shell.serial, why) if why else error

    def forget(self) -> None:
        """Begin anew: the phone came back and may be another build."""
        self._rest.end()

    async def close(self) -> None:
        """Do nothing: no dump outlives its call."""


def check_rested(serial: str, rest: CircuitBreaker) -> None:
    """Refuse a dump while they hang. Raises TreeUnavailableError with the reason."""
    if left_s := rest.left_s:
        raise treeless(serial, f"{rest.why}; retrying in {left_s:.0f} s")


def unfinished(serial: str, rest: CircuitBreaker, timeout_s: float) -> TreeUnavailableError:
    """Make the error of a dump that did not end in time, and let dumps rest if that was fair."""
    why = f"uiautomator did not finish within {timeout_s:.3g} s"
    if timeout_s >= FAIR_S:
        rest.begin(why)
    return treeless(serial, why)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
