"""A short list of texts in a file of the data directory, readable by the operator alone."""

import os
from pathlib import Path

import msgspec

MOST = 50
MOST_CHARS = 200
_MOST_BYTES = 65_536


def read_short_list(path: Path) -> list[str]:
    """Return what is kept: at most `MOST` texts, none longer than `MOST_CHARS`.

    Raises:
        OSError: it cannot be read; one that is not there is empty.
        msgspec.DecodeError: it is no list of texts.
    """
    try:
        with path.open("rb") as file:
            texts = msgspec.json.decode(file.read(_MOST_BYTES), type=list[str])
    except FileNotFoundError:
        return []
    return [text for text in texts[:MOST] if len(text) <= MOST_CHARS]


def write_short_list(path: Path, texts: list[str]) -> None:
    """Keep a list in place of the one before, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(texts))
    part.replace(path)
