"""Terminal emulators of Debian on a screen of Xvfb: started, typed at, looked at."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

BOUND_S = 60.0
WIDE_PX, HIGH_PX = 1400, 900
NEEDED = ("Xvfb", "xdotool", "import", "xclip", "xwininfo")


@dataclass(frozen=True)
class Emulator:
    """A terminal emulator, and how a program is started in it."""

    name: str
    command: tuple[str, ...]  # The program follows.
    pictures: str = "cells"  # What `ui.pictures` is set to.
    draws: bool = False  # Whether it draws images with that.
    paste: str = "ctrl+shift+v"
    takes_copies: bool = True  # Whether OSC 52 reaches the clipboard.
    tells_focus: bool = True  # Whether it does without a window manager.
    environ: Mapping[str, str] = field(default_factory=dict)
    ends: tuple[str, ...] = ()  # What ends it, beside the end of its window.

    @property
    def is_here(self) -> bool:
        return all(shutil.which(one) for one in (*NEEDED, self.command[0]))


_XTERM = ("xterm", "-fa", "DejaVu Sans Mono", "-fs", "10", "-geometry", "120x40")
_COPIES = ("-xrm", "XTerm*disallowedWindowOps: 20,21")
_256 = ("-tn", "xterm-256color")
_SIXEL = ("-ti", "vt340", "-xrm", "XTerm*numColorRegisters: 256")
_SOCKET = f"switchboard-test-{os.getpid()}"
_OPTIONS = ("set", "-g", "mouse", "on", ";", "set", "-g", "focus-events", "on", ";")
_TMUX = ("tmux", "-L", _SOCKET, "-f", "/dev/null")
_VTE = str(Path(__file__).with_name("vte_window.py"))
EMULATORS = (
    Emulator("xterm", (*_XTERM, *_COPIES, "-e"), paste="shift+Insert"),
    Emulator(
        "xterm-sixel",
        (*_XTERM, *_COPIES, *_256, *_SIXEL, "-e"),
        pictures="sixel",
        draws=True,
        paste="shift+Insert",
    ),
    Emulator(
        "kitty",
        ("kitty", "--config", "NONE", "-o", "confirm_os_window_close=0"),
        pictures="auto",
        draws=True,
    ),
    Emulator(
        "mlterm",
        ("mlterm", "-g", "120x40", "-w", "14", "-e"),
        pictures="sixel",
        draws=True,
        paste="shift+Insert",
        takes_copies=False,
        environ={"COLORTERM": "truecolor"},
    ),
    Emulator(
        "konsole", ("konsole", "--nofork", "-e"), pictures="sixel", draws=True, takes_copies=False
    ),
    Emulator("alacritty", ("alacritty", "-e")),
    Emulator("vte", ("/usr/bin/python3", _VTE), takes_copies=False, tells_focus=False),
    Emulator(
        "tmux",
        (*_XTERM, *_COPIES, *_256, "-e", *_TMUX, *_OPTIONS, "new-session"),
        paste="shift+Insert",
        takes_copies=False,
        ends=(*_TMUX, "kill-server"),
    ),
)


class Screen:
    """A screen of Xvfb of one's own."""

    def __init__(self) -> None:
        reads, writes = os.pipe()
        self._process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writes), "-screen", "0", f"{WIDE_PX}x{HIGH_PX}x24"],
            pass_fds=(writes,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writes)
        # Up to the line's end: Xvfb does not survive that nobody reads it.
        with os.fdopen(reads) as told:
            number = told.readline().strip()
        self._home = tempfile.TemporaryDirectory(prefix="screen", dir="/tmp")
        self.environ = {
            "PATH": os.environ["PATH"],
            "DISPLAY": f":{number}",
            "HOME": self._home.name,
            "XDG_RUNTIME_DIR": self._home.name,
            "LANG": "C.UTF-8",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "QT_QPA_PLATFORM": "xcb",
            "SHELL": "/bin/sh",
        }

    def run(self, *words: str, given: str | None = None) -> bytes:
        """Run a program on the screen; returns what it wrote."""
        done = subprocess.run(
            words,
            env=self.environ,
            input=None if given is None else given.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=BOUND_S,
            check=True,
        )
        return done.stdout

    def start(self, emulator: Emulator, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*emulator.command, *words],
            env={**self.environ, **emulator.environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def press(self, *keys: str) -> None:
        self.run("xdotool", "key", *keys)

    def type(self, text: str) -> None:
        self.run("xdotool", "type", "--delay", "20", text)

    def click(self, x: int, y: int) -> None:
        self.run("xdotool", "mousemove", str(x), str(y), "click", "1")

    def focus_window(self) -> str:
        """Give the one window the keys, as a window manager would; returns its number."""
        window = until(lambda: self._windows()[-1:] or None)[0]
        self.run("xdotool", "windowfocus", "--sync", window)
        return window

    def _windows(self) -> list[str]:
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "."],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return found.stdout.split()

    def unfocus(self) -> None:
        """Take the keys from the window."""
        self.run(
            "xdotool", "windowfocus", self.run("xwininfo", "-root", "-int").split()[3].decode()
        )

    def resize(self, window: str, wide_px: int, high_px: int) -> None:
        self.run("xdotool", "windowsize", window, str(wide_px), str(high_px))

    def copied(self) -> str:
        done = subprocess.run(
            ["xclip", "-o", "-selection", "clipboard"],
            env=self.environ,
            capture_output=True,
            timeout=BOUND_S,
            check=False,
        )
        return done.stdout.decode("utf-8", "replace")

    def put_into_clipboards(self, text: str) -> None:
        for which in ("clipboard", "primary"):
            subprocess.run(
                ["xclip", "-selection", which],
                env=self.environ,
                input=text.encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=BOUND_S,
                check=True,
            )

    def pixels(self) -> npt.NDArray[np.uint8]:
        """Return what is on the screen: rows, columns, RGB."""
        raw = self.run("import", "-window", "root", "-depth", "8", "rgb:-")
        return np.frombuffer(raw, dtype=np.uint8).reshape(HIGH_PX, WIDE_PX, 3)

    def save(self, path: Path) -> None:
        self.run("import", "-window", "root", str(path))

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._home.cleanup()


T = TypeVar("T")


def until(look: Callable[[], T], bound_s: float = BOUND_S) -> T:
    """Wait until something is there; returns it."""
    end_s = time.monotonic() + bound_s
    while not (found := look()):
        assert time.monotonic() < end_s, "it did not come"
        time.sleep(0.05)
    return found
