"""One virtual phone that is served: its port, its faults, and what a person does to it by hand.

Not the phone's inside and not the host of many. Invariant: it listens on the loopback interface
only, and closing it ends everything it started.
"""

import asyncio
import errno
import json
import logging
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from virtual_phone import lock, uiautomator
from virtual_phone.adbd.connection import READ_BUFFER_BYTES
from virtual_phone.adbd.daemon import AdbDaemon
from virtual_phone.adbd.gate import FaultyGate, KeyGate, ListedKeys, OpenGate
from virtual_phone.display.frozen_display import shown_scene
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.scrcpy import server as scrcpy
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.pipes import Socket
from virtual_phone.state import checkpoint, scenarios
from virtual_phone.userland.userland import Userland

LOOPBACK = "127.0.0.1"
EMULATOR_PORTS = range(5554, 5586)
"""An adb server adopts these by itself and lists the device twice."""

UNREACHABLE = (FaultKind.DISCONNECT, FaultKind.BATTERY_DEATH)
CHARGED_LEVEL = 15
STATE_SOCKET = "localabstract:virtual-phone-state"
CONTROL_SOCKET = "localabstract:virtual-phone-control"
"""Takes one line and answers `done` or the reason: a pool's way, over adb alone. `snapshot` answers
what the phone holds; `restore COUNT` takes as many bytes of that after its line."""
MOST_SNAPSHOT_BYTES = 64 << 20
BOOT_S = 1.0
PORT_TRIES = 50
LONGEST_TOUCH_MS = 60_000

_log = logging.getLogger(__name__)


