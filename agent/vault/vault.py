"""Keep secrets by name: in the system's keyring, or in a file under a passphrase.

Not the checks of where a secret goes (`agent.vault.fitting`). Invariants: the list of entries is
the user's alone (mode 600); a secret comes with the entry that it was kept with, and an entry that
was changed since gives nothing; what was handed out is remembered, to be hidden, while the core
runs.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agent.consent.private_record import PrivateRecord
from agent.errors import ConfigError, NotAllowedError, UsageError
from agent.models.keys import keep_in_keyring, read_keyring
from agent.vault.entries import SecretKind, VaultEntry, checked_name, checked_secret
from agent.vault.one_time_code import read_one_time_secret
from agent.vault.sealing import seal, unseal

FILE_NAME = "vault.json"
_MOST_HANDED_OUT = 200


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    entry: VaultEntry
    sealed: bytes = b""  # Empty: the keyring has it.


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kept: tuple[_Kept, ...] = ()


class _InKeyring(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    entry: VaultEntry
    secret: str


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Vault:
    """The vault of one data directory.

    Args:
        clock_ms: the time that codes are made for.
    """

    def __init__(self, data_dir: Path, clock_ms: Callable[[], int] = _now_ms) -> None:
        self._record = PrivateRecord(
            data_dir / FILE_NAME,
            _File,
            what="The vault's entries",
            remedy="If it was damaged, remove it and add the entries again.",
        )
        self._clock_ms = clock_ms
        self._handed_out: list[str] = []
        self._lock = threading.Lock()

    def entries(self) -> tuple[VaultEntry, ...]:
        """List the entries by name. Raises ConfigError: the file cannot be used."""
        kept = (one.entry for one in self._read().kept)
        return tuple(sorted(kept, key=lambda one: one.name))

    def find(self, name: str) -> VaultEntry | None:
        """Return an entry; None where there is none of this name. Raises ConfigError."""
        return next((one for one in self.entries() if one.name == name), None)

    def of_app(self, package: str) -> tuple[VaultEntry, ...]:
        """List the entries that are for an app. Raises ConfigError."""
        return tuple(one for one in self.entries() if one.package == package)

    def add(self, entry: VaultEntry, secret: str, passphrase: str = "") -> VaultEntry:
        """Keep a secret; returns its entry.

        Args:
            passphrase: seals it in the vault's file; empty: the system's keyring keeps it.

        Raises:
            UsageError: the name is taken, or is none; the secret cannot be used.
            ConfigError: the file or the keyring cannot be used.
        """
        checked_name(entry.name)
        plain = checked_secret(entry.kind, secret)
        if not entry.certificates:
            raise UsageError("An entry has the certificate of its app.", "Name an installed app.")
        made = replace(entry, is_sealed=bool(passphrase), made_ms=self._clock_ms())
        kept = _Kept(
            entry=made, sealed=seal(plain, passphrase, _bytes(made)) if passphrase else b""
        )

        def more(found: _File | None) -> _File:
            before = () if found is None else found.kept
            if any(one.entry.name == made.name for one in before):
                raise UsageError(
                    f"The vault has {made.name!r} already.",
                    f"Remove it first: switchboard vault remove {made.name}",
                )
            return _File(kept=(*before, kept))

        self._record.change(more)
        if not passphrase:
            try:
                said = msgspec.json.encode(_InKeyring(entry=made, secret=plain)).decode()
                keep_in_keyring(_keyring_name(made.name), said)
            except ConfigError as error:
                self._record.change(lambda found: _without(found, made.name))
                raise ConfigError(
                    error.message, "Unlock it, or keep the secret under a passphrase: --sealed"
                ) from error
        return made

    def remove(self, name: str) -> None:
        """Forget a secret and its entry. Raises UsageError: there is none; ConfigError."""
        entry = self.find(name)
        if entry is None:
            raise no_entry(name)
        if not entry.is_sealed:
            keep_in_keyring(_keyring_name(name), "")
        self._record.change(lambda found: _without(found, name))

    def hand_out(self, name: str, entry: VaultEntry, passphrase: str = "") -> str:
        """Return what is typed for an entry now, and remember it to be hidden.

        Args:
            entry: as it was checked.

        Raises:
            UsageError: there is no such entry.
            NotAllowedError: it is another entry by now, or was changed; a wrong passphrase.
            ConfigError: the file or the keyring cannot be used.
        """
        kept = next((one for one in self._read().kept if one.entry.name == name), None)
        if kept is None:
            raise no_entry(name)
        if kept.entry != entry:
            raise _changed(name)
        secret = (
            unseal(kept.sealed, passphrase, _bytes(kept.entry))
            if kept.entry.is_sealed
            else _out_of_keyring(kept.entry)
        )
        if entry.kind is SecretKind.TOTP:
            secret = read_one_time_secret(secret).code(self._clock_ms())
        with self._lock:
            if secret not in self._handed_out:
                self._handed_out = [*self._handed_out, secret][-_MOST_HANDED_OUT:]
        return secret

    @property
    def handed_out(self) -> tuple[str, ...]:
        """What was handed out since the core started, to be hidden wherever it turns up."""
        with self._lock:
            return tuple(self._handed_out)

    def _read(self) -> _File:
        return self._record.read() or _File()


def no_entry(name: str) -> UsageError:
    """Return the error of a name that the vault does not have."""
    return UsageError(
        f"The vault has no {name[:60]!r}.", "List its entries: switchboard vault list"
    )


def _changed(name: str) -> NotAllowedError:
    return NotAllowedError(
        f"The vault's entry {name!r} was changed since its secret was kept.",
        f"Remove it and add it again: switchboard vault remove {name}",
    )


def _out_of_keyring(entry: VaultEntry) -> str:
    said = read_keyring(_keyring_name(entry.name))
    if not said:
        raise ConfigError(
            f"The system's keyring does not have the secret of {entry.name!r}.",
            f"Unlock it, or remove the entry: switchboard vault remove {entry.name}",
        )
    try:
        kept = msgspec.json.decode(said, type=_InKeyring)
    except msgspec.MsgspecError as error:
        raise _changed(entry.name) from error
    if kept.entry != entry:
        raise _changed(entry.name)
    return kept.secret


def _without(found: _File | None, name: str) -> _File:
    before = () if found is None else found.kept
    return _File(kept=tuple(one for one in before if one.entry.name != name))


def _keyring_name(name: str) -> str:
    return f"vault:{name}"


def _bytes(entry: VaultEntry) -> bytes:
    return msgspec.json.encode(entry, order="deterministic")
