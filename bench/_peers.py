"""An environment of its own for a program that is measured beside ours.

No benchmark. Invariant: what is installed for a peer touches nothing of ours; it is made once, with
uv, and kept in the cache directory.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from agent.text import one_line

INSTALL_BOUND_S = 900.0


@dataclass(frozen=True)
class Peer:
    """A program from the package index."""

    package: str
    """What is installed, with its version."""
    loads: str
    """The module that shows that it is installed."""
    variable: str
    """Names an interpreter that has it already."""
    python: Callable[[], str]
    """Gives the Python that it takes, as uv names one."""
    needs: tuple[str, ...] = ()
    """What it uses and does not ask for."""
    loosened: str = ""
    """A package of which it asks for a version that an index may not have; any will do."""

    def interpreter(self) -> tuple[Path | None, str]:
        """Return an interpreter that has it, made if need be; else None and why not."""
        named = os.environ.get(self.variable)
        if named:
            return Path(named), ""
        beside = Path(sys.executable).parent / "uv"
        uv = str(beside) if beside.exists() else shutil.which("uv")
        if uv is None:
            return None, "uv is not here to install it"
        place = platformdirs.user_cache_path("switchboard") / "bench" / self.package
        python = place / "bin" / "python"
        loads = [str(python), "-c", f"import {self.loads}"]
        if python.exists() and subprocess.run(loads, capture_output=True).returncode == 0:
            return python, ""
        install = [uv, "pip", "install", "-q", "--python", str(python), self.package, *self.needs]
        if self.loosened:
            place.parent.mkdir(parents=True, exist_ok=True)
            overrides = place.parent / f"{self.package}.overrides"
            overrides.write_text(self.loosened)
            install += ["--override", str(overrides)]
        make = [uv, "venv", "-q", "--clear", "--python", self.python(), str(place)]
        for command in (make, install, loads):
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_BOUND_S)
            if done.returncode != 0:
                return None, one_line(done.stderr.strip(), 160) or f"`{command[0]}` failed"
        return python, ""


def newer_python() -> str:
    """Name a Python from 3.12 on: one that is here, else what uv can fetch."""
    found = [shutil.which(f"python3.{minor}") for minor in (14, 13, 12)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += sorted(map(str, pyenv.glob("3.1[2-9].*/bin/python")), reverse=True)
    asked = "import sys; sys.exit(sys.version_info < (3, 12))"
    for program in filter(None, found):
        if subprocess.run([program, "-c", asked], capture_output=True).returncode == 0:
            return program
    return ">=3.12"
