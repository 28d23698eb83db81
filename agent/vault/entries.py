"""Define an entry of the vault: what a kept secret is for, without the secret.

Invariant: all that decides where a secret may go is in the entry, which is kept together with the
secret, so that whoever edits the list of entries cannot send a secret elsewhere.
"""

import re
from enum import StrEnum

from agent.errors import UsageError
from agent.records.record import Record
from agent.safety.egress.destinations import read_destination
from agent.safety.redacting.secrets import SHORTEST, VAULT_NAME
from agent.vault.one_time_code import read_one_time_secret

_LONGEST = 500
_FIELDS = "password, keypad, id:RESOURCE_ID or hint:TEXT"


class SecretKind(StrEnum):
    """What is kept."""

    TEXT = "text"  # A password, a PIN, a code: typed as it is.
    TOTP = "totp"  # What makes the codes of an authenticator app (RFC 6238).


class FieldKind(StrEnum):
    """How the field is known that a secret is for."""

    PASSWORD = "password"  # Any field for a secret.
    KEYPAD = "keypad"  # The keys of a keypad.
    ID = "id"  # The field with this resource id.
    HINT = "hint"  # The field with this name.


class Use(StrEnum):
    """Who lets a secret be used."""

    ASK = "ask"  # The operator, each time.
    ALLOW = "allow"  # Nobody is asked in a session at `trusted_actions` that a person began.


class VaultField(Record, frozen=True, kw_only=True):
    """The field that a secret is for; `named` is its resource id or its name."""

    kind: FieldKind = FieldKind.PASSWORD
    named: str = ""

    @property
    def words(self) -> str:
        """How `--field` writes it."""
        return f"{self.kind.value}:{self.named}" if self.named else self.kind.value


class VaultEntry(Record, frozen=True, kw_only=True):
    """What one kept secret is for.

    Attributes:
        certificates: the SHA-256 digests of the certificates that the app is signed with, in
            hexadecimal, sorted.
        site: the host whose pages it is for; empty: only fields of the app itself.
        is_sealed: it is kept in the vault's file under a passphrase, not in the keyring.
    """

    name: str
    package: str
    certificates: tuple[str, ...]
    field: VaultField
    kind: SecretKind = SecretKind.TEXT
    site: str = ""
    use: Use = Use.ASK
    is_sealed: bool = False
    made_ms: int = 0


def checked_name(name: str) -> str:
    """Return a name that a reference can hold. Raises UsageError."""
    if not VAULT_NAME.fullmatch(name):
        raise UsageError(
            f"{name[:60]!r} is not a name of an entry.",
            "Use 1 to 40 lowercase letters, digits, dots, dashes and underscores.",
        )
    return name


def read_field(said: str) -> VaultField:
    """Read the words of `--field`. Raises UsageError."""
    kind, colon, named = said.partition(":")
    try:
        found = FieldKind(kind)
    except ValueError as error:
        raise UsageError(f"--field {said[:60]!r} names no field.", f"Use {_FIELDS}.") from error
    takes_name = found in {FieldKind.ID, FieldKind.HINT}
    if bool(colon) != takes_name or takes_name != bool(named.strip()):
        raise UsageError(f"--field {said[:60]!r} names no field.", f"Use {_FIELDS}.")
    return VaultField(kind=found, named=named.strip())


def checked_site(said: str) -> str:
    """Return the host of `--site`. Raises UsageError."""
    found = read_destination(said) if said else None
    host = "" if found is None else found.host
    if said and (not host or found is None or found.scheme != "https" or found.notes):
        raise UsageError(
            f"--site {said[:60]!r} names no site.", "Write its host, as accounts.example.com."
        )
    return host


def checked_secret(kind: SecretKind, secret: str) -> str:
    """Return a secret as it is kept. Raises UsageError: it cannot be used.

    A secret of fewer characters than are hidden in texts would be shown where a screen repeats it.
    """
    if kind is SecretKind.TOTP:
        read_one_time_secret(secret)
        return secret.strip()
    if not (
        SHORTEST <= len(secret.strip()) <= _LONGEST and secret.isascii() and secret.isprintable()
    ):
        raise UsageError(
            f"A secret of the vault has {SHORTEST} to {_LONGEST} characters, all of them on keys "
            "(ASCII).",
            "A shorter one cannot be hidden where a screen repeats it, and another one may have to "
            "go through the clipboard: give it when you are asked for it.",
        )
    return secret


def is_for_keypad(entry: VaultEntry) -> bool:
    """Return whether a secret is pressed, not typed."""
    return entry.field.kind is FieldKind.KEYPAD


_SPACES = re.compile(r"\s+")


def same_name(one: str, other: str) -> bool:
    """Return whether two names of a field are the same but for spaces and capitals."""
    return _SPACES.sub(" ", one.strip()).casefold() == _SPACES.sub(" ", other.strip()).casefold()
