"""An app of the tests' own on a pty: it carries out orders, and says what should be seen then.

The app is a module that is run with two descriptors, of orders and of answers. Not a terminal: what
the app writes goes to `write`, which a test gives.
"""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BOUND_S = 60.0


class StagedApp:
    """A module's app on a pty.

    Args:
        module: the module that is run.
        words: what it is told on its command line.
        write: takes what the app writes to its terminal.
        size: rows, columns, width and height of the terminal in pixels.
        environ: what its environment has besides.
    """

    def __init__(
        self,
        module: str,
        *words: str,
        write: Callable[[bytes], None],
        size: tuple[int, int, int, int],
        **environ: str,
    ) -> None:
        self._write = write
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size))
        orders, self._tell = os.pipe()
        self._hear, answers = os.pipe()
        self._heard = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, str(orders), str(answers), *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            pass_fds=(orders, answers),
            env={
                "PATH": os.environ["PATH"],
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "LANG": "C.UTF-8",
                "TEXTUAL_ANIMATIONS": "none",
                **environ,
            },
            start_new_session=True,
        )
        for end in (slave, orders, answers):
            os.close(end)

    def do(self, order: str) -> dict[str, Any]:
        """Return an order; returns what the app says once it is carried out and all is written."""
        os.write(self._tell, order.encode())
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Wait for the app's next answer, and take what it wrote until then."""
        self.until(lambda: b"\n" in self._heard, "an answer")
        while self.look(0.0):
            pass
        line, _, self._heard = self._heard.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def until(self, seen: Callable[[], bool], what: str) -> None:
        """Take what the app writes until something is seen."""
        until_s = time.monotonic() + BOUND_S
        while not seen():
            assert time.monotonic() < until_s, f"waited in vain for {what}"
            self.look(0.2)

    def look(self, wait_s: float) -> bool:
        """Take what the app has written; returns whether there was anything."""
        ready, _, _ = select.select([self.master, self._hear], [], [], wait_s)
        if self._hear in ready:
            heard = os.read(self._hear, 1 << 16)
            self._heard += heard
            if not heard:
                ready.remove(self._hear)
        if self.master in ready:
            try:
                self._write(os.read(self.master, 1 << 16))
            except OSError:
                # The program has ended.
                ready.remove(self.master)
        return bool(ready)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for end in (self.master, self._tell, self._hear):
            os.close(end)
