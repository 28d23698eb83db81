"""Host virtual phones: one process, one event loop, one TCP port each on the loopback interface.

Not the phone and not adbd. Invariant: nothing listens beyond loopback, nothing is written outside
the home directory it was given, and closing the host ends everything it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from agent.errors import PhoneError
from agent.phone import checkpoint, uiautomator
from agent.phone.adbd.connection import READ_BUFFER_BYTES
from agent.phone.adbd.daemon import AdbDaemon
from agent.phone.adbd.gate import FaultyGate, KeyGate, OpenGate
from agent.phone.channel import Channel
from agent.phone.checkpoint import Checkpoint
from agent.phone.claim import Claim, claim
from agent.phone.faults import FaultKind
from agent.phone.frozen import shown_scene
from agent.phone.phone import Phone
from agent.phone.pipes import Socket
from agent.phone.scrcpy import server as scrcpy
from agent.phone.userland.userland import Userland

LOOPBACK = "127.0.0.1"
EMULATOR_PORTS = range(5554, 5586)
"""An adb server adopts these by itself and lists the device twice."""

UNREACHABLE = (FaultKind.DISCONNECT, FaultKind.BATTERY_DEATH)
CHARGED_LEVEL = 15
STATE_SOCKET = "localabstract:switchboard-state"
CONTROL_SOCKET = "localabstract:switchboard-control"
"""Takes one line, `reset`, and answers `done` or the reason: a pool's way, over adb alone."""
BOOT_S = 1.0
PORT_TRIES = 50
LAST_PORT = 65535
LONGEST_TOUCH_MS = 60_000

_log = logging.getLogger(__name__)


