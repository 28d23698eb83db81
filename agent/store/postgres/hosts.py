"""Record the hosts of a fleet: each sends a heartbeat every second, with its phones.

Each host's core runs what belongs to the host. Invariants: a host is reported gone within five
seconds of its end, however it ends; times are the database's; a superseded process of a host cannot
write its row.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable

import msgspec

from agent.errors import FencedError, StoreError, UsageError
from agent.records import DeviceInfo, HostState
from agent.store.changes.row_codec import as_int, as_text
from agent.store.dispatch.fenced_run import LEASE_MS
from agent.store.dispatch.gate import Gate
from agent.store.postgres.link import Link
from agent.store.postgres.opening import LOCKS, Opening, take_name

BEAT_S = 1.0
GONE_MS = 4_000
"""A host that has not been heard of for so long is gone, whether or not its process is."""
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_BEAT = (
    f"UPDATE host SET seen_ms = {_NOW}, version = ?, labels = ?, phones = ?, wire = ?, beat_us = ? "
    "WHERE number = ? AND epoch = ? RETURNING drains"
)
# A host's lock goes with its connection: at once where its process ended.
_HOSTS = f"""
    WITH held AS MATERIALIZED (
        SELECT objid::bigint FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND classid::bigint = {LOCKS}
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
    SELECT name, version, labels, phones, since_ms, greatest({_NOW} - seen_ms, 0), is_open,
        (pg_is_in_recovery() OR number IN (SELECT objid FROM held))::int,
        works, drains, wire, epoch, beat_us, names_bucket
    FROM host WHERE seen_ms > 0 ORDER BY name
"""
_OWNED = "host_of(record) IN (h.name, CASE h.name WHEN t.core_host THEN '' ELSE h.name END)"
_PHONES = "as_json(record) #> '{payload_json,campaign,phones}'"
_BELONGINGS = f"""
    WITH t AS (SELECT core_host FROM tip), h AS (SELECT ?::text AS name)
    SELECT 'session', session_id FROM session, t, h
        WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED') AND {_OWNED}
    UNION ALL SELECT 'job', id::text FROM job, t, h
        WHERE status NOT IN ('completed', 'failed', 'stopped') AND {_OWNED}
    UNION SELECT 'job', id::text FROM job, h, json_array_elements_text(
            CASE json_typeof({_PHONES}) WHEN 'array' THEN {_PHONES} ELSE '[]' END) phone
        WHERE status NOT IN ('completed', 'failed', 'stopped')
        AND starts_with(phone, h.name || '/') AND NOT EXISTS (SELECT 1 FROM job_run r
            WHERE r.job_id = job.id AND as_json(r.record)->>'serial' = phone)
    UNION ALL SELECT 'watcher', id::text FROM watcher, t, h WHERE is_live = 1 AND {_OWNED}
    UNION ALL SELECT 'commitment', id::text FROM commitment, t, h WHERE is_live = 1 AND {_OWNED}
    ORDER BY 1, 2
"""
_log = logging.getLogger(__name__)


class HostRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One host's row."""

    name: str
    state: HostState
    version: str
    labels: tuple[str, ...]
    phones: tuple[DeviceInfo, ...]
    """As it saw them last."""
    since_ms: int
    """When its process joined."""
    silent_ms: int
    """How long ago it was heard of."""
    works: bool
    """Whether its process runs sessions, or did."""
    drains: bool = False
    """Whether the operator wants no more turns to begin there."""
    wire: str = ""
    """Where its core is reached for pictures, and by which token; told to nobody."""
    epoch: int = 0
    """Of its newest opening; a later one has a higher number."""
    beat_us: int = 0
    """How long its newest beat took to the database and back; 0 where that is not known."""

    names_bucket: bool | None = None
    """Whether its settings name a bucket; None where that is not known."""

    @property
    def beat_ms(self) -> float | None:
        """Return the round-trip time of its newest heartbeat to the database; None if it is
        unknown, or the host is gone.
        """
        return self.beat_us / 1000 if self.beat_us and self.state is HostState.HERE else None


class Presence:
    """What a host says of itself.

    Args:
        link: keeps the host's name for as long as it is connected.
        opening: of the host.
        version: of Switchboard there.
        labels: what the operator calls the host by, besides its name.
        phones: returns the phones as they are now.
        gate: closed while the operator wants no more turns to begin here.
        wire: returns where this host's core is reached for pictures; see `HostRecord.wire`.
    """

    def __init__(
        self,
        link: Link,
        opening: Opening,
        *,
        version: str,
        labels: Iterable[str] = (),
        phones: Callable[[], tuple[DeviceInfo, ...]],
        gate: Gate | None = None,
        wire: Callable[[], str] = str,
    ) -> None:
        self._link = link
        self._wire = wire
        self._gate = gate
        self._opening = opening
        self._version = version
        self._labels = msgspec.json.encode(sorted(set(labels))).decode()
        self._phones = phones
        self._beat_us = 0
        self._said_s = 0.0

    @property
    def is_heard(self) -> bool:
        """Return whether the newest heartbeat is recent enough that other hosts leave its work
        alone.
        """
        return asyncio.get_running_loop().time() - self._said_s <= LEASE_MS / 1000

    async def record_heartbeat(self) -> None:
        """Record one heartbeat.

        Raises:
            FencedError: a newer process has its name.
            StoreError: the database cannot be reached.
        """
        phones = msgspec.json.encode(self._phones()).decode()
        opening = self._opening
        who = (opening.number, opening.epoch)
        said = (self._version, self._labels, phones, self._wire(), self._beat_us, *who)
        began_s = asyncio.get_running_loop().time()
        found = await self._link.rows(_BEAT, said)
        self._beat_us = round((asyncio.get_running_loop().time() - began_s) * 1e6)
        if not found:
            raise FencedError(
                f"A newer process is host {self._opening.host!r}, or the database lost it.",
                "Work through the newer one, or start this one again.",
            )
        self._said_s = began_s
        if self._gate is not None:
            [(drains,)] = found
            self._gate.set(is_open=not drains)

    async def run(self) -> None:
        """Record a heartbeat every second; ends when a newer process has the name."""
        while True:
            try:
                await self.record_heartbeat()
            except FencedError as error:
                # Whoever writes under that name finds out by itself.
                _log.warning("%s", error)
                return
            except StoreError as error:
                _log.warning("That this host is here could not be told: %s", error)
            await asyncio.sleep(BEAT_S)


async def hosts(link: Link) -> tuple[HostRecord, ...]:
    """List the hosts that ever joined, by name. Raises StoreError."""
    found: list[HostRecord] = []
    for row in await link.rows(_HOSTS):
        name, version, labels, phones, since_ms, silent_ms, *flags = row
        is_open, is_locked, works, drains, wire, epoch, beat_us, names_bucket = flags
        state = HostState.LEFT
        if is_open:
            is_here = is_locked and as_int(silent_ms) <= GONE_MS
            state = HostState.HERE if is_here else HostState.GONE
        try:
            found.append(
                HostRecord(
                    name=as_text(name),
                    state=state,
                    version=as_text(version),
                    labels=msgspec.json.decode(as_text(labels), type=tuple[str, ...]),
                    phones=msgspec.json.decode(as_text(phones), type=tuple[DeviceInfo, ...]),
                    since_ms=as_int(since_ms),
                    silent_ms=as_int(silent_ms),
                    works=bool(works),
                    drains=bool(drains),
                    wire=as_text(wire),
                    epoch=as_int(epoch),
                    beat_us=as_int(beat_us),
                    names_bucket=None if names_bucket == -1 else bool(names_bucket),
                )
            )
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"What host {as_text(name)!r} stored about itself cannot be read."
            ) from error
    return tuple(found)


