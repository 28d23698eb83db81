"""Write a secret to a new file that only its user may read."""

import os
from pathlib import Path

from agent.errors import UsageError


def write_new(path: Path, text: str) -> None:
    """Write a line to a new file of mode 600. Raises UsageError: it exists, or cannot be made."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be created: {error.strerror or error}.", "Name another file."
        ) from error
    with os.fdopen(descriptor, "w") as file:
        file.write(text + "\n")
