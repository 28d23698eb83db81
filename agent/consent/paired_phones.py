"""The operator's own phones: each with a name and a key that never leaves its browser.

Invariants: the file holds public keys alone; a phone that was revoked is refused by its next
statement; what a phone said is taken only from its key, and only while it is fresh.
"""

import secrets
from pathlib import Path

import msgspec

from agent.consent.phone_keys import signed_words, verifies
from agent.consent.phone_statements import Statement, read_statement
from agent.consent.private_record import PrivateRecord
from agent.errors import NotAllowedError, UsageError

FILE_NAME = "paired-phones.json"
MOST_PHONES = 20
FRESH_MS = 10 * 60_000
"""How old a statement may be: a phone without a network sends it again for so long."""
_AHEAD_MS = 60_000


class PairedPhone(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of them."""

    phone_id: str
    name: str
    public: bytes
    """P-256, uncompressed."""
    paired_ms: int
    operator: str = ""
    """Who paired it, and whose rights it has; empty where the core has no operators."""

    @property
    def shown(self) -> str:
        """Return what stands in the audit."""
        return f"paired phone {self.name}"


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phones: tuple[PairedPhone, ...] = ()


class PairedPhones:
    """Those of one data directory, read from its file each time."""

    def __init__(self, data_dir: Path) -> None:
        self._file = PrivateRecord(
            data_dir / FILE_NAME,
            _Kept,
            what="The paired phones",
            remedy="Remove the file, and pair them again.",
        )

    def all(self) -> tuple[PairedPhone, ...]:
        """Return them. Raises ConfigError: the file cannot be read, or others may read it."""
        return (self._file.read() or _Kept()).phones

    def find(self, phone_id: str) -> PairedPhone | None:
        """Return one of them; None: it was revoked, or never paired."""
        return next((one for one in self.all() if one.phone_id == phone_id), None)

    def add(self, name: str, public: bytes, operator: str, now_ms: int) -> PairedPhone:
        """Store a phone. Raises UsageError: there are too many. ConfigError."""
        made = PairedPhone(
            phone_id=secrets.token_hex(8),
            name=name,
            public=public,
            paired_ms=now_ms,
            operator=operator,
        )

        def added(kept: _Kept | None) -> _Kept:
            known = () if kept is None else kept.phones
            if len(known) >= MOST_PHONES:
                raise UsageError(f"{len(known)} phones are paired.", "Revoke some.")
            return _Kept(phones=(*known, made))

        self._file.change(added)
        return made

    def revoke(self, which: str) -> PairedPhone:
        """Remove a phone by its id or name. Raises UsageError: there is none, or several."""
        gone: list[PairedPhone] = []

        def left(kept: _Kept | None) -> _Kept:
            known = () if kept is None else kept.phones
            found = [one for one in known if which in (one.phone_id, one.name)]
            if len(found) != 1:
                what = "no paired phone" if not found else "more than one paired phone"
                raise UsageError(
                    f"There is {what} {which[:40]!r}.", "Name its id: switchboard pair list"
                )
            gone.extend(found)
            return _Kept(phones=tuple(one for one in known if one != found[0]))

        self._file.change(left)
        return gone[0]

    def verified_statement(
        self, phone_id: str, text: str, signature: bytes, now_ms: int
    ) -> tuple[PairedPhone, Statement]:
        """Return who said something, and what.

        Args:
            phone_id: whose key is said to have signed it.
            text: the statement, as it was signed.
            signature: r and s, 32 bytes each.
            now_ms: the time.

        Raises:
            NotAllowedError: the phone is not paired, or did not sign it, or not now.
            UsageError: it is no statement.
        """
        phone = self.find(phone_id)
        if phone is None:
            raise NotAllowedError(
                "This phone is not paired, or was revoked.",
                "Pair it at the computer: switchboard pair",
            )
        if not verifies(phone.public, signature, signed_words(phone_id, text)):
            raise NotAllowedError("The paired phone did not sign this.", "Reload the page.")
        said = read_statement(text)
        if said.at_ms > now_ms + _AHEAD_MS:
            raise NotAllowedError("This was signed for a later time.", "Reload the page.")
        if said.at_ms + FRESH_MS <= now_ms:
            raise NotAllowedError(
                f"This is too late: it was signed {(now_ms - said.at_ms) // 60_000} min ago.",
                "Read what is asked now, and answer that.",
            )
        return phone, said
