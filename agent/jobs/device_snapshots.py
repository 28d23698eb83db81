"""Remember how each phone was last seen: its boot and its apps' versions, over restarts.

Not the looking (`agent.jobs.triggers`). Invariants: the file is replaced as a whole or not at all;
one that cannot be read is put aside and said, and phones are then seen as for the first time.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from agent.devices.facts.fact import Known
from agent.devices.shell.versions import PhoneVersions

FILE_NAME = "phones.json"
_log = logging.getLogger(__name__)


class PhoneSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a phone was when it was last seen; empty parts: it has never said."""

    boot_id: str = ""
    packages: Mapping[str, int] = {}

    def then(self, said: PhoneVersions) -> "PhoneSeen":
        """Return it with what the phone said now; what it did not say stays as it was."""
        boot, packages = said.boot_id, said.packages
        return PhoneSeen(
            boot_id=boot.value if isinstance(boot, Known) else self.boot_id,
            packages=packages.value if isinstance(packages, Known) else self.packages,
        )


class DeviceSnapshots:
    """The phones as they were last seen, in one file of the data directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._seen: dict[str, PhoneSeen] | None = None

    def last(self, key: str) -> PhoneSeen | None:
        """Return how a phone was last seen; None for one that was not."""
        return self._all().get(key)

    def remember(self, key: str, seen: PhoneSeen) -> None:
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

    def _all(self) -> dict[str, PhoneSeen]:
        if self._seen is None:
            self._seen = self._read()
        return self._seen

    def _read(self) -> dict[str, PhoneSeen]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, PhoneSeen])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("%s cannot be read and is put aside: %s", self._path, error)
            try:
                self._path.replace(self._path.with_suffix(".broken"))
            except OSError as unmoved:
                _log.warning("It could not be put aside: %s", unmoved)
            return {}
