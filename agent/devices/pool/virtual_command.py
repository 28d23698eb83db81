"""Find the `virtual-phone` command, which is a program of its own.

It is not imported: it is started, and reached over adb and its channel. Invariant: the one that was
installed with this Switchboard is taken before any that the path has.
"""

import shutil
import sysconfig
from pathlib import Path

from agent.errors import UsageError
from agent.extras import install

NAME = "virtual-phone"


def virtual_phone_command() -> str:
    """Return the path of the command. Raises UsageError with the remedy if it is not installed."""
    beside = Path(sysconfig.get_path("scripts"), NAME)
    found = str(beside) if beside.is_file() else shutil.which(NAME)
    if found is None:
        raise UsageError("The virtual phone is not installed.", install("demo"))
    return found
