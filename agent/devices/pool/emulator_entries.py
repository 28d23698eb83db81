"""Android emulators for a pool, started from one AVD by the SDK's own `emulator`.

Nothing is downloaded and no AVD is made. Each instance is read-only (`-read-only`), so that several
of one AVD run side by side and nothing is written back. Invariant: an emulator that was started
here ends with its entry. The variables are those that Android's tools read themselves.
"""

import asyncio
import os
import shutil
import signal
import subprocess
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.child_environment import child_environment
from agent.child_process import end_child
from agent.devices.adb.address import ServerAddress
from agent.devices.pool.entries import PhoneAt, check_phone, clear_apps
from agent.devices.resources.resource_ledger import Resource, ResourceKind, ResourceLedger
from agent.devices.shell.reclaim import reclaim_here
from agent.errors import DeviceError, UsageError
from agent.text import one_line

FIRST_PORT, LAST_PORT = 5554, 5682
"""The even console ports that `emulator -port` takes; adb is one above."""
BOOT_TIMEOUT_S = 300.0
_END_TIMEOUT_S = 20.0
_PAUSE_S = 1.0


def find_emulator(environment: Mapping[str, str] = os.environ) -> Path:
    """Find the SDK's emulator program. Raises UsageError that says where it was looked for."""
    named = environment.get("ANDROID_EMULATOR_PATH", "")
    folders = [environment.get(name, "") for name in ("ANDROID_SDK_ROOT", "ANDROID_HOME")]
    places = [Path(named)] if named else []
    places += [Path(folder) / "emulator" / "emulator" for folder in folders if folder]
    places += [Path.home() / "Android" / "Sdk" / "emulator" / "emulator"]
    on_path = shutil.which("emulator", path=environment.get("PATH"))
    places += [Path(on_path)] if on_path else []
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return place
    raise UsageError(
        "The Android emulator is not on this computer.",
        "Install the SDK's emulator, or name the program in ANDROID_EMULATOR_PATH.",
    )


class EmulatorEntry:
    """One read-only instance of an AVD.

    Args:
        program: the SDK's emulator.
        avd: the name of the virtual device, as `emulator -list-avds` says it.
        port: its console port; even, from 5554 to 5682. The serial is `emulator-PORT`.
        server: the adb server that finds it.
        packages: the apps whose data is cleared after each use.
        resources: where it is written down that the emulator runs, so that one whose pool was
            killed is ended when the pool is opened again.
    """

    def __init__(
        self,
        program: Path,
        avd: str,
        *,
        port: int,
        server: ServerAddress,
        packages: Sequence[str] = (),
        tags: frozenset[str] = frozenset(),
        boot_timeout_s: float = BOOT_TIMEOUT_S,
        resources: ResourceLedger | None = None,
    ) -> None:
        if not (FIRST_PORT <= port <= LAST_PORT and port % 2 == 0):
            raise UsageError(
                f"An emulator cannot have the port {port}.",
                f"Give an even one from {FIRST_PORT} to {LAST_PORT}.",
            )
        self._command = [
            str(program),
            "-avd",
            avd,
            "-port",
            str(port),
            "-read-only",
            "-no-window",
            "-no-audio",
            "-no-boot-anim",
            "-no-snapshot-save",
        ]
        self._at = PhoneAt(f"emulator-{port}", server)
        self._packages = tuple(packages)
        self._boot_timeout_s = boot_timeout_s
        self._resources = resources or ResourceLedger()
        self._taken: Resource | None = None
        self._avd = avd
        self._process: Process | None = None
        self._said = b""
        self.tags = tags | {"emulator", avd}

    async def start(self) -> PhoneAt:
        """Start the emulator and wait until Android is up.

        Raises DeviceError with the emulator's last words when it ends, or is not up in time.
        """
        environment = child_environment(keeps_adb=True)
        if not self._at.address.path:
            # An emulator announces itself on a port only; other servers find it by its own port.
            environment["ANDROID_ADB_SERVER_PORT"] = str(self._at.address.port)
        await reclaim_here(self._resources)
        self._taken = self._resources.take(ResourceKind.EMULATOR, self._avd)
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        self._process = process
        self._resources.started(self._taken, process.pid)
        listening = asyncio.create_task(self._listen(process), name=f"words of {self._at.serial}")
        try:
            async with asyncio.timeout(self._boot_timeout_s):
                while True:
                    try:
                        await check_phone(self._at)
                    except DeviceError:
                        await asyncio.wait({listening}, timeout=_PAUSE_S)
                    else:
                        return self._at
                    if listening.done():
                        raise self._failed("ended")
        except TimeoutError:
            await self.stop()
            raise self._failed(f"was not up within {self._boot_timeout_s:g} s") from None

    async def reset(self) -> None:
        """Clear the named apps and show the home screen; the emulator goes on running."""
        await clear_apps(self._at, self._packages)

    async def check(self) -> None:
        """Raise DeviceError when it does not answer."""
        await check_phone(self._at)

    async def replace(self) -> PhoneAt:
        """End the emulator and start it anew."""
        await self.stop()
        return await self.start()

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            await end_child(process, signals=[signal.SIGTERM], within_s=_END_TIMEOUT_S)
        taken, self._taken = self._taken, None
        if taken is not None:
            self._resources.settle(taken)

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        while data := await process.stdout.read(4096):
            self._said = (self._said + data)[-2000:]
        await process.wait()

    def _failed(self, how: str) -> DeviceError:
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        said = one_line(lines[-1], 200) if lines else "nothing"
        return DeviceError(
            f"The emulator {self._at.serial} {how}; its last output: {said}.",
            "Try its command by hand: " + " ".join(self._command[:5]),
        )
