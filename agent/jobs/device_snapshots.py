"""Remember how each phone was last seen: its boot and its apps' versions, over restarts.

Not the looking (`agent.jobs.triggers`). Invariants: the file is replaced as a whole or not at all;
one that cannot be read is put aside and said, and phones are then seen as for the first time.
"""

import logging
from pathlib import Path

import msgspec

from agent.devices.shell.versions import PhoneVersions

FILE_NAME = "phones.json"
_log = logging.getLogger(__name__)


class DeviceSnapshots:
    """The phones as they were last seen, in one file of the data directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._seen: dict[str, PhoneVersions] | None = None

    def last(self, key: str) -> PhoneVersions | None:
        """Return how a phone was last seen; None for one that was not."""
        return self._all().get(key)

    def remember(self, key: str, seen: PhoneVersions) -> None:
        known = self._all()
        if known.get(key) == seen:
            return
        known[key] = seen
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_bytes(msgspec.json.encode(known))
            fresh.replace(self._path)
        except OSError as error:
            _log.warning("How a phone was last seen could not be kept: %s", error)

    def _all(self) -> dict[str, PhoneVersions]:
        if self._seen is None:
            self._seen = self._read()
        return self._seen

    def _read(self) -> dict[str, PhoneVersions]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, PhoneVersions])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("%s cannot be read and is put aside: %s", self._path, error)
            try:
                self._path.replace(self._path.with_suffix(".broken"))
            except OSError as unmoved:
                _log.warning("It could not be put aside: %s", unmoved)
            return {}
