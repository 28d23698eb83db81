"""The `virtual-phone` command as a person runs it."""

import subprocess
import sys
from pathlib import Path

NAME = "virtual-1"  # What the first phone of a home is called.


def command() -> str:
    """Return where the command is installed: beside the Python that runs the tests."""
    return str(Path(sys.executable).with_name("virtual-phone"))


def virtual_phone(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command(), *words], capture_output=True, text=True, timeout=60, check=False
    )
