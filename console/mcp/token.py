"""The token of the MCP server over HTTP: made once, kept for its user alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from agent.errors import ConfigError

TOKEN_VARIABLE = "SWITCHBOARD_MCP_TOKEN"
_SHORTEST_TOKEN = 16


def token_for(data_dir: Path) -> str:
    """Return the token of a data directory, made by the first call; the environment's goes first.

    Raises:
        ConfigError: it is too short, or its file can be read by others.
        OSError: the file cannot be read or written.
    """
    given = os.environ.get(TOKEN_VARIABLE, "")
    if given:
        return _checked(given, TOKEN_VARIABLE)
    path = token_file(data_dir)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise ConfigError(
            f"{path} can be read by others (mode {mode:o}).",
            "Remove it: a new token is made at the next start.",
        )
    return _checked(path.read_text().strip(), str(path))


def token_file(data_dir: Path) -> Path:
    """Return where the token of a data directory is kept."""
    return data_dir / "mcp-token"


def _checked(token: str, where: str) -> str:
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise ConfigError(
            f"The token in {where} cannot be used.",
            f"Use {_SHORTEST_TOKEN} or more ASCII characters.",
        )
    return token
