"""Copy a text: by OSC 52 to the terminal, and to a file that is named, since terminals may refuse.

Invariant: the text is cleaned before it goes anywhere.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from agent.text import clean

_FOLDER = "copied"


def keep_copy(text: str, data_dir: Path | None) -> Path:
    """Write the newest copy to a private file and return where. Raises OSError."""
    folder = (data_dir or Path(tempfile.gettempdir()) / f"switchboard-{os.getuid()}") / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / "clipboard.txt"
    place.unlink(missing_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(clean(text))
    return place
