"""Remember beside the key how often warrants were used, and which were revoked.

A row that was removed from the database leaves no trace there. Invariants: a count only rises; a
warrant with fewer stored uses than were counted, or that was revoked, allows nothing.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from agent.errors import ConfigError

FILE_NAME = "warrant-marks.json"
_MOST = 2_000


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    used: dict[str, int] = {}
    revoked: tuple[str, ...] = ()


class WarrantMarks:
    """The marks of one data directory; the newest 2,000 warrants are remembered."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self._kept: _File | None = None

    def used(self, warrant_id: str) -> int:
        """Return how many uses were counted. Raises ConfigError."""
        return self._read().used.get(warrant_id, 0)

    def is_revoked(self, warrant_id: str) -> bool:
        """Return whether it was revoked. Raises ConfigError."""
        return warrant_id in self._read().revoked

    def count(self, warrant_id: str, uses: int) -> None:
        """Note that a warrant has this many uses. Raises ConfigError."""
        kept = self._read()
        used = {**kept.used, warrant_id: max(uses, kept.used.get(warrant_id, 0))}
        newest = dict(list(used.items())[-_MOST:])
        self._write(_File(used=newest, revoked=kept.revoked))

    def revoke(self, warrant_id: str) -> None:
        """Note that a warrant was revoked. Raises ConfigError."""
        kept = self._read()
        revoked = tuple(dict.fromkeys((*kept.revoked, warrant_id)))
        self._write(_File(used=kept.used, revoked=revoked[-_MOST:]))

    def _read(self) -> _File:
        if self._kept is None:
            try:
                self._kept = msgspec.json.decode(self.path.read_bytes(), type=_File)
            except FileNotFoundError:
                self._kept = _File()
            except (OSError, msgspec.MsgspecError) as error:
                raise ConfigError(
                    f"{self.path} cannot be read: {error}.",
                    "Revoke the warrants that stand, and remove the file.",
                ) from error
        return self._kept

    def _write(self, kept: _File) -> None:
        part = self.path.with_name(f".{FILE_NAME}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(kept))
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise ConfigError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                "Make the data directory yours to write.",
            ) from error
        self._kept = kept