class ServedPhone:
    """One phone and its port.

    Args:
        home: the phone's own directory.
        name: how it is called; also the seed of its identity.
        gate: says which computers may connect; every one may without it.
        profile: what kind of phone it is (`virtual_phone.state.profiles`); what it was by default.
        android: which version; the one it had, or its kind has, by default.
        clock: its time, seconds since the epoch; the computer's by default.
    """

    def __init__(
        self,
        home: Path,
        name: str,
        *,
        gate: KeyGate | ListedKeys | None = None,
        profile: str | None = None,
        android: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._clock_offset_s = 0.0
        self.phone = Phone(home, name=name, clock=self._now, profile=profile, android=android)
        self.userland = Userland(self.phone, home, name)
        self.gate = FaultyGate(gate or OpenGate())
        self.daemon = AdbDaemon(self.userland, gate=self.gate, reboot=self._begin_reboot)
        self.port = 0
        self._server: asyncio.Server | None = None
        self._rebooting: asyncio.Task[None] | None = None
        self._touching: asyncio.Task[None] | None = None
        self._booting = False
        self._closing = False
        self.userland.faults.listener = self._on_fault
        self.userland.app_processes[scrcpy.CLASS] = scrcpy.app_process
        self.userland.app_processes[uiautomator.CLASS] = uiautomator.app_process
        self.userland.on_reboot = self._begin_reboot
        self._listen_inside()

    @property
    def serial(self) -> str:
        """The serial that an adb server gives the phone: 127.0.0.1:PORT."""
        return f"{LOOPBACK}:{self.port}"

    def _now(self) -> float:
        return self._clock() + self._clock_offset_s

    def _listen_inside(self) -> None:
        async def state(socket: Socket) -> None:
            text = json.dumps(self.phone.state(), ensure_ascii=False, sort_keys=True)
            await socket.write(text.encode() + b"\n")

        async def control(socket: Socket) -> None:
            line, _, rest = (await socket.read()).partition(b"\n")
            try:
                match line.decode("utf-8", "replace").split():
                    case ["reset"]:
                        self.reset()
                    case ["scenario", name]:
                        scenarios.begin(self.phone, name)
                    case ["snapshot"]:
                        await socket.write(checkpoint.packed(checkpoint.take(self.phone)))
                        return
                    case ["restore", count] if count.isdecimal() and len(count) < 12:
                        await self._restore(socket, rest, int(count))
                    case _:
                        raise PhoneError(
                            "only `reset`, `scenario NAME`, `snapshot` and `restore COUNT` are "
                            "understood here"
                        )
            except PhoneError as error:
                await socket.write(f"{error.message}\n".encode())
            else:
                await socket.write(b"done\n")

        self.userland.sockets.listen(STATE_SOCKET, state, replace=True)
        self.userland.sockets.listen(CONTROL_SOCKET, control, replace=True)

    async def _restore(self, socket: Socket, begun: bytes, count: int) -> None:
        """Go back to a snapshot that comes in `count` bytes. Raises PhoneError."""
        if count > MOST_SNAPSHOT_BYTES:
            raise PhoneError(f"a snapshot has at most {MOST_SNAPSHOT_BYTES} bytes here")
        try:
            data = begun + await socket.read_exactly(max(count - len(begun), 0))
        except EOFError as error:
            raise PhoneError(f"the snapshot was cut short: {error}") from error
        checkpoint.go_back(self.phone, checkpoint.unpacked(BytesIO(data[:count]), "What was sent"))

    async def listen(self, port: int) -> None:
        """Listen on a port (0: any free one).

        Raises:
            PhoneError: the port is taken or may not be used.
        """
        for _ in range(PORT_TRIES):
            try:
                server = await asyncio.start_server(
                    self._connected, LOOPBACK, port, limit=READ_BUFFER_BYTES
                )
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
                reason = "is in use" if error.errno == errno.EADDRINUSE else "may not be used"
                raise PhoneError(
                    f"port {port} {reason}; the phone {self.phone.name} cannot listen there",
                    "Choose another port, or 0 for any free one.",
                ) from error
            found = int(server.sockets[0].getsockname()[1])
            if found not in EMULATOR_PORTS:
                self._server, self.port = server, found
                return
            server.close()
        raise PhoneError("no free port was found", "Give a port.")

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._booting or any(kind in self.userland.faults for kind in UNREACHABLE):
            writer.transport.abort()
            return
        await self.daemon.serve(reader, writer)

    async def close(self) -> None:
        """End the phone: connections, processes, its saved state written."""
        self._closing = True
        if self._rebooting is not None:
            self._rebooting.cancel()
            await asyncio.gather(self._rebooting, return_exceptions=True)
        if self._touching is not None:
            self._touching.cancel()
            await asyncio.gather(self._touching, return_exceptions=True)
        self.userland.faults.clear()
        if self._server is not None:
            self._server.close()
        await self._disconnect()
        self.userland.processes.stop_all()
        await self.userland.sockets.shut_down()
        self.phone.close()

    def reset(self) -> None:
        """Put the phone back to how it left the factory, its files too.

        Raises:
            PhoneError: the files cannot be removed.
        """
        self.phone.reset()
        try:
            self.userland.files.wipe()
        except OSError as error:
            raise PhoneError(
                f"the files of {self.phone.name} cannot be removed: {error.strerror}",
                "Check who owns the phone's directory.",
            ) from error

    def touch(
        self, start: tuple[float, float], end: tuple[float, float], duration_ms: int
    ) -> asyncio.Task[None]:
        """Begin a person's touch, in display pixels; the task ends when the finger is lifted.

        Raises:
            PhoneError: a finger is on the glass already, or the touch would last too long.
        """
        if self._touching is not None and not self._touching.done():
            raise PhoneError(
                f"A finger is on {self.phone.name} already.", "Wait until it is lifted."
            )
        if not 0 < duration_ms <= LONGEST_TOUCH_MS:
            raise PhoneError(
                f"A touch of {duration_ms} ms cannot be made.", f"Give 1 to {LONGEST_TOUCH_MS} ms."
            )
        swipe = self.userland.touch_panel.swipe(start, end, duration_ms=duration_ms)
        self._touching = asyncio.ensure_future(swipe)
        return self._touching

    def turn(self, degrees: int) -> None:
        """Turn the phone as a hand does, by 0, 90, 180 or 270 degrees counter-clockwise.

        Raises:
            PhoneError: those are no quarter turns.
        """
        if degrees % 90:
            raise PhoneError(
                f"{self.phone.name} cannot be turned by {degrees} degrees.",
                "Turn it by 0, 90, 180 or 270 degrees.",
            )
        self.phone.rotation.turn(degrees // 90)

    def _begin_reboot(self, how: str) -> None:
        if not self._closing and (self._rebooting is None or self._rebooting.done()):
            _log.info("%s reboots (%s)", self.phone.name, how or "normally")
            self._rebooting = asyncio.create_task(self._reboot())

    async def rebooted(self) -> None:
        """Wait until a reboot that has begun is over."""
        if self._rebooting is not None:
            await asyncio.shield(self._rebooting)

    async def _disconnect(self) -> None:
        self.daemon.disconnect()
        await self.daemon.wait_disconnected()

    async def _reboot(self) -> None:
        # It keeps its port, which another process could take meanwhile, and answers nobody there.
        self._booting = True
        await self._disconnect()
        self.userland.reboot()
        for package in {task.package for task in self.phone.tasks.front_to_back()}:
            self.phone.activities.force_stop(package)
        self.phone.prompts.forget()
        lock.boot(self.phone)
        await asyncio.sleep(BOOT_S)
        self._listen_inside()
        self._booting = False

    def _on_fault(self, kind: FaultKind, begun: bool) -> None:
        self.userland.note("W", "virtual-phone", f"fault {kind} {'begins' if begun else 'ends'}")
        match kind:
            case FaultKind.UNAUTHORIZED:
                self.gate.shut = begun
                self.daemon.disconnect()
            case FaultKind.DISCONNECT if begun:
                self.daemon.disconnect()
            case FaultKind.FROZEN_SCREEN:
                self.userland.frozen_scenes.clear()
                if begun:
                    for display in self.phone.displays.all():
                        shown_scene(self.userland, display.id)
                else:
                    self.phone.invalidate()
            case FaultKind.LOW_STORAGE:
                self.userland.files.full = begun
            case FaultKind.APP_CRASH:
                self.phone.prompts.crash(self.phone.windows.focused_app.partition("/")[0])
            case FaultKind.CLOCK_JUMP:
                fault = self.userland.faults.get(kind)
                self._clock_offset_s = fault.value if fault is not None else 0.0
                self.phone.invalidate()
            case FaultKind.BATTERY_DEATH:
                self.phone.state_record.battery_level = 0 if begun else CHARGED_LEVEL
                if begun:
                    self.daemon.disconnect()
                else:
                    self._begin_reboot("charged")
            case _:
                return
