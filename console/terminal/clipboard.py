"""Copy a text: by OSC 52 to the terminal, and to a file that is named, since terminals may refuse.

Invariant: the text is cleaned before it goes anywhere.
"""

import os
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from agent.text import clean
from console.terminal.terminal_notify import through

_FOLDER = "copied"


def past_multiplexer(text: str, environ: Mapping[str, str]) -> str:
    """Return OSC 52 wrapped for the terminal behind tmux or screen; empty outside of both.

    Sent beside the plain sequence, which tmux takes itself where `set-clipboard` is on; the
    wrapped one passes where `allow-passthrough` is on, and is left out otherwise (tmux(1)).
    """
    plain = f"\x1b]52;c;{b64encode(text.encode()).decode()}\x07"
    wrapped = through(environ, plain)
    return "" if wrapped == plain else wrapped


def keep_copy(text: str, data_dir: Path | None) -> Path:
    """Write the newest copy to a private file and return where. Raises OSError."""
    # A name that nobody can know beforehand: the temporary directory is everybody's.
    folder = (data_dir or Path(tempfile.mkdtemp(prefix="switchboard-"))) / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / "clipboard.txt"
    place.unlink(missing_ok=True)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(clean(text))
    return place
