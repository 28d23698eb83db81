"""Leases: an exclusive right that ends by itself and carries an epoch. No I/O.

Not a lock on a file (`agent.store.database.lock`) and not the queue for a phone (`agent.sessions`).
Invariants: the epoch of a key only rises; a key has at most one lease that counts; whoever was
overtaken can never write under its lease again, however late it wakes.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from agent.errors import FencedError, UsageError

LONGEST_KEY = 500
"""The most letters of a key or an owner's name."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right of one owner to one key, such as a phone's serial, until it runs out.

    A lease that ran out still counts until somebody else takes the key: its owner was slow, and
    nothing has been done behind its back.
    """

    key: str
    owner: str
    epoch: int
    """Rises by one with each owner of the key; a write carries it."""
    expires_ms: int
    """By the store's clock; 0 = given back."""

    def is_free(self, now_ms: int) -> bool:
        """Whether anybody may take the key."""
        return self.expires_ms <= now_ms


def taken(present: Lease | None, key: str, owner: str, ttl_ms: int, now_ms: int) -> Lease | None:
    """Return the lease that an owner gets on a key; None when somebody else has it.

    An owner that takes its own key again, as after a crash, gets a new epoch: its former self can
    write no more.

    Raises:
        UsageError: a blank or overlong name, or a time to live that is not positive.
    """
    for name in (key, owner):
        if not name.strip() or len(name) > LONGEST_KEY:
            raise UsageError(f"{name[:80]!r} cannot name a lease or its owner.")
    _check_ttl(ttl_ms)
    if present is not None and present.owner != owner and not present.is_free(now_ms):
        return None
    epoch = present.epoch + 1 if present is not None else 1
    return Lease(key=key, owner=owner, epoch=epoch, expires_ms=now_ms + ttl_ms)


def renewed(present: Lease | None, lease: Lease, ttl_ms: int, now_ms: int) -> Lease:
    """Return the lease with a later end. Raises FencedError when it counts no more, UsageError."""
    _check_ttl(ttl_ms)
    check(present, lease)
    return replace(lease, expires_ms=now_ms + ttl_ms)


def released(present: Lease | None, lease: Lease) -> Lease | None:
    """Return the lease as it is once it was given back; None when it counts no more anyway."""
    if present is None or present.epoch != lease.epoch or present.owner != lease.owner:
        return None
    return replace(present, expires_ms=0)


def check(present: Lease | None, lease: Lease) -> None:
    """Refuse what comes under a lease that counts no more. Raises FencedError."""
    if present is None or present.epoch != lease.epoch or present.owner != lease.owner:
        now = "nobody" if present is None else f"{present.owner} (epoch {present.epoch})"
        raise FencedError(
            f"The lease on {lease.key} (epoch {lease.epoch}) was taken over by {now}.",
            "Nothing was stored. Stop acting on it; its new owner continues.",
        )
    if present.expires_ms == 0:
        raise FencedError(
            f"The lease on {lease.key} (epoch {lease.epoch}) was given back.",
            "Nothing was stored. Take it again before acting on it.",
        )


def _check_ttl(ttl_ms: int) -> None:
    if not 0 < ttl_ms < 1 << 40:
        raise UsageError(f"A lease cannot last {ttl_ms} ms.")
