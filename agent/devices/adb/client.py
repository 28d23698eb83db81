"""A small asyncio client of the adb *server* protocol.

It speaks to a running adb server; it never starts one (`agent.devices.adb.server`) and never speaks
to a phone directly. Invariants: every call ends within its time-out, holds one socket and closes
it; what an adb server refuses becomes an error of `agent.errors`, never an empty answer.

The protocol is that of AOSP `packages/modules/adb/SERVICES.TXT` and `OVERVIEW.TXT`: a request is
four hexadecimal digits of length and the service's name; the answer starts with OKAY or FAIL.
"""

import asyncio
import os
import re
import secrets
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.devices.adb.address import ServerAddress as ServerAddress
from agent.devices.adb.device_list import DeviceRow, parse_rows
from agent.devices.adb.stream import BUFFER_BYTES, OUTPUT_LIMIT_BYTES, AdbStream
from agent.devices.adb.stream import ServiceClosedError as ServiceClosedError
from agent.devices.adb.stream import StreamEndedError as StreamEndedError
from agent.devices.adb.stream import refusal as refusal
from agent.errors import AdbError, DeviceError, DeviceLostError, DeviceTimeoutError
from agent.unix_sockets import connected

CONNECT_TIMEOUT_S = 3.0
_SHELL_STDOUT, _SHELL_STDERR, _SHELL_EXIT = 1, 2, 3


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What a command on a phone wrote and how it ended.

    Without shell_v2 the phone mixes both outputs: then everything is in `stdout`.
    """

    stdout: bytes
    stderr: bytes
    exit_code: int

    @property
    def text(self) -> str:
        """Both outputs as text; bytes that are not UTF-8 become replacement characters."""
        return (self.stdout + self.stderr).decode("utf-8", "replace")


class AdbClient:
    """Ask one adb server about its devices, and devices through it."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._listed_as: dict[str, str] = {}
        self._transports: dict[str, int] = {}

    def alias(self, name: str, serial: str, transport_id: int = 0) -> None:
        """Reach by `name` the phone that this server lists as `serial`.

        Two servers may list the same serial, and a phone on wireless debugging changes its own.

        Args:
            transport_id: the number of its connection, where its serial does not tell it from
                another phone of this server; 0 where it does.
        """
        self._listed_as.pop(name, None)
        self._transports.pop(name, None)
        if transport_id:
            self._transports[name] = transport_id
        elif name != serial:
            self._listed_as[name] = serial

    def listed_as(self, name: str) -> str:
        """Return the serial under which this server lists a phone."""
        return self._listed_as.get(name, name)

    def _to_phone(self, name: str) -> str:
        """Return the service that connects to a phone (AOSP's adb, SERVICES.TXT)."""
        number = self._transports.get(name, 0)
        return f"host:transport-id:{number}" if number else f"host:transport:{self.listed_as(name)}"

    def _of_phone(self, name: str, what: str) -> str:
        """Return the service of the server that tells something of a phone."""
        number = self._transports.get(name, 0)
        if number:
            return f"host-transport-id:{number}:{what}"
        return f"host-serial:{self.listed_as(name)}:{what}"

    # --- the server ----------

    async def version(self, *, timeout_s: float = CONNECT_TIMEOUT_S) -> int:
        """Return the server's protocol version (41 for every adb since 2018)."""
        answer = await self.host("host:version", timeout_s)
        try:
            return int(answer, 16)
        except ValueError:
            raise AdbError(
                f"The adb server at {self.address} gave {answer!r} as its version.",
                "Check that the port belongs to an adb server.",
            ) from None

    async def devices(self, *, timeout_s: float = CONNECT_TIMEOUT_S) -> tuple[DeviceRow, ...]:
        """List the devices the server knows now."""
        return parse_rows(await self.host("host:devices-l", timeout_s))

    async def track_devices(self) -> AsyncIterator[tuple[DeviceRow, ...]]:
        """Follow the list of devices; the server pushes it whenever it changes.

        Runs until the consumer stops; raises AdbError when the server goes away.
        """
        long_format = True
        while True:
            async with self._dial(CONNECT_TIMEOUT_S) as stream:
                try:
                    async with asyncio.timeout(CONNECT_TIMEOUT_S):
                        await stream.request(f"host:track-devices{'-l' * long_format}")
                except TimeoutError:
                    raise self._silent("host:track-devices", CONNECT_TIMEOUT_S) from None
                except StreamEndedError as error:
                    raise self._unreachable() from error
                except AdbError:
                    # Servers before 2018 know the short format only.
                    if not long_format:
                        raise
                    long_format = False
                    continue
                while True:
                    try:
                        block = await stream.block()
                    except StreamEndedError as error:
                        raise self._unreachable() from error
                    yield parse_rows(block.decode("utf-8", "replace"))

    async def connect(self, target: str, *, timeout_s: float = 10.0) -> None:
        """Have the server connect to a phone at `host:port`.

        Raises DeviceError with adb's own reason when it cannot.
        """
        try:
            async with asyncio.timeout(timeout_s):
                said = (await self.host(f"host:connect:{target}", timeout_s + 1)).strip()
        except TimeoutError:
            # As a rule the server is well, and waits for an address that nothing answers at.
            raise AdbError(
                f"The adb server at {self.address} has not reached {target} in {timeout_s:g} s.",
                "Check the address, that the phone is on this network, and that no firewall is "
                f"between; if other phones do not answer either, run {self._adb('kill-server')}.",
            ) from None
        # A phone that waits for its owner to accept the key is connected and unauthorized.
        if not said.startswith(("connected to", "already connected", "failed to authenticate")):
            raise DeviceError(
                f"The adb server at {self.address} cannot connect to {target}: {said}.",
                "Check that the phone listens there and that no firewall blocks it.",
            )

    async def disconnect(self, target: str, *, timeout_s: float = 5.0) -> None:
        """Have the server forget a phone it connected to; one it does not know is fine."""
        try:
            await self.host(f"host:disconnect:{target}", timeout_s)
        except DeviceLostError:
            return

    async def features(self, serial: str, *, timeout_s: float = 5.0) -> frozenset[str]:
        """Return which features a phone and this server share; old phones have none."""
        try:
            answer = await self.host(self._of_phone(serial, "features"), timeout_s, serial=serial)
        except AdbError as error:
            raise DeviceLostError(
                f"{serial} cannot be reached: {error.message}", error.remedy
            ) from error
        return frozenset(filter(None, answer.split(",")))

    # --- a phone ----------

    @asynccontextmanager
    async def open(
        self, serial: str, service: str, *, timeout_s: float
    ) -> AsyncIterator[AdbStream]:
        """Open a service of a phone for the length of the block, which must end in `timeout_s`.

        Raises DeviceTimeoutError when it does not, DeviceLostError when the phone is away.
        """
        async with self._on_phone(serial, service, timeout_s), self._dial(timeout_s, serial) as it:
            await it.request(self._to_phone(serial))
            await it.request(service)
            yield it

    async def hold(self, serial: str, service: str, *, timeout_s: float) -> AdbStream:
        """Open a service of a phone that outlives the call; its user closes the stream.

        Raises as `open` does; `timeout_s` bounds the opening alone.
        """
        async with self._on_phone(serial, service, timeout_s):
            stream = await self._connect(timeout_s, serial)
            try:
                await stream.request(self._to_phone(serial))
                await stream.request(service)
            except BaseException as error:
                stream.close()
                if isinstance(error, ConnectionError):
                    raise self._unreachable() from error
                raise
            return stream

    @asynccontextmanager
    async def _on_phone(self, serial: str, service: str, timeout_s: float) -> AsyncIterator[None]:
        name = re.split(r"[:,]", service, maxsplit=1)[0]
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except AdbError as error:
            # To whoever drives a phone, a server that died is a phone that is away.
            raise DeviceLostError(
                f"{serial} cannot be reached: {error.message}", error.remedy
            ) from error
        except TimeoutError:
            raise DeviceTimeoutError(
                f"{serial} did not finish a {name} call within {timeout_s:g} s.",
                "Look at the screen before acting again: whether it took effect is unknown.",
            ) from None

    async def shell(
        self,
        serial: str,
        command: str,
        *,
        features: frozenset[str],
        timeout_s: float,
        limit: int = OUTPUT_LIMIT_BYTES,
    ) -> ShellResult:
        """Run a command in the phone's shell and collect what it writes.

        `features` is what `features()` said; without shell_v2 the exit code comes from a marker
        line that is appended, and line ends that a terminal made CR LF are repaired.
        """
        if "shell_v2" in features:
            service = f"shell,v2,raw:{command}"
            async with self.open(serial, service, timeout_s=timeout_s) as stream:
                return await _read_shell_v2(stream, serial, limit)
        marker = f"rc-{secrets.token_hex(6)}="
        service = f"shell:({command}\n); echo {marker}$?"
        async with self.open(serial, service, timeout_s=timeout_s) as stream:
            return split_marked(await stream.rest(limit), marker, serial)

    async def exec(
        self, serial: str, command: str, *, timeout_s: float, limit: int = OUTPUT_LIMIT_BYTES
    ) -> bytes:
        """Run a command and give its raw output, without exit code.

        Raises ServiceClosedError on phones before Android 5, which have no exec service.
        """
        async with self.open(serial, f"exec:{command}", timeout_s=timeout_s) as stream:
            return await stream.rest(limit)

    # --- sockets ----------

    async def host(self, service: str, timeout_s: float, serial: str = "") -> str:
        """Ask the server itself for a service that answers with one block of text."""
        try:
            async with asyncio.timeout(timeout_s), self._dial(timeout_s, serial) as stream:
                await stream.request(service)
                return (await stream.block()).decode("utf-8", "replace")
        except TimeoutError:
            raise self._silent(service, timeout_s) from None
        except StreamEndedError as error:
            raise self._unreachable() from error

    @asynccontextmanager
    async def _dial(self, timeout_s: float, serial: str = "") -> AsyncIterator[AdbStream]:
        stream = await self._connect(timeout_s, serial)
        try:
            yield stream
        except ConnectionError as error:
            raise self._unreachable() from error
        finally:
            # Nothing is left to send, and a phone that never closes must not hold the caller.
            stream.close()

    async def _connect(self, timeout_s: float, serial: str) -> AdbStream:
        # A host that is not there says nothing; on a unix socket only a crowd is waited for.
        bound_s = timeout_s if self.address.path else min(timeout_s, CONNECT_TIMEOUT_S)
        try:
            async with asyncio.timeout(bound_s):
                reader, writer = await self._open()
        except TimeoutError:
            raise self._silent("a connection", bound_s) from None
        except OSError as error:
            raise AdbError(
                f"No adb server answers at {self.address}: "
                f"{os.strerror(error.errno) if error.errno else error}.",
                f"Start one with {self._adb('start-server')}, or give its address in adb.server.",
            ) from error
        return AdbStream(reader, writer, serial or f"the adb server at {self.address}")

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if not self.address.path:
            return await asyncio.open_connection(
                self.address.host, self.address.port, limit=BUFFER_BYTES
            )
        return await asyncio.open_unix_connection(
            sock=await connected(Path(self.address.path)), limit=BUFFER_BYTES
        )

    def _silent(self, service: str, timeout_s: float) -> AdbError:
        return AdbError(
            f"The adb server at {self.address} did not answer {service} within {timeout_s:g} s.",
            f"Restart it with {self._adb('kill-server')} and {self._adb('start-server')}.",
        )

    def _unreachable(self) -> AdbError:
        return AdbError(
            f"The adb server at {self.address} stopped answering.",
            f"It is retried until it answers; start one with {self._adb('start-server')}.",
        )

    def _adb(self, verb: str) -> str:
        return f"`adb{self.address.adb_options} {verb}`"


