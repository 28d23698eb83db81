"""The tokens of this machine's servers: each made once, kept for its user alone."""

import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError

OPERATORS = "swb_"
"""How the tokens of operators begin."""
_SHORTEST = 16
_LONGEST = 200


@dataclass(frozen=True)
class Token:
    """What the clients of one server show.

    Args:
        file_name: where it is kept, in the data directory.
        variable: of the environment, which goes first.
    """

    file_name: str
    variable: str

    def file(self, data_dir: Path) -> Path:
        """Return where the token of a data directory is kept."""
        return data_dir / self.file_name

    def shown_as(self, data_dir: Path) -> str:
        """Return for people where the token in force stands."""
        return f"${self.variable}" if os.environ.get(self.variable) else str(self.file(data_dir))

    def of(self, data_dir: Path) -> str:
        """Return the token of a data directory, made by the first call.

        Raises:
            ConfigError: it is too short, or its file can be read by others.
            OSError: the file cannot be read or written.
        """
        given = os.environ.get(self.variable, "")
        if given:
            return _checked(given, self.variable)
        path = self.file(data_dir)
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


def is_operators(shown: str) -> bool:
    """Whether a token has the form of an operator's, which the core alone can judge."""
    return shown.startswith(OPERATORS) and len(shown) <= _LONGEST and shown.isascii()


def client_key(shown: str, name: str) -> str:
    """Return what tells the clients of one operator's token from all others; not the token.

    Args:
        shown: the operator's token.
        name: of the client, without a line's end, so that no name is another's key.
    """
    return f"{hashlib.sha256(shown.encode()).hexdigest()}\n{name}"


MCP_TOKEN = Token("mcp-token", "SWITCHBOARD_MCP_TOKEN")
"""Of agents: approvals stay with the operator."""
HTTP_TOKEN = Token("http-token", "SWITCHBOARD_HTTP_TOKEN")
"""Of the operator's own programs: who has it acts as the operator."""
METRICS_TOKEN = Token("metrics-token", "SWITCHBOARD_METRICS_TOKEN")
"""Of monitoring: who has it reads numbers and nothing else."""


def _checked(token: str, where: str) -> str:
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable():
        raise ConfigError(
            f"The token in {where} cannot be used.", f"Use {_SHORTEST} or more ASCII characters."
        )
    return token
