"""Type a script to a console on a pty in one of the modes, and learn what came of it."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from random import Random
from typing import Any, Self

from tests.console.burst.crowd import Crowded
from tests.console.burst.grammar import Token

ROOT = Path(__file__).parent.parent.parent.parent
BOUND_S = 900.0  # The console itself says when nothing goes on.
QUICK_S = 0.03
STOPPED_S = 0.3
_KEPT_BYTES = 1_000
TORN_S = 0.02  # Less than what the console waits for the rest of a sequence.


class Typist:
    """Has a console on a pty for as long as the block."""

    def __init__(self, home: Path, columns: int = 120, rows: int = 36) -> None:
        self._home = home
        self._size = (columns, rows)

    def __enter__(self) -> Self:
        master, slave = pty.openpty()
        columns, rows = self._size
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.console.burst.seat", str(commands), str(answers)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            pass_fds=(commands, answers),
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "TEXTUAL_ANIMATIONS": "none",
            },
            start_new_session=True,
        )
        for descriptor in (slave, commands, answers):
            os.close(descriptor)
        self._master = master
        self._left = self._drawn = b""
        threading.Thread(target=self._drain, daemon=True).start()
        return self

    def __exit__(self, *about: object) -> None:
        os.close(self._commands)
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._master)
        os.close(self._answers)

    def _drain(self) -> None:
        while True:
            try:
                self._drawn = (self._drawn + os.read(self._master, 65_536))[-_KEPT_BYTES:]
            except OSError:
                return

    def _say(self, line: str) -> None:
        os.write(self._commands, line.encode() + b"\n")

    def _hear(self) -> Any:
        until = time.monotonic() + BOUND_S
        while b"\n" not in self._left:
            if not select.select([self._answers], [], [], max(0.0, until - time.monotonic()))[0]:
                raise AssertionError("The console does not answer.")
            data = os.read(self._answers, 1_000_000)
            if not data:
                # Its last words are still on the way to the terminal.
                self._process.wait(BOUND_S)
                raise AssertionError(f"The console has ended: {self._drawn!r}")
            self._left += data
        line, _, self._left = self._left.partition(b"\n")
        return json.loads(line)

    def _type(self, sent: bytes) -> None:
        while sent:
            sent = sent[os.write(self._master, sent) :]

    # --- modes ----------

    def play(
        self, tokens: tuple[Token, ...], mode: str, seed: int = 0, crowd: Crowded | None = None
    ) -> dict[str, Any]:
        """Type a script; returns what came of it.

        Args:
            tokens: the script.
            mode: how it is typed.
            seed: of where a torn one is cut.
            crowd: what others do meanwhile, and which events are sentences.
        """
        self._say("begin")
        assert self._hear() == "ready"
        if crowd is not None:
            plan = {"meanwhile": crowd.meanwhile, "sentences": crowd.sentences}
            self._say(f"crowd {json.dumps(plan)}")
        # As a terminal says that it can tell its size among its keys (mode 2048).
        self._type(b"\x1b[?2048;2$y")
        whole = b"".join(token.sent for token in tokens)
        match mode:
            case "slow":
                self._slowly(tokens)
            case "burst":
                self._type(whole)
            case "quick":
                for token in tokens:
                    self._type(token.sent)
                    time.sleep(QUICK_S)
            case "stopped":
                half = b"".join(token.sent for token in tokens[: len(tokens) // 2])
                self._type(half)
                self._say("stop")
                self._type(whole[len(half) :])
                time.sleep(STOPPED_S)
                self._say("go")
            case "torn":
                self._in_pieces(whole, Random(seed))
            case _:
                raise AssertionError(mode)
        self._say(f"wait {sum(token.events for token in tokens)}")
        self._hear()
        self._say("dump")
        came: dict[str, Any] = self._hear()
        return came

    def _slowly(self, tokens: tuple[Token, ...]) -> None:
        typed = 0
        for token in tokens:
            self._type(token.sent)
            typed += token.events
            self._say(f"wait {typed}")
            self._hear()

    def _in_pieces(self, whole: bytes, random: Random) -> None:
        while whole:
            # Often in the middle of a sequence, and of a character.
            length = random.choice((1, 2, 3, 5, 17, 60))
            escape = whole.find(b"\x1b", 1)
            if escape > 0 and random.random() < 0.5:
                length = escape + random.randint(1, 3)
            self._type(whole[:length])
            whole = whole[length:]
            time.sleep(TORN_S)
