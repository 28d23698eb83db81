"""A real adb server of the tests' own, and the adb command against it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import adbutils

TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Said:
    """What a command wrote and how it ended."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Its stdout as text."""
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

    async def __call__(self, *words: str, serial: str = "", stdin: bytes = b"") -> Said:
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
        return Said(process.returncode or 0, out, err)

    async def connect(self, serial: str) -> None:
        """Connect a phone and wait until it is a device."""
        await self("connect", serial)
        said = await self("wait-for-device", serial=serial)
        assert said.status == 0, said


def free_port() -> int:
    """Return a port that is free now and that no adb server takes for an emulator's."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if not 5554 <= port <= 5585 and port != 5037:
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
