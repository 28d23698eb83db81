"""Read the secret of a channel: a file of this user alone.

Invariant: no error holds anything of the secret.
"""

import os
import stat
from pathlib import Path

from agent.errors import ConfigError

_MOST_BYTES = 8_000


def read_secret(path: Path, named: str) -> str:
    """Return the text of a secret's file without blanks around it.

    Args:
        path: of the file; `~` is the user's home.
        named: the setting that names it.

    Raises:
        ConfigError: it cannot be read, holds nothing, or others may read it.
    """
    path = path.expanduser()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_MOST_BYTES).decode("ascii").strip()
    except OSError as error:
        raise ConfigError(
            f"The file {path} cannot be read: {error.strerror or error}.", f"Correct {named}."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"The file {path} does not contain a secret.", f"Correct {named}.") from (
            error
        )
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"Others may read {path}.", f"Run: chmod 600 '{path}'")
    if not text:
        raise ConfigError(f"The file {path} is empty.", f"Correct {named}.")
    return text
