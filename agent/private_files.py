"""Keep a directory to the user who runs Switchboard.

Not access control: the system has that. Invariant: a directory that another user of the computer
may write is refused before anything in it is trusted, since what lies there may be theirs.
"""

import os
import stat
from pathlib import Path

from agent.errors import ConfigError


def why_shared(directory: Path) -> str:
    """Return why a directory is not this user's alone to write; empty when it is, or is not there.

    Raises:
        OSError: it cannot be looked at.
    """
    try:
        found = directory.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if not stat.S_ISDIR(found.st_mode):
        return ""
    # Root may write everywhere, and everything is in its hands anyhow.
    if found.st_uid not in {os.geteuid(), 0}:
        return f"it belongs to another user (uid {found.st_uid})"
    if found.st_mode & stat.S_IWOTH:
        return "every user of this computer may write it"
    if found.st_mode & stat.S_IWGRP:
        return f"its group (gid {found.st_gid}) may write it"
    return ""


def remedy_for(directory: Path) -> str:
    """Return what makes a shared directory this user's alone."""
    return (
        f"Run: chmod go-w '{directory}' (and chown it if it is not yours), "
        "or set SWITCHBOARD_DATA_DIR to a directory of your own."
    )


def check_unshared(directory: Path) -> None:
    """Refuse a directory that other users of the computer may write.

    Raises:
        ConfigError: they may, with the command that changes it.
        OSError: it cannot be looked at.
    """
    why = why_shared(directory)
    if why:
        raise ConfigError(f"{directory} cannot be used: {why}.", remedy_for(directory))