class ServedPhone:
    """One phone and its port.

    Args:
        home: the phone's own directory.
        name: how it is called; also the seed of its identity.
        gate: asks before it trusts a computer; every computer may connect without one.
        profile: what kind of phone it is (`agent.phone.profiles`); what it was by default.
    """

    def __init__(
        self, home: Path, name: str, *, gate: KeyGate | None = None, profile: str | None = None
    ) -> None:
        self._clock_offset_s = 0.0
        self.phone = Phone(home, name=name, clock=self._now, profile=profile)
        self.userland = Userland(self.phone, home, name)
        self.gate = FaultyGate(gate or OpenGate())
        self.daemon = AdbDaemon(self.userland, gate=self.gate, reboot=self._begin_reboot)
        self.port = 0
        self._server: asyncio.Server | None = None
        self._rebooting: asyncio.Task[None] | None = None
        self._touching: asyncio.Task[None] | None = None
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
        return time.time() + self._clock_offset_s

    def _listen_inside(self) -> None:
        async def state(socket: Socket) -> None:
            text = json.dumps(self.phone.state(), ensure_ascii=False, sort_keys=True)
            await socket.write(text.encode() + b"\n")

        async def control(socket: Socket) -> None:
            wanted = (await socket.read()).strip()
            try:
                if wanted != b"reset":
                    raise PhoneError("only `reset` is understood here")
                self.reset()
            except PhoneError as error:
                await socket.write(f"{error.message}\n".encode())
            else:
                await socket.write(b"done\n")

        self.userland.sockets.listen(STATE_SOCKET, state, replace=True)
        self.userland.sockets.listen(CONTROL_SOCKET, control, replace=True)

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
        if any(kind in self.userland.faults for kind in UNREACHABLE):
            writer.transport.abort()
            return
        await self.daemon.serve(reader, writer)

    async def unlisten(self) -> None:
        """Stop listening and cut every connection."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        self.daemon.disconnect()
        await self.daemon.wait_disconnected()

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
        await self.unlisten()
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
                f"A touch of {duration_ms} ms cannot be made.",
                f"Give 1 to {LONGEST_TOUCH_MS} ms.",
            )
        swipe = self.userland.touch_panel.swipe(start, end, duration_ms=duration_ms)
        self._touching = asyncio.ensure_future(swipe)
        return self._touching

    def _begin_reboot(self, how: str) -> None:
        if not self._closing and (self._rebooting is None or self._rebooting.done()):
            _log.info("%s reboots (%s)", self.phone.name, how or "normally")
            self._rebooting = asyncio.create_task(self._reboot())

    async def rebooted(self) -> None:
        """Wait until a reboot that has begun is over."""
        if self._rebooting is not None:
            await asyncio.shield(self._rebooting)

    async def _reboot(self) -> None:
        port = self.port
        await self.unlisten()
        self.userland.reboot()
        for package in {task.package for task in self.phone.tasks()}:
            self.phone.force_stop(package)
        await asyncio.sleep(BOOT_S)
        self._listen_inside()
        await self.listen(port)

    def _on_fault(self, kind: FaultKind, begun: bool) -> None:
        self.userland.note("W", "switchboard", f"fault {kind} {'begins' if begun else 'ends'}")
        match kind:
            case FaultKind.UNAUTHORIZED:
                self.gate.shut = begun
                self.daemon.disconnect()
            case FaultKind.DISCONNECT if begun:
                self.daemon.disconnect()
            case FaultKind.FROZEN_SCREEN:
                self.userland.frozen_scenes.clear()
                if begun:
                    for display in self.phone.displays():
                        shown_scene(self.userland, display.id)
                else:
                    self.phone.invalidate()
            case FaultKind.LOW_STORAGE:
                self.userland.files.full = begun
            case FaultKind.APP_CRASH:
                self.phone.crash(self.phone.focused_app.partition("/")[0])
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


class PhoneHost:
    """Serve phones while it is entered.

    Args:
        home: directory below which each phone has its own; made when missing.
        count: how many phones.
        port: TCP port of the first; the others follow it. 0: any free ports.
        secure: whether the phones ask before they trust a computer (see `KeyGate`).
        profile: what kind of phones (`agent.phone.profiles`); what they were by default.
    """

    def __init__(
        self,
        home: Path,
        *,
        count: int = 1,
        port: int = 0,
        secure: bool = False,
        profile: str | None = None,
    ) -> None:
        if count < 1:
            raise PhoneError(f"{count} phones cannot be served", "Ask for at least one.")
        if port and not 0 < port <= LAST_PORT - count + 1:
            raise PhoneError(f"port {port} is out of range", "Use a port from 1024 to 65535.")
        if port and any(one in EMULATOR_PORTS for one in range(port, port + count)):
            raise PhoneError(
                f"ports {port} to {port + count - 1} meet 5554 to 5585, which adb servers adopt "
                "as emulators",
                "Choose a port outside of that range.",
            )
        self._home = home
        self._count = count
        self._port = port
        self._secure = secure
        self._profile = profile
        self._phones: dict[str, ServedPhone] = {}
        self._channel = Channel(self, home)
        self._claims: list[Claim] = []

    async def start(self) -> list[tuple[str, Phone]]:
        """Start every phone; return (serial, phone) pairs.

        Raises:
            PhoneError: a port cannot be used, the home directory cannot be written, or another
                process serves the phones in it.
        """
        try:
            for index in range(self._count):
                served = await self._make(index)
                await served.listen(self._port + index if self._port else 0)
                self._phones[served.serial] = served
            await self._channel.open()
        except BaseException:
            await self.close()
            raise
        return [(serial, served.phone) for serial, served in self._phones.items()]

    async def _make(self, index: int) -> ServedPhone:
        name = f"virtual-{index + 1}"
        home = self._home / name
        self._claims.append(await claim(home))
        gate = KeyGate(home) if self._secure else None
        return ServedPhone(home, name, gate=gate, profile=self._profile)

    async def close(self) -> None:
        """End every phone."""
        phones = list(self._phones.values())
        self._phones.clear()
        for served in phones:
            await served.close()
        await self._channel.close()
        while self._claims:
            self._claims.pop().release()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def serials(self) -> list[str]:
        """The serials, in order."""
        return list(self._phones)

    @property
    def phones(self) -> list[Phone]:
        """The phones, in order."""
        return [served.phone for served in self._phones.values()]

    def served(self, serial: str) -> ServedPhone:
        """Return a phone with its port and faults; raise PhoneError for an unknown serial."""
        try:
            return self._phones[serial]
        except KeyError:
            known = ", ".join(self._phones) or "none"
            raise PhoneError(f"no phone {serial} is served", f"Served now: {known}.") from None

    def reset(self, serial: str) -> None:
        """Put a phone back to how it left the factory, its files too; raise PhoneError."""
        self.served(serial).reset()

    async def swipe(
        self,
        serial: str,
        x1: float,
        y1: float,
        x2: float | None = None,
        y2: float | None = None,
        *,
        duration_ms: int = 80,
    ) -> None:
        """Touch a phone as a person does: `getevent` shows it. Without an end it is a tap.

        Raises:
            PhoneError: no such serial.
        """
        end = (x1 if x2 is None else x2, y1 if y2 is None else y2)
        await self.served(serial).touch((x1, y1), end, duration_ms)

    def snapshot(self, serial: str) -> Checkpoint:
        """Return all that a phone holds, apps and files, to go back to; raise PhoneError."""
        return checkpoint.take(self.served(serial).phone)

    def restore(self, serial: str, to: Checkpoint) -> None:
        """Put a phone back to what it held; raise PhoneError."""
        checkpoint.go_back(self.served(serial).phone, to)

    def fault(
        self,
        serial: str,
        kind: FaultKind,
        *,
        value: float = 0.0,
        duration_s: float | None = None,
    ) -> None:
        """Begin a fault on a phone; raise PhoneError for an unknown serial."""
        self.served(serial).userland.faults.begin(kind, value=value, duration_s=duration_s)


async def serve_forever(
    home: Path,
    count: int,
    port: int,
    announce: Callable[[str, Phone], None],
    *,
    profile: str | None = None,
) -> None:
    """Serve phones until cancelled; `announce` is called once for each that is ready."""
    host = PhoneHost(home, count=count, port=port, profile=profile)
    try:
        for serial, phone in await host.start():
            announce(serial, phone)
        await asyncio.Event().wait()
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await host.close()
