"""Sign warrants and their uses with the operator's key, and say why one does not count.

Pure; `agent.warrants.key_file` keeps the key. Invariants: a signature covers all that a record
says but its status; a warrant whose record or uses are not as they were signed allows nothing.
"""

import hashlib
import hmac
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from agent.records import Warrant, WarrantStatus, WarrantUse

_WARRANT, _USE = b"switchboard warrant 1\n", b"switchboard warrant use 1\n"


def signed(warrant: Warrant, key: bytes) -> Warrant:
    """Return a warrant with its signature."""
    ready = replace(warrant, status=WarrantStatus.SIGNED)
    return replace(ready, mac=_mac(key, _WARRANT, _bare(ready)))


def signed_use(use: WarrantUse, key: bytes) -> WarrantUse:
    """Return a use with its signature."""
    return replace(use, mac=_mac(key, _USE, replace(use, mac="")))


def why_void(
    warrant: Warrant,
    uses: Sequence[WarrantUse],
    key: bytes,
    now_ms: int,
    *,
    is_revoked: bool,
    counted: int = 0,
) -> str:
    """Return why a warrant allows nothing, as a clause; empty: it stands.

    Args:
        uses: all that are stored of it, by number.
        is_revoked: whether it was revoked at any time, whatever the record says now.
        counted: how many uses there were at least.
    """
    if warrant.status is WarrantStatus.DRAFT and not warrant.mac:
        return "it is not signed"
    if not hmac.compare_digest(warrant.mac, _mac(key, _WARRANT, _bare(warrant))):
        return "its stored record is not what was signed"
    if is_revoked or warrant.status is WarrantStatus.REVOKED:
        return "it was revoked"
    for number, use in enumerate(uses, 1):
        if use.number != number:
            return f"use {number} of it is missing from the store"
        if not hmac.compare_digest(use.mac, _mac(key, _USE, replace(use, mac=""))):
            return f"use {number} of it is not what was stored"
    if len(uses) < counted:
        return f"{counted - len(uses)} of its uses are missing from the store"
    return "it is over" if now_ms >= warrant.expires_ms else ""


def _bare(warrant: Warrant) -> Warrant:
    return replace(warrant, mac="", status=WarrantStatus.SIGNED)


def _mac(key: bytes, kind: bytes, record: Warrant | WarrantUse) -> str:
    canonical = msgspec.json.encode(record, order="sorted")
    return hmac.new(key, kind + canonical, hashlib.sha256).hexdigest()
