"""The two ways to a scrcpy server's sockets: we connect to it, or it connects to us.

The first needs nothing but adb's `localabstract:` service. The second (`reverse:`) serves phones
that let nobody connect to a socket of the shell's; it works where the adb server runs on this
machine. Invariant: a tunnel that is closed leaves no listener here and no reversal on the phone.
"""

import asyncio
from contextlib import suppress
from typing import Protocol

from agent.devices.adb.stream import BUFFER_BYTES, AdbStream, ServiceClosedError
from agent.devices.resources.resource_ledger import Resource, ResourceKind
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.reclaim import take_reversal_back
from agent.errors import DeviceError

CONNECT_TIMEOUT_S = 6.0
"""How long a server may take from its start to its listening; about 1 s on phones."""
_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.2
_CALL_TIMEOUT_S = 3.0


class Tunnel(Protocol):
    """One way to the sockets of one run."""

    async def prepare(self, name: str) -> None:
        """Make ready before the server starts; `name` is its abstract socket."""

    async def connect(self, ended: asyncio.Event) -> AdbStream:
        """Return the next socket; gives up when the server has `ended`.

        Raises ServiceClosedError when this way does not lead to a server that runs.
        """

    async def close(self) -> None: ...


class ForwardTunnel:
    """Connect to the server's socket through adb."""

    def __init__(self, shell: PhoneShell) -> None:
        self._client = shell.client
        self._serial = shell.serial
        self._name = ""

    async def prepare(self, name: str) -> None:
        """Remember the name; nothing is needed."""
        self._name = name

    async def connect(self, ended: asyncio.Event) -> AdbStream:
        """Connect, again and again while the server is still starting."""
        loop = asyncio.get_running_loop()
        until = loop.time() + CONNECT_TIMEOUT_S
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return await self._client.hold(
                    self._serial, f"localabstract:{self._name}", timeout_s=_CALL_TIMEOUT_S
                )
            except ServiceClosedError:
                if ended.is_set():
                    raise _ended(self._serial) from None
                if loop.time() > until:
                    raise
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await ended.wait()
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)

    async def close(self) -> None:
        """Do nothing: the sockets are closed by whoever has them."""


class ReverseTunnel:
    """Listen here, and have adb bring the server's connections."""

    def __init__(self, shell: PhoneShell) -> None:
        self._shell = shell
        self._client = shell.client
        self._serial = shell.serial
        self._reversal: Resource | None = None
        self._remote = ""
        self._listener: asyncio.Server | None = None
        self._arrived: asyncio.Queue[AdbStream] = asyncio.Queue(maxsize=4)

    async def prepare(self, name: str) -> None:
        """Listen on a free local port and point the phone's socket at it."""
        self._remote = f"localabstract:{name}"
        self._listener = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, limit=BUFFER_BYTES
        )
        port = self._listener.sockets[0].getsockname()[1]
        resources = self._shell.resources
        self._reversal = resources.take(ResourceKind.REVERSE, self._remote, serial=self._serial)
        service = f"reverse:forward:{self._remote};tcp:{port}"
        async with self._client.open(self._serial, service, timeout_s=_CALL_TIMEOUT_S) as stream:
            if await stream.exactly(4) != b"OKAY":
                said = (await stream.block()).decode("utf-8", "replace")
                raise DeviceError(
                    f"{self._serial} refuses a reverse connection: {said}.",
                    "Pictures are taken by screencap instead.",
                )

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._arrived.put_nowait(AdbStream(reader, writer, self._serial))
        except asyncio.QueueFull:
            # Nobody but the server knows the port; what else comes is turned away.
            writer.transport.abort()

    async def connect(self, ended: asyncio.Event) -> AdbStream:
        """Wait for the server's next connection."""
        arriving = asyncio.ensure_future(self._arrived.get())
        ending = asyncio.ensure_future(ended.wait())
        try:
            await asyncio.wait({arriving, ending}, return_when=asyncio.FIRST_COMPLETED)
            if arriving.done():
                return arriving.result()
            raise _ended(self._serial)
        finally:
            arriving.cancel()
            ending.cancel()

    async def close(self) -> None:
        """Stop listening and take the reversal back."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        listener.close()
        while not self._arrived.empty():
            self._arrived.get_nowait().close()
        reversal, self._reversal = self._reversal, None
        if reversal is None:
            return
        try:
            await take_reversal_back(self._shell, self._remote)
        except DeviceError:
            # A phone that went away has no reversal left; of one that is silent nobody knows.
            self._shell.resources.abandon(reversal)
        except BaseException:
            self._shell.resources.abandon(reversal)
            raise
        else:
            self._shell.resources.settle(reversal)


def _ended(serial: str) -> DeviceError:
    return DeviceError(
        f"The scrcpy server of {serial} ended before it was connected.",
        "Its log says why; pictures and touches use the slower path meanwhile.",
    )