async def _read_shell_v2(stream: AdbStream, serial: str, limit: int) -> ShellResult:
    """Collect packets of one identifier byte, a little-endian length and data, up to the exit."""
    outputs = {_SHELL_STDOUT: bytearray(), _SHELL_STDERR: bytearray()}
    left = limit
    while True:
        kind, length = struct.unpack("<BI", await stream.exactly(5))
        if length > left:
            raise stream.too_much(limit)
        data = await stream.exactly(length)
        if kind == _SHELL_EXIT:
            return ShellResult(
                bytes(outputs[_SHELL_STDOUT]),
                bytes(outputs[_SHELL_STDERR]),
                data[0] if data else 255,
            )
        if kind in outputs:
            outputs[kind] += data
            left -= length


def split_marked(output: bytes, marker: str, serial: str) -> ShellResult:
    """Take the exit code off the output of a shell without shell_v2, and repair its line ends.

    Raises DeviceLostError when the marker is missing: the shell ended before the command did.
    """
    found = re.search(re.escape(marker.encode()) + rb"(\d+)(\r*)\n?$", output)
    if found is None:
        raise DeviceLostError(
            f"The shell of {serial} ended before the command did.", "Reconnect the phone."
        )
    body = output[: found.start()]
    # The marker's own line end shows how this phone writes LF, so binary data is repaired exactly.
    if found[2]:
        body = body.replace(found[2] + b"\n", b"\n")
    return ShellResult(body, b"", int(found[1]))
