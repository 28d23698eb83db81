"""Leases: an exclusive right that expires and carries an epoch. No I/O.

`agent.store.database.lock` locks files; `agent.sessions` queues for phones. Invariants: the epoch
of a key only rises; a key has at most one valid lease; a superseded owner can never write under its
lease again, however late it wakes.
"""

import msgspec
from msgspec.structs import replace

from agent.errors import FencedError, UsageError

LONGEST_KEY = 500  # The most letters of a key or an owner's name.


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right of one owner to one key, such as a phone's serial, until it expires.

    An expired lease stays valid until another owner takes the key: its owner was only slow.
    """

    key: str
    owner: str
    epoch: int  # Rises by one with each owner of the key; a write carries it.
    expires_ms: int  # By the store's clock; 0 = given back.

    def is_free(self, now_ms: int) -> bool:
        """Return whether any owner may take the key."""
        return self.expires_ms <= now_ms


def granted_lease(
    present: Lease | None, key: str, owner: str, ttl_ms: int, now_ms: int
) -> Lease | None:
    """Return an owner's new lease on a key; None if another owner has it.

    An owner that takes its own key again, as after a crash, gets a new epoch, which fences its
    previous process.

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
    """Return the lease with a later end. Raises FencedError if it is no longer valid,
    UsageError.
    """
    _check_ttl(ttl_ms)
    check(present, lease)
    return replace(lease, expires_ms=now_ms + ttl_ms)


def released(present: Lease | None, lease: Lease) -> Lease | None:
    """Return the lease after its release; None if it is no longer valid."""
    if present is None or present.epoch != lease.epoch or present.owner != lease.owner:
        return None
    return replace(present, expires_ms=0)


def check(present: Lease | None, lease: Lease) -> None:
    """Refuse a write under an invalid lease. Raises FencedError."""
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
