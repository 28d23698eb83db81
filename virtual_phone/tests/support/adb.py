"""A real adb server of the tests' own, and the adb command against it."""

import asyncio
import os
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import adbutils

TIMEOUT_S = 30.0
_SHARES = 16
_PAIRS = (10_000 // 2 // _SHARES, 20_000 // 2 // _SHARES)
_CHANCE = random.SystemRandom()
"""Not the one that a test may have seeded: it would choose the same again."""


@dataclass(frozen=True)
class CommandResult:
    """What a command wrote and how it ended."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()


class RealAdb:
    """The stock adb binary, talking to a server on a port of its own."""

    def __init__(self, port: int, home: Path) -> None:
        self.port = port
        self.binary = adbutils.adb_path()
        self.environment = {**os.environ, "HOME": str(home), "ADB_MDNS_AUTO_CONNECT": "0"}
        self.environment.pop("ANDROID_SERIAL", None)

    def arguments(self, *words: str, serial: str = "") -> list[str]:
        """Return the command line of one adb command."""
        chosen = ["-s", serial] if serial else []
        return [self.binary, "-P", str(self.port), *chosen, *words]

    async def __call__(self, *words: str, serial: str = "", stdin: bytes = b"") -> CommandResult:
        """Run one adb command to its end."""
        process = await asyncio.create_subprocess_exec(
            *self.arguments(*words, serial=serial),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )
        try:
            async with asyncio.timeout(TIMEOUT_S):
                out, err = await process.communicate(stdin)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        return CommandResult(process.returncode or 0, out, err)

    async def connect(self, serial: str) -> None:
        """Connect a phone and wait until it is a device."""
        await self("connect", serial)
        said = await self("wait-for-device", serial=serial)
        assert said.status == 0, said

    def forget_every_phone(self) -> None:
        """Disconnect all phones, also those that the server tries to reach again."""
        with socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S) as wire:
            wire.sendall(b"0010host:disconnect:")
            assert wire.recv(4) == b"OKAY"


def free_port() -> int:
    """Return a port that is free now, and that nobody else takes before it is used.

    A port that the system hands out would be handed out again as soon as it is closed, to another
    worker's phone or server. So it is one below those, and of this worker's share of them.
    """
    return free_pair()


def free_pair() -> int:
    """Return the first of two ports in a row that are both as `free_port` says."""
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _SHARES
    while True:
        port = 2 * (_CHANCE.randrange(*_PAIRS) * _SHARES + share)
        with suppress(OSError), socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", port))
            two.bind(("127.0.0.1", port + 1))
            return port


@contextmanager
def real_adb_server(home: Path) -> Iterator[RealAdb]:
    """Run an adb server until the end of the block."""
    adb = RealAdb(free_port(), home)
    with (home / "adb-server.log").open("wb") as log:
        server = subprocess.Popen(
            [adb.binary, "-L", f"tcp:localhost:{adb.port}", "nodaemon", "server"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=adb.environment,
        )
    try:
        _wait_until_listening(adb.port, server)
        yield adb
    finally:
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(15)


def _wait_until_listening(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert server.poll() is None, "the adb server ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("the adb server does not listen")