async def drain(link: Link, name: str, *, drains: bool) -> HostRecord:
    """Set whether a host starts turns; the host applies it within a second.

    Returns:
        The host's new record.

    Raises:
        UsageError: no host of that name ever joined.
        StoreError: the database cannot be written.
    """
    await link.rows(
        "UPDATE host SET drains = ? WHERE name = ? AND seen_ms > 0", (int(drains), name)
    )
    found = await hosts(link)
    for one in found:
        if one.name == name:
            return one
    known = ", ".join(repr(one.name) for one in found[:10]) or "none yet"
    raise UsageError(f"No host {name!r} ever joined.", f"Those that did: {known}.")


class HostRecords(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs to a host and has not ended."""

    sessions: tuple[str, ...] = ()
    jobs: tuple[int, ...] = ()
    watchers: tuple[int, ...] = ()
    commitments: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == HostRecords()


async def records_of_host(link: Link, host: str) -> HostRecords:
    """List what belongs to a host and has not ended, and campaigns of any that have phones of it
    to begin on. Raises StoreError.
    """
    rows = await link.rows(_BELONGINGS, (host,))
    return HostRecords(
        sessions=tuple(as_text(key) for kind, key in rows if kind == "session"),
        jobs=tuple(int(as_text(key)) for kind, key in rows if kind == "job"),
        watchers=tuple(int(as_text(key)) for kind, key in rows if kind == "watcher"),
        commitments=tuple(int(as_text(key)) for kind, key in rows if kind == "commitment"),
    )


async def forget(link: Link, host: str) -> bool:
    """Remove a host that is not there and to which nothing belongs, with what it was asked.

    Args:
        link: of its own; while it is open, no process becomes a host of that name.

    Returns:
        False if its process still runs, or something belongs to it; nothing was changed.

    Raises StoreError.
    """
    for (number,) in await link.rows("SELECT number FROM host WHERE name = ?", (host,)):
        if not await take_name(link, as_int(number)):
            return False
    async with link.transaction():
        # Nothing is stored meanwhile.
        await link.rows("SELECT 1 FROM tip FOR UPDATE")
        if not (await records_of_host(link, host)).is_empty:
            return False
        await link.rows("DELETE FROM op WHERE to_host = ?", (host,))
        await link.rows("DELETE FROM host WHERE name = ?", (host,))
        await link.commit()
    return True


async def check_versions(link: Link, host: str, version: str) -> None:
    """Refuse a version that differs from a present host's by more than one minor version. A
    database without a store has no hosts.

    Raises StoreError.
    """
    [(is_there,)] = await link.rows(
        "SELECT count(*) FROM information_schema.columns "
        "WHERE table_schema = 'switchboard' AND table_name = 'host' AND column_name = 'seen_ms'"
    )
    if not is_there:
        return
    for other in await hosts(link):
        if other.name == host or other.state is not HostState.HERE:
            continue
        if not fits(version, other.version):
            raise StoreError(
                f"Host {other.name!r} has Switchboard {other.version}, and this one has {version}: "
                "hosts work together only within one minor version.",
                f"Bring the older of the two to the minor version of the newer or the one before; "
                f"or end host {other.name!r} first.",
            )


def fits(one: str, other: str) -> bool:
    """Return whether two versions are within one minor version; an invalid one fits only itself."""
    parts = [re.match(r"(\d{1,6})\.(\d{1,6})(?!\d)", text) for text in (one, other)]
    if parts[0] is None or parts[1] is None:
        return one == other
    (major, minor), (other_major, other_minor) = (map(int, part.groups()) for part in parts if part)
    return major == other_major and abs(minor - other_minor) <= 1
