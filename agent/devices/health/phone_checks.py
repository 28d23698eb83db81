"""Examine one phone: its battery, storage, lock, keyboard, dialogs, clock and the ways to it.

Not the machine it hangs on, which is `agent.devices.health.doctor`'s. Invariants: examining changes
nothing on the phone; each finding is by itself, so that one that cannot be had is a finding too;
only what can be put right by adb has a repair.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from agent.devices.adb_device import AdbDevice
from agent.devices.facts.battery import BATTERY, read_battery
from agent.devices.facts.fact import Unknown
from agent.devices.facts.input_methods import INPUT_METHODS, read_input_methods
from agent.devices.facts.keyguard import KEYGUARD, KEYGUARD_OF_ACTIVITIES, read_keyguard
from agent.devices.facts.packages import packages_command, read_packages, read_user
from agent.devices.facts.power import POWER, read_awake
from agent.devices.facts.storage import STORAGE, read_free_percent
from agent.devices.facts.thermal import THERMAL, read_thermal
from agent.devices.facts.users import USERS, read_users
from agent.devices.facts.windows import WINDOWS, read_windows
from agent.devices.health.admin import DeviceAdmin
from agent.devices.health.findings import Repair, RepairableFinding, latency, unknown
from agent.devices.health.scrcpy_checks import examine_touch, examine_video
from agent.devices.health.screen_findings import dialogs_finding, lock_finding, screen_finding
from agent.devices.health.state_findings import (
    apps_finding,
    battery_finding,
    keyboard_finding,
    storage_finding,
    thermal_finding,
)
from agent.devices.protocols import Device
from agent.devices.scrcpy.link import ScrcpyLink
from agent.errors import DeviceError
from agent.text import one_line

_USERS_FOLLOW = "@switchboard-users"
SKEW_S = 60
SLOW_SHELL_MS, SLOW_CAPTURE_MS, SLOW_TREE_MS = 500, 3000, 5000
_FINDING_TIMEOUT_S = 25.0
_STATE_TIMEOUT_S = 20.0
_WORD_TIMEOUT_S = 6.0  # They are asked at the same time, so this bounds them all.
_WHOLE_NUMBER = re.compile(r"[0-9]{1,15}")
_TEMPORARY = "rm -f /data/local/tmp/switchboard-*.apk /sdcard/window_dump.xml"


class Health:
    """Examine one phone and put right what was found.

    Args:
        link: opens runs of its scrcpy server.
        wall_s: what this machine's clock says.
    """

    def __init__(
        self,
        device: Device,
        extras: DeviceAdmin,
        link: ScrcpyLink,
        *,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._device = device
        self._extras = extras
        self._link = link
        self._wall_s = wall_s

    async def examine(self) -> tuple[RepairableFinding, ...]:
        """Examine everything: the ways to it one after the other, for the latencies are to be those
        of one call, and what only has to be asked for at once.
        """
        asked: tuple[tuple[str, Callable[[], Awaitable[RepairableFinding]]], ...] = (
            ("clock", self._clock),
            ("battery", self._battery),
            ("thermal", self._thermal),
            ("storage", self._storage),
            ("screen", self._screen),
            ("lock", self._lock),
            ("keyboard", self._keyboard),
            ("dialogs", self._dialogs),
            ("apps", self._apps),
        )
        timed: tuple[tuple[str, Callable[[], Awaitable[RepairableFinding]]], ...] = (
            ("capture", self._capture),
            ("tree", self._tree),
            ("video", lambda: examine_video(self._link)),
            ("touch", lambda: examine_touch(self._link)),
        )
        try:
            async with asyncio.timeout(_WORD_TIMEOUT_S):
                shell = await self._shell()
        except (DeviceError, TimeoutError) as error:
            # Each of the others would meet the same silence, one after the other.
            return (_silent(error),)
        states = await asyncio.gather(
            *(self._one(name, examine, _STATE_TIMEOUT_S) for name, examine in asked)
        )
        ways = [await self._one(name, examine) for name, examine in timed]
        return (shell, *states, *ways)

    async def repair(
        self, findings: tuple[RepairableFinding, ...]
    ) -> tuple[RepairableFinding, ...]:
        """Put right what has a repair; returns what was tried, and how it is now."""
        tried: list[RepairableFinding] = []
        for finding in findings:
            if finding.ok or finding.repair is None:
                continue
            try:
                await self._carry_out(finding.repair)
            except DeviceError as error:
                tried.append(
                    RepairableFinding(
                        name=finding.name, ok=False, detail=error.message, remedy=error.remedy
                    )
                )
        now = {one.name: one for one in await self.examine()}
        failed = {one.name for one in tried}
        mended = [
            now[one.name]
            for one in findings
            if not one.ok and one.repair is not None and one.name not in failed
        ]
        return (*mended, *tried)

    async def _carry_out(self, repair: Repair) -> None:
        match repair:
            case Repair.WAKE:
                await self._extras.wake()
            case Repair.UNLOCK:
                await self._extras.unlock()
            case Repair.KEYBOARD:
                await self._extras.shell("ime reset")
            case Repair.DIALOGS:
                await self._extras.shell(
                    "am broadcast -a android.intent.action.CLOSE_SYSTEM_DIALOGS; input keyevent 4"
                )
            case Repair.STORAGE:
                await self._extras.shell(f"{_TEMPORARY}; pm trim-caches 1G")
            case Repair.CLOCK:
                await self._extras.shell("settings put global auto_time 1")

    async def _one(
        self,
        name: str,
        examine: Callable[[], Awaitable[RepairableFinding]],
        timeout_s: float = _FINDING_TIMEOUT_S,
    ) -> RepairableFinding:
        try:
            async with asyncio.timeout(timeout_s):
                return await examine()
        except DeviceError as error:
            return RepairableFinding(name=name, ok=False, detail=error.message, remedy=error.remedy)
        except TimeoutError:
            return RepairableFinding(
                name=name,
                ok=False,
                detail=f"no answer within {timeout_s:g} s",
                remedy="Restart the phone if this continues.",
            )

    # --- the ways to it ----------

    async def _shell(self) -> RepairableFinding:
        took_ms = await _timed(self._extras.shell("echo"))
        return latency("shell", took_ms, SLOW_SHELL_MS, "adb shell")

    async def _capture(self) -> RepairableFinding:
        took_ms = await _timed(self._device.capture())
        return latency("capture", took_ms, SLOW_CAPTURE_MS, "a picture of the screen")

    async def _tree(self) -> RepairableFinding:
        began = time.monotonic()
        tree = await self._device.tree()
        took_ms = round((time.monotonic() - began) * 1000)
        what = f"a UI tree of {len(tree.nodes)} nodes"
        found = latency("tree", took_ms, SLOW_TREE_MS, what)
        if not isinstance(self._device, AdbDevice):
            return found
        why_cold = self._device.trees.why_cold
        if not why_cold:
            return replace(found, detail=f"{found.detail}, by the UI Automator service")
        remedy = found.remedy or 'For faster ones: pip install "switchboard-console[uiautomator2]"'
        return replace(found, detail=f"{found.detail}, by a dump: {why_cold}", remedy=remedy)

    # --- the phone ----------

    async def _clock(self) -> RepairableFinding:
        said = (await self._output("date +%s")).strip()
        if not _WHOLE_NUMBER.fullmatch(said):
            return unknown("clock", "its time")
        skew_s = int(said) - round(self._wall_s())
        ok = abs(skew_s) <= SKEW_S
        return RepairableFinding(
            name="clock",
            ok=ok,
            detail=f"{abs(skew_s)} s {'ahead of' if skew_s > 0 else 'behind'} this machine",
            remedy="" if ok else "Switch automatic time on in the phone's settings.",
            repair=None if ok else Repair.CLOCK,
        )

    async def _battery(self) -> RepairableFinding:
        return battery_finding(read_battery(await self._output(BATTERY)))

    async def _thermal(self) -> RepairableFinding:
        return thermal_finding(read_thermal(await self._output(THERMAL)))

    async def _storage(self) -> RepairableFinding:
        return storage_finding(read_free_percent(await self._output(STORAGE)))

    async def _screen(self) -> RepairableFinding:
        return screen_finding(read_awake(await self._output(POWER)))

    async def _lock(self) -> RepairableFinding:
        said = await self._output(KEYGUARD)
        keyguard = read_keyguard(said)
        if isinstance(keyguard, Unknown):
            keyguard = read_keyguard(f"{said}\n{await self._output(KEYGUARD_OF_ACTIVITIES)}")
        return lock_finding(keyguard)

    async def _apps(self) -> RepairableFinding:
        said = await self._output(f"{packages_command()}; echo '{_USERS_FOLLOW}'; {USERS}")
        packages, _, users = said.partition(_USERS_FOLLOW)
        return apps_finding(read_packages(packages), read_user(packages), read_users(users))

    async def _keyboard(self) -> RepairableFinding:
        return keyboard_finding(read_input_methods(await self._output(f"{INPUT_METHODS}; true")))

    async def _dialogs(self) -> RepairableFinding:
        return dialogs_finding(read_windows(await self._output(WINDOWS)))

    async def _output(self, command: str) -> str:
        """Run a command and give what it said. Raises DeviceError: it failed."""
        result = await self._extras.shell(command)
        if result.exit_code not in {0, None}:
            raise DeviceError(
                f"`{command}` ended with {result.exit_code}: {one_line(result.text, 120)}",
                "The phone's shell lacks the command, so this is unknown.",
            )
        return result.text


def _silent(error: DeviceError | TimeoutError) -> RepairableFinding:
    why = error.message if isinstance(error, DeviceError) else "it gives no word"
    return RepairableFinding(
        name="shell",
        ok=False,
        detail=f"{why}; nothing else was asked",
        remedy="Unplug the phone and plug it in again, or restart it.",
    )


async def _timed(call: Awaitable[object]) -> int:
    began = time.monotonic()
    await call
    return round((time.monotonic() - began) * 1000)
