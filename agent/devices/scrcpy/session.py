"""One run of the scrcpy server on a phone: started, connected to, and ended with its sockets.

Not what is said on the sockets (`packets`, `messages`, `replies`) and not when a run is wanted.
Invariants: a run that did not come up leaves nothing behind and says why in the server's own words;
closing it ends the server, because its shell ends; `ended` is set as soon as the server is gone.
"""

import asyncio
import re
import secrets
import struct
from collections import deque
from contextlib import suppress
from dataclasses import replace

from agent.devices.adb.stream import AdbStream, ServiceClosedError
from agent.devices.resources.resource_ledger import Resource, ResourceKind
from agent.devices.scrcpy.arguments import SessionOptions, server_command, socket_name
from agent.devices.scrcpy.dialect import Dialect
from agent.devices.scrcpy.packets import read_name
from agent.devices.scrcpy.server_file import PhoneServer
from agent.devices.scrcpy.tunnel import ForwardTunnel, ReverseTunnel, Tunnel
from agent.devices.shell.injection import refusal_in
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, DeviceTimeoutError
from agent.text import one_line

OPEN_TIMEOUT_S = 12.0
_LOG_LINES = 20
_LOG_PACKET_LIMIT_BYTES = 1 << 20
_SHELL_EXIT = 3
_UNKNOWN_DEVICE = re.compile(r"unknown UHID device: (\d{1,5})\s*$")
"""`UhidManager.close` of 2.7 to 4.1, about a device that it does not know."""
_NEW_DISPLAY = re.compile(r"New display: .*\(id=(\d{1,6})\)")


