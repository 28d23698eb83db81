"""One program in one emulator, and what it tells."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.console.real_terminals.emulators import BOUND_S, Emulator, Screen
from tests.console.terminal.test_pty import ROOT


class Play:
    """The seat in an emulator.

    Args:
        screen: where it is.
        emulator: the terminal.
        before: a command of the shell that is run in the terminal first.
    """

    def __init__(self, screen: Screen, emulator: Emulator, before: str = "true") -> None:
        self.screen = screen
        self.emulator = emulator
        self._folder = tempfile.TemporaryDirectory(prefix="play", dir="/tmp")
        path = f"{self._folder.name}/s"
        listens = socket.socket(socket.AF_UNIX)
        listens.bind(path)
        listens.listen(1)
        listens.settimeout(BOUND_S)
        script = Path(self._folder.name) / "begin"
        script.write_text(
            f"cd {ROOT}\n{before}\n"
            f"exec {sys.executable} -m tests.console.real_terminals.seat {path} {emulator.pictures}"
            f" 2>>{self._folder.name}/errors\n"
        )
        self.process = screen.start(emulator, "/bin/sh", str(script))
        self._line, _ = listens.accept()
        listens.close()
        self._line.settimeout(0.2)
        self._read = b""
        self.told: list[list[Any]] = []

    def order(self, letter: str) -> None:
        self._line.sendall(letter.encode())

    def read(self) -> None:
        """Take what is told now."""
        try:
            self._read += self._line.recv(65_536)
        except TimeoutError:
            return
        *lines, self._read = self._read.split(b"\n")
        self.told += (json.loads(line) for line in lines)

    def see(self, kind: str, *what: Any, bound_s: float = BOUND_S) -> list[Any]:
        """Wait until something of a kind was told; returns it, and forgets what came before."""
        end_s = time.monotonic() + bound_s
        while True:
            for at, (one, *rest) in enumerate(self.told):
                if one == kind and rest[: len(what)] == list(what):
                    del self.told[: at + 1]
                    return rest
            assert time.monotonic() < end_s, (kind, what, self.told)
            self.read()

    def close(self) -> None:
        self._line.close()
        if self.emulator.ends:
            subprocess.run(self.emulator.ends, env=self.screen.environ, check=False)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._folder.cleanup()
