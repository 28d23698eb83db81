"""Run virtual phones as a child process and have an adb server connect to them.

The phones themselves are the `virtual-phone` program's, which is reached over adb like any other
device.
Invariants: the child ends with us, even when we are killed, because its standard input then ends;
the phones let in nobody but our adb server, by its key, since any user of the computer can open
their ports; the ports are written down, so that a restart gives every phone the serial it had.
"""

import asyncio
import os
import random
import signal
import subprocess
import time
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from agent.child_environment import child_environment
from agent.child_process import end_child
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer, is_free
from agent.devices.pool.virtual_command import NAME, virtual_phone_command
from agent.errors import AdbError, DeviceError, UsageError

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0
PORT_TIMEOUT_S = 5.0  # How long the phones of a killed Switchboard may take to free their ports.
_PAUSE_S = 0.05
_FORGET_S = 3.0  # How long an adb server may take to let a connection go that is to be replaced.
# Below the range from which systems take ports for outgoing connections, above adb's own.
_FIRST_PORTS = range(20_000, 30_000)
_TRIES = 50
_RESTARTS = 5
_FIRST_RESTART_S = 0.2
_LONG_LIFE_S = 60.0  # A child that lived longer may be restarted as often again.


class PortRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is written down of the phones: the first one's port; the others follow it."""

    first_port: int


class _Ready(msgspec.Struct, frozen=True):
    """One line of the child: a phone that listens."""

    serial: str
    name: str


