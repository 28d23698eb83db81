"""Read the operator's schema from a file, and write a result as data to one.

Invariants: a file that cannot be written is an error before the work begins; a result is written
whole or not at all.
"""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from agent.errors import UsageError

MAX_RESULT_CHARS = 100_000
_MAX_FILE_BYTES = 1_000_000


def read_schema_file(path: str) -> str:
    """Return a checked JSON Schema. Raises UsageError for one that cannot be used."""
    from agent.results.schema import checked_schema

    try:
        with Path(path).open("rb") as file:
            text = file.read(_MAX_FILE_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The schema {path} could not be read: {error}.", "Name a UTF-8 file of JSON."
        ) from error
    if not text.strip():
        raise UsageError(f"The schema {path} is empty.", "Write a JSON Schema into it.")
    return checked_schema(text)


def check_output(path: str) -> None:
    """Raise UsageError where a result could not be written."""
    place = Path(path).absolute()
    if place.is_dir():
        raise UsageError(f"{path} is a directory.", "Name a file.")
    if not os.access(place.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: check the directory.", "Name another file.")


def write_result(path: str, result: str) -> None:
    """Write a result as indented JSON, in one step. Raises OSError."""
    place = Path(path).absolute()
    text = json.dumps(json.loads(result), ensure_ascii=False, indent=2) + "\n"
    descriptor, part = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(part).chmod(0o644 & ~_umask())
        Path(part).replace(place)
    except BaseException:
        with suppress(OSError):
            Path(part).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
