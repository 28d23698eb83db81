"""Read where a fleet's database and its bucket are, as the settings name them.

Invariant: no error of this module holds any part of an address.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path

from agent.config import Settings
from agent.errors import ConfigError
from agent.extras import install, is_installed, missing

_PASSWORD = re.compile(r"://[^@]*:[^@]*@|password\s*=", re.IGNORECASE)
_LONGEST = 4096


def address(settings: Settings) -> str:
    """Return the address of the database that the settings name. Raises ConfigError."""
    if not is_installed("fleet"):
        raise ConfigError(missing("fleet"), install("fleet"))
    example = "postgresql://ROLE:PASSWORD@HOST/DATABASE"
    return read_address(settings, settings.store.dsn, "store.dsn", example)


def read_address(settings: Settings, said: str, name: str, example: str) -> str:
    """Return an address, out of the file that `@FILE` names. Raises ConfigError."""
    said = said.strip()
    if not said.startswith("@"):
        return said
    path = (settings.config_file.parent / Path(said[1:]).expanduser()).absolute()
    try:
        with path.open(encoding="utf-8") as file:
            mode = path.stat().st_mode
            text = file.read(_LONGEST).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"{name} names the file {path}, which cannot be read: {why}.",
            "Correct the name, or the file's mode.",
        ) from error
    if not text or not text.isprintable():
        raise ConfigError(
            f"{path} does not hold one line with an address, as {name} needs.",
            f"Write {example} into it.",
        )
    if has_password(text) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(
            f"{path} contains a password, and other users of this computer can read it.",
            f"Run: chmod 600 '{path}'",
        )
    return text


def has_password(dsn: str) -> bool:
    """Whether an address may hold a password."""
    return _PASSWORD.search(dsn) is not None
