"""The operator's passphrase: chosen once, kept as a salted hash in the data directory.

Invariants: the file is the user's alone (mode 600); the passphrase itself is stored nowhere; wrong
ones become slow.
"""

import hashlib
import hmac
import os
import secrets
import stat
import time
from pathlib import Path

import msgspec

from agent.errors import ConfigError, NotAllowedError, UsageError

FILE_NAME = "operator-passphrase.json"
SHORTEST = 8
_LONGEST = 1024
_N, _R, _P = 1 << 14, 8, 1  # RFC 7914; 16 MiB and about 50 ms.
_FREE_TRIES = 5
_WAIT_S = 30.0


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    salt: bytes
    sha: bytes
    made_ms: int


class Passphrase:
    """The passphrase of one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self._wrong = 0
        self._closed_until_s = 0.0

    @property
    def is_set(self) -> bool:
        """Return whether one was chosen; also if its file cannot be read."""
        return os.path.lexists(self.path)

    def choose(self, said: str) -> None:
        """Keep a new passphrase. Raises UsageError: there is one, or it is too short."""
        if self.is_set:
            raise UsageError(
                "There is a passphrase already.",
                f"If it is not yours, or you forgot it: remove {self.path} and restart the core.",
            )
        if not SHORTEST <= len(said) <= _LONGEST or not said.isprintable():
            raise UsageError(
                f"A passphrase has at least {SHORTEST} characters on one line.",
                "Choose a longer one.",
            )
        salt = secrets.token_bytes(16)
        kept = _Kept(salt=salt, sha=_stretched(said, salt), made_ms=time.time_ns() // 1_000_000)
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(kept))
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                "Make the data directory yours to write.",
            ) from error

    def check(self, said: str) -> None:
        """Raise NotAllowedError unless it is the passphrase."""
        now_s = time.monotonic()
        if now_s < self._closed_until_s:
            raise NotAllowedError(
                "Too many wrong passphrases.", f"Wait {self._closed_until_s - now_s:.0f} s."
            )
        kept = self._kept()
        if hmac.compare_digest(_stretched(said[:_LONGEST], kept.salt), kept.sha):
            self._wrong = 0
            return
        self._wrong += 1
        if self._wrong >= _FREE_TRIES:
            self._closed_until_s = now_s + _WAIT_S
        raise NotAllowedError("That is not the passphrase.", "Try again.")

    def _kept(self) -> _Kept:
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read(4096)
            kept = msgspec.json.decode(data, type=_Kept)
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigError(
                f"The passphrase's file {self.path} cannot be read.",
                "Remove it and choose a new one: switchboard operators unlock",
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"Others may read {self.path}.", f"Run: chmod 600 '{self.path}'")
        return kept


def _stretched(said: str, salt: bytes) -> bytes:
    words = said.encode("utf-8", "surrogateescape")
    return hashlib.scrypt(words, salt=salt, n=_N, r=_R, p=_P, dklen=32)
