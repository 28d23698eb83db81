"""Where an exam runs: its folder, phones and adb server, and an environment for each program.

Invariant: nothing is installed outside of the exam's folder.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent
INSTALL_LIMIT_S, RUN_LIMIT_S = 900, 600


class CannotSitError(Exception):
    """The program cannot be installed or run on this machine; the message says why."""


@dataclass
class Report:
    """What came of one program: its cases, or why it could not be examined."""

    program: str
    version: str = ""
    absent: str = ""
    rows: list[dict[str, str]] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        return sum(row["outcome"] == outcome for row in self.rows)


@dataclass
class Hall:
    """Where an exam runs: a folder, one phone for each program, and the server they use."""

    folder: Path
    serials: list[str]
    adb: Path
    port: int

    def environment(self, serial: str) -> dict[str, str]:
        """Return the environment that a program runs in."""
        return {
            **os.environ,
            "EXAM_SERIAL": serial,
            "EXAM_FOLDER": str(self.folder),
            "ANDROID_ADB_SERVER_PORT": str(self.port),
            "ANDROID_SERIAL": serial,
            "ADBUTILS_ADB_PATH": str(self.adb),
            "HOME": str(self.folder / "home"),
            "PYTHONPATH": str(PROGRAMS),
        }


def python_from(least: tuple[int, int]) -> str:
    """Return a Python of at least a version, from PATH or where tools usually put them."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    places = [
        *(shutil.which(f"python3.{minor}") or "" for minor in range(least[1], 20)),
        *(shutil.which(name) or "" for name in ("python3", "python")),
        *map(str, pyenv.glob("versions/*/bin/python")),
        *map(str, (home / ".local/share/uv/python").glob("*/bin/python3")),
    ]
    for place in [sys.executable, *filter(None, places)]:
        asked = subprocess.run(
            [place, "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        found = re.fullmatch(r"(\d+) (\d+)\n", asked.stdout)
        if found and (int(found[1]), int(found[2])) >= least:
            return place
    raise CannotSitError(f"no Python {least[0]}.{least[1]} or newer was found")


def call(words: list[str], limit_s: int, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command; raise CannotSitError when it fails or takes too long."""
    try:
        done: subprocess.CompletedProcess[str] = subprocess.run(
            words, capture_output=True, text=True, timeout=limit_s, check=False, **options
        )  # type: ignore[call-overload]
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotSitError(f"{Path(words[0]).name}: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CannotSitError(
            f"{Path(words[0]).name}: {said[-1][:200] if said else done.returncode}"
        )
    return done


def python_environment(
    hall: Hall, name: str, packages: list[str], least: tuple[int, int] = (3, 11)
) -> Path:
    """Install packages into an environment of their own; return its Python."""
    folder = hall.folder / "environments" / name
    call([python_from(least), "-m", "venv", str(folder)], INSTALL_LIMIT_S)
    python = folder / "bin" / "python"
    call([str(python), "-m", "pip", "install", "--quiet", *packages], INSTALL_LIMIT_S)
    return python


def version_of(python: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return call([str(python), "-c", code], 60).stdout.strip()


def rows_of(words: list[str], environment: dict[str, str], folder: Path) -> list[dict[str, str]]:
    """Run a program and return the cases it prints."""
    try:
        done: subprocess.CompletedProcess[str] = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT_S,
            env=environment,
            cwd=folder,
            check=False,
        )
        out, err = done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        out = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else ""
        err = "the program took too long"
    rows = [json.loads(line) for line in out.splitlines() if line.startswith('{"case"')]
    if not rows:
        raise CannotSitError((err.strip().splitlines() or ["it printed nothing"])[-1][:200])
    return rows


def node_environment(hall: Hall, name: str, packages: Iterable[str]) -> Path:
    """Install packages of npm into a folder of their own, without their scripts; return it."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise CannotSitError("Node and npm were not found")
    folder = hall.folder / "environments" / name
    folder.mkdir(parents=True)
    quiet = ("--silent", "--no-fund", "--no-audit", "--ignore-scripts")
    call(["npm", "install", *quiet, "--prefix", str(folder), *packages], INSTALL_LIMIT_S)
    return folder


def node_rows(
    hall: Hall, serial: str, name: str, packages: Iterable[str], programs: tuple[str, ...]
) -> list[dict[str, str]]:
    """Install packages of npm and run a program beside them, the first of those named."""
    folder = node_environment(hall, name, packages)
    for program in programs:
        shutil.copy(PROGRAMS / program, folder)
    environment = hall.environment(serial) | {"ANDROID_HOME": str(sdk(hall))}
    return rows_of(["node", str(folder / programs[0])], environment, folder)


def sdk(hall: Hall) -> Path:
    """Return a folder that looks like Android's SDK to those who ask for one; it holds adb."""
    tools = hall.folder / "sdk" / "platform-tools"
    if not tools.is_dir():
        tools.mkdir(parents=True)
        (tools / "adb").symlink_to(hall.adb)
    return tools.parent