class VirtualPhones:
    """Keep `count` virtual phones running and connected.

    Args:
        folder: where the phones keep their state and ports; made when missing.
        server: the adb server that connects to them.
        count: how many.
        profile: what kind of phones (`virtual-phone serve --profile list`); "" for what they were.
    """

    def __init__(
        self, folder: Path, server: AdbServer, *, count: int = 1, profile: str = ""
    ) -> None:
        self._folder = folder
        self._server = server
        self._count = count
        self._profile = profile
        self._process: Process | None = None
        self._serials: tuple[str, ...] = ()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def server(self) -> AdbServer:
        return self._server

    @property
    def serials(self) -> tuple[str, ...]:
        """The phones' serials, in order; empty while they are not started."""
        return self._serials

    @property
    def pid(self) -> int:
        """The child's process id; 0 while it does not run."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process is not None and running else 0

    async def start(self) -> tuple[str, ...]:
        """Start the adb server and the phones; return their serials once all are connected.

        Raises AdbError when a port is in use or the phones do not start, with what they said;
        UsageError when the program is not installed.
        """
        if self.pid:
            return self._serials
        # Before anything is started: without the program there is nothing to connect to.
        virtual_phone_command()
        try:
            await self._bring_up()
        except BaseException:
            await self.stop()
            raise
        self._keeper = asyncio.create_task(self._keep(), name="keep virtual phones")
        return self._serials

    async def connect(self, address: ServerAddress | None = None) -> None:
        """Have the adb server connect to every phone again. Raises DeviceError when one refuses."""
        client = AdbClient(address or self._server.address)
        await asyncio.gather(*(self._connect(client, serial) for serial in self._serials))

    async def revive(self, address: ServerAddress) -> None:
        """Bring back the adb server, the phones and their connections; the fleet's `revive`."""
        if address != self._server.address:
            return
        await self._server.revive(address)
        if self.pid:
            await self.connect(address)

    async def stop(self) -> None:
        """End the phones, which save their state, and have the adb server forget them."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait({keeper})
        with suppress(DeviceError):
            client = AdbClient(self._server.address)
            await asyncio.gather(*(client.disconnect(serial) for serial in self._serials))
        process, self._process = self._process, None
        self._serials = ()
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        await end_child(process, signals=[signal.SIGTERM], within_s=STOP_TIMEOUT_S)

    # --- below ----------

    async def _bring_up(self) -> None:
        address = await self._server.start()
        await self._spawn(await self._choose_port())
        self._serials = await self._ready()
        # What the server lists under these serials leads to phones that are gone, noticed or not.
        client = AdbClient(address)
        await asyncio.gather(*(self._forget(client, serial) for serial in self._serials))
        await self.connect(address)

    async def _keep(self) -> None:
        """Restart phones that died; those that die again and again are left as they are."""
        restarts = 0
        while self._process is not None and restarts < _RESTARTS:
            began = time.monotonic()
            await self._process.wait()
            restarts = 0 if time.monotonic() - began > _LONG_LIFE_S else restarts
            await asyncio.sleep(_FIRST_RESTART_S * 2**restarts)
            restarts += 1
            # The fleet shows the phones as gone, and the log has the reason.
            with suppress(DeviceError, UsageError):
                await self._bring_up()

    @staticmethod
    async def _connect(client: AdbClient, serial: str) -> None:
        listed = {row.serial: row.state for row in await client.devices()}
        if serial in listed and listed[serial] != "device":
            # A connection to the phone as it was before a restart is replaced at once.
            await VirtualPhones._forget(client, serial)
        await client.connect(serial)

    @staticmethod
    async def _forget(client: AdbClient, serial: str) -> None:
        """Have the server forget a phone, and wait until it has.

        It answers before it has: a connection that comes meanwhile is called "already connected"
        and goes with the old one.
        """
        await client.disconnect(serial)
        until = time.monotonic() + _FORGET_S
        while any(row.serial == serial for row in await client.devices()):
            if time.monotonic() > until:
                return
            await asyncio.sleep(_PAUSE_S)

    async def _choose_port(self) -> int:
        path = self._folder / "ports.json"
        try:
            known = msgspec.json.decode(await asyncio.to_thread(path.read_bytes), type=PortRecord)
        except (FileNotFoundError, msgspec.DecodeError):
            return await asyncio.to_thread(self._new_port, path)
        until = time.monotonic() + PORT_TIMEOUT_S
        while not _are_free(known.first_port, self._count):
            if time.monotonic() > until:
                last = known.first_port + self._count - 1
                raise AdbError(
                    f"A port of the virtual phones ({known.first_port} to {last}) is in use by "
                    "another program.",
                    f"Stop that program, or delete {path} to give the phones new ports.",
                )
            await asyncio.sleep(_PAUSE_S)
        return known.first_port

    def _new_port(self, path: Path) -> int:
        for _ in range(_TRIES):
            first_port = random.choice(_FIRST_PORTS)
            if _are_free(first_port, self._count):
                break
        else:
            raise AdbError(
                f"There are no {self._count} consecutive free ports.", "Ask for fewer phones."
            )
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(msgspec.json.encode(PortRecord(first_port=first_port)))
        except OSError as error:
            raise AdbError(
                f"{path} cannot be written: {error.strerror}.",
                "Free space in the data directory or correct its permissions.",
            ) from error
        return first_port

    async def _spawn(self, first_port: int) -> None:
        log = await asyncio.to_thread(_open_log, self._folder / "phones.log")
        with log:
            self._process = await asyncio.create_subprocess_exec(
                virtual_phone_command(),
                f"--home={self._folder}",
                "serve",
                "--until-eof",
                f"--port={first_port}",
                f"--count={self._count}",
                f"--keys={self._server.key_file}",
                *([f"--profile={self._profile}"] if self._profile else []),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # A Ctrl+C in the terminal is for us; the phones end after we have let go of them.
                start_new_session=True,
                env=child_environment(),
            )

    async def _ready(self) -> tuple[str, ...]:
        process = self._process
        if process is None or process.stdout is None:
            raise AdbError(
                "The virtual phones were stopped while they were starting.", "Start again."
            )
        serials: list[str] = []
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                while len(serials) < self._count:
                    line = await process.stdout.readline()
                    if not line:
                        await process.wait()
                        raise AdbError(
                            f"The virtual phones did not start: {await self._last_words()}.",
                            f"Read {self._folder / 'phones.log'} for details.",
                        )
                    with suppress(msgspec.DecodeError):
                        serials.append(msgspec.json.decode(line, type=_Ready).serial)
        except TimeoutError:
            raise AdbError(
                f"The virtual phones were not ready within {READY_TIMEOUT_S:g} s.",
                f"Read {self._folder / 'phones.log'} for details.",
            ) from None
        return tuple(serials)

    async def _last_words(self) -> str:
        said = await asyncio.to_thread((self._folder / "phones.log").read_bytes)
        text = said.decode("utf-8", "replace").strip()
        # The program's own sentence and its remedy, a line each; else whatever came last.
        _, own, sentence = text.rpartition(f"{NAME}: ")
        words = sentence.split("\n") if own else text.split("\n")[-1:]
        return " ".join(words).rstrip(".") or "they said nothing"


def _are_free(first_port: int, count: int) -> bool:
    return all(is_free(port) for port in range(first_port, first_port + count))


def _open_log(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o600), "wb")
