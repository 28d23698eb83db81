"""Keep passports below the data directory: one JSON file and one page for each phone.

Invariants: a file is replaced whole; one that cannot be read is no passport, and its phone is
driven as if it had none. Files belong to this user alone.
"""

import hashlib
import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import msgspec

from agent.devices.passport.page import page
from agent.devices.passport.passport import VERSION, Passport
from agent.errors import UsageError

FOLDER = "passports"  # Of the data directory.
_LIMIT_BYTES = 4 * 1024 * 1024
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PassportFolder:
    """The passports of one data directory."""

    folder: Path

    @classmethod
    def of(cls, data_dir: Path) -> "PassportFolder":
        """Return the folder of a data directory; nothing is created."""
        return cls(data_dir / FOLDER)

    def path(self, phone: str) -> Path:
        """Return where the passport of a phone is, whether there is one or not.

        A serial number may hold anything: its letters make a name, a digest keeps names apart.
        """
        digest = hashlib.sha256(phone.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return self.folder / f"{_UNSAFE.sub('-', phone)[:60]}-{digest}.json"

    def load(self, phone: str) -> Passport | None:
        """Return the passport of a phone; None when there is none that can be read. Blocking."""
        path = self.path(phone)
        try:
            with path.open("rb") as file:
                found = msgspec.json.decode(file.read(_LIMIT_BYTES), type=Passport)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            _log.warning("The passport %s cannot be read: %s", path, error)
            return None
        return found if found.version == VERSION else None

    def keep(self, passport: Passport) -> tuple[Path, Path]:
        """Write the JSON and the page; returns both paths. Blocking.

        Raises UsageError when the folder cannot be written.
        """
        path = self.path(passport.phone)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        readable = path.with_suffix(".md")
        write_whole(path, as_json(passport))
        write_whole(readable, page(passport).encode())
        return path, readable


def as_json(passport: Passport) -> bytes:
    """Return the JSON of a passport, indented, ending in a line break."""
    return msgspec.json.format(msgspec.json.encode(passport), indent=2) + b"\n"


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file, or leave it as it was. Blocking. Raises UsageError."""
    beside = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path} cannot be written: {error.strerror or error}.", "Choose another place with --out."
    )
