"""What servers said of their tools when the operator accepted them.

Invariant: a tool whose description or schema is another than the accepted one counts as changed
until it is accepted anew, over restarts too.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

_FILE = "mcp-tools.json"


class Pins:
    """The digests of one data directory, by full name.

    Args:
        data_dir: where they are kept.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / _FILE

    def known(self) -> dict[str, str]:
        """Read them; a file that cannot be read holds none, so that all is asked again."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.DecodeError):
            return {}

    def add(self, digests: Mapping[str, str]) -> None:
        """Take digests as accepted. Raises OSError."""
        kept = self.known() | dict(digests)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(kept)))
        Path(name).replace(self._path)