class ScrcpySession:
    """A running server with its sockets. Made by `open_session`."""

    def __init__(self, serial: str, ways: Dialect, options: SessionOptions) -> None:
        self.serial = serial
        self.ways = ways
        self.options = options
        self.video: AdbStream | None = None
        self.control: AdbStream | None = None
        self.ended = asyncio.Event()
        """Set when the server or the way to it is gone."""
        self.new_display: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Android's number of the display that the run created, once the server says it."""
        self.refusal = ""
        """The server's words that the phone takes no injected input; empty unless it said so."""
        self.refused = asyncio.Event()
        self._echoes: dict[int, asyncio.Future[None]] = {}
        self._lines: deque[str] = deque(maxlen=_LOG_LINES)
        self._shell: AdbStream | None = None
        self._log: asyncio.Task[None] | None = None
        self._tunnel: Tunnel | None = None
        self._held: tuple[PhoneShell, Resource] | None = None

    @property
    def has_words(self) -> bool:
        """Whether the server said anything."""
        return bool(self._lines)

    def last_output(self) -> str:
        """Return the server's last complaint, or its last line; one line, cleaned."""
        complaints = [line for line in self._lines if "ERROR" in line or "WARN" in line]
        lines = complaints or list(self._lines)
        return one_line(lines[-1], 200) if lines else "it printed nothing"

    def echo(self, device: int) -> "asyncio.Future[None]":
        """Return what is done once the server has logged that it knows no such input device.

        It is cancelled when the server ends.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.ended.is_set():
            future.cancel()
        else:
            self._echoes[device] = future
        return future

    async def close(self) -> None:
        """End the server and drop the sockets; closing twice is fine."""
        self.ended.set()
        for stream in (self.control, self.video, self._shell):
            if stream is not None:
                stream.close()
        log, self._log = self._log, None
        if log is not None:
            log.cancel()
            await asyncio.wait({log})
        held, self._held = self._held, None
        try:
            if self._tunnel is not None:
                await self._tunnel.close()
        finally:
            if held is not None:
                shell, resource = held
                shell.resources.settle(resource)
            self.new_display.cancel()

    # --- opening ----------

    async def start(self, shell: PhoneShell, server: PhoneServer, tunnel: Tunnel) -> None:
        """Start the server and connect its sockets; the caller closes on failure."""
        features = (await shell.profile()).features
        is_display = self.options.new_display is not None
        what = ResourceKind.DISPLAY if is_display else ResourceKind.SCRCPY_SERVER
        held = shell.resources.take(what, f"{self.options.scid:08x}", serial=self.serial)
        self._held = (shell, held)
        self._tunnel = tunnel
        name = socket_name(self.ways, self.options.scid)
        await tunnel.prepare(name)
        command = server_command(self.ways, server.path, self.options)
        framed = "shell_v2" in features
        service = f"shell,v2,raw:{command}" if framed else f"shell:{command}"
        self._shell = await shell.client.hold(self.serial, service, timeout_s=OPEN_TIMEOUT_S)
        self._log = asyncio.create_task(
            self._read_log(self._shell, framed), name=f"scrcpy log of {self.serial}"
        )
        wanted = [("video", self.options.video), ("control", self.options.control)]
        is_first = True
        for kind, is_wanted in wanted:
            if not is_wanted:
                continue
            stream = await tunnel.connect(self.ended)
            setattr(self, kind, stream)
            if is_first and self.options.forward and await stream.exactly(1) != b"\0":
                raise DeviceError(
                    f"What answered on {name} of {self.serial} is not a scrcpy server.",
                    "Restart the phone if this continues.",
                )
            is_first = False
        await read_name(self.ways, (self.video or self.control or self._shell).exactly)

    async def _read_log(self, stream: AdbStream, framed: bool) -> None:
        try:
            # A server that is gone ends its stream; that is what is waited for here.
            with suppress(DeviceError, ConnectionError):
                rest = b""
                while chunk := await (_packet(stream) if framed else stream.reader.read(4096)):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        self._note(line.decode("utf-8", "replace"))
                    rest = rest[-4096:]
        finally:
            self.ended.set()
            for future in self._echoes.values():
                future.cancel()

    def _note(self, line: str) -> None:
        echoed = _UNKNOWN_DEVICE.search(line)
        if echoed is not None and int(echoed[1]) in self._echoes:
            future = self._echoes.pop(int(echoed[1]))
            if not future.done():
                future.set_result(None)
            return
        if not self.refusal and (refusal := refusal_in(line)):
            self.refusal = refusal
            self.refused.set()
        if line.strip():
            self._lines.append(line.strip()[:400])
        found = _NEW_DISPLAY.search(line)
        if found is not None and not self.new_display.done():
            self.new_display.set_result(int(found[1]))


async def open_session(
    shell: PhoneShell, server: PhoneServer, options: SessionOptions
) -> ScrcpySession:
    """Start a run of the server and connect to it; its random id is chosen here.

    The sockets are opened by us; where the phone lets nobody in, the server connects to us.

    Raises:
        DeviceLostError: the phone went away.
        DeviceTimeoutError: it did not come up in `OPEN_TIMEOUT_S`.
        DeviceError: the server refused, in its own words.
    """
    try:
        return await _open(shell, server, replace(options, forward=True))
    except ServiceClosedError:
        return await _open(shell, server, replace(options, forward=False))


async def _open(shell: PhoneShell, server: PhoneServer, options: SessionOptions) -> ScrcpySession:
    options = replace(options, scid=secrets.randbits(31))
    session = ScrcpySession(shell.serial, server.ways, options)
    kind = ForwardTunnel if options.forward else ReverseTunnel
    try:
        async with asyncio.timeout(OPEN_TIMEOUT_S):
            await session.start(shell, server, kind(shell))
    except BaseException as error:
        await session.close()
        if isinstance(error, TimeoutError):
            raise DeviceTimeoutError(
                f"The scrcpy server of {shell.serial} did not come up within "
                f"{OPEN_TIMEOUT_S:g} s: {session.last_output()}.",
                "Pictures and touches use the slower path; it is retried.",
            ) from None
        if isinstance(error, ServiceClosedError):
            raise
        if isinstance(error, DeviceError) and session.has_words:
            raise type(error)(
                f"The scrcpy server of {shell.serial} did not come up: {session.last_output()}.",
                error.remedy,
            ) from error
        raise
    return session


async def _packet(stream: AdbStream) -> bytes:
    """Read one output packet of the shell protocol; empty when the command ended."""
    while True:
        kind, length = struct.unpack("<BI", await stream.exactly(5))
        if length > _LOG_PACKET_LIMIT_BYTES:
            raise stream.too_much(_LOG_PACKET_LIMIT_BYTES)
        data = await stream.exactly(length)
        if kind == _SHELL_EXIT or data:
            return b"" if kind == _SHELL_EXIT else data
