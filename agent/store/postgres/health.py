"""Report the health of a fleet's database and hosts.

Invariant: nothing is changed except a test object that is written to the bucket and deleted again,
and each problem has its remedy.
"""

import asyncio
import hashlib
from collections import Counter
from secrets import token_bytes

import msgspec

from agent.errors import ConfigError, StoreError
from agent.records import DeviceState, HostState, SessionState
from agent.store.changes.row_codec import as_int, as_text
from agent.store.postgres.blobs import check_bound
from agent.store.postgres.bucket import Bucket
from agent.store.postgres.hosts import fits, hosts
from agent.store.postgres.link import Link
from agent.store.postgres.operator_table import read_register
from agent.store.postgres.schema import MIGRATIONS
from agent.store.store import wall_clock_ms

MOST_CLOCK_MS = 2_000
_FEW_FREE = 10  # A host holds up to six connections.


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """A store's totals."""

    store: str
    schema: int
    active: int  # Sessions that are not settled.
    questions: int  # Those that are open.


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """A host's running and waiting sessions."""

    at_work: tuple[str, ...]
    queued: tuple[str, ...]  # Those that wait for a phone, or for their host to begin turns again.


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One check and its result."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


async def summary(link: Link) -> Total:
    """Return the store's totals. Raises StoreError."""
    [(store, schema, active, questions)] = await link.rows(
        "SELECT store, version, "
        "(SELECT count(*) FROM session WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')), "
        "(SELECT count(*) FROM question WHERE is_open = 1) FROM tip"
    )
    return Total(
        store=as_text(store),
        schema=as_int(schema),
        active=as_int(active),
        questions=as_int(questions),
    )


async def load(link: Link, host: str) -> Load:
    """List a host's running and waiting sessions, oldest first.

    Raises StoreError.
    """
    rows = await link.rows(
        "SELECT session_id, state FROM session WHERE state IN ('RUNNING', 'QUEUED') "
        "AND host_of(record) IN (?, (SELECT '' FROM tip WHERE core_host = ?)) ORDER BY number",
        (host, host),
    )
    named = [(as_text(name), as_text(state)) for name, state in rows]
    return Load(
        at_work=tuple(name for name, state in named if state == SessionState.RUNNING),
        queued=tuple(name for name, state in named if state == SessionState.QUEUED),
    )


async def examine(link: Link, bucket: Bucket | None = None) -> list[Finding]:
    """Check the server, the bucket in the settings, and the hosts. Raises StoreError."""
    total = await summary(link)
    return [
        await _server(link),
        await _clock(link),
        await _room(link),
        Finding(
            name="schema",
            ok=True,
            detail=f"store {total.store}, schema {total.schema} of {len(MIGRATIONS)}",
        ),
        await _pictures(link, bucket, total.store),
        await _buckets(link),
        await _operators(link),
        *await _hosts(link),
    ]


async def _pictures(link: Link, bucket: Bucket | None, store: str) -> Finding:
    """Look whether the bucket is this store's, and takes, returns and deletes an object."""
    try:
        is_owned, _ = await check_bound(link, bucket, store)
        if bucket is None:
            return Finding(name="pictures", ok=True, detail="in the database")
        data = token_bytes(16)
        digest = hashlib.sha256(data).hexdigest()
        place = await bucket.write(digest, data)
        await bucket.read(place, digest)
        await bucket.drop((place,))
    except (ConfigError, StoreError) as error:
        return Finding(name="pictures", ok=False, detail=error.message, remedy=error.remedy)
    whose = "this store's" if is_owned else "empty, and this store's from the next core's start"
    return Finding(name="pictures", ok=True, detail=f"in a bucket that takes them; it is {whose}")


async def _buckets(link: Link) -> Finding:
    """Look whether all hosts that are here write pictures to the same place."""
    [(has_one,)] = await link.rows("SELECT has_bucket FROM tip")
    here = [one for one in await hosts(link) if one.state is HostState.HERE]
    apart = [one.name for one in here if one.names_bucket not in (None, bool(has_one))]
    return Finding(
        name="store.blobs",
        ok=not apart,
        detail=f"differs on {', '.join(apart)}" if apart else "is the same on all hosts",
        remedy="End them, set the same store.blobs on each host, then start them again.",
    )


async def _operators(link: Link) -> Finding:
    found = await read_register(link, 0)
    count = len(found.records)
    what = f"{count} in the register" if count else "none: clients do not sign in"
    return Finding(
        name="operators",
        ok=not found.is_unconfirmed,
        detail="no operator is let in: the database was restored" if found.is_unconfirmed else what,
        remedy="Add or import them, look through them, then: switchboard operators confirm",
    )


async def _server(link: Link) -> Finding:
    loop = asyncio.get_running_loop()
    took: list[float] = []
    for _ in range(5):
        began = loop.time()
        await link.rows("SELECT 1")
        took.append(loop.time() - began)
    [(version, is_replica, mode)] = await link.rows(
        "SELECT current_setting('server_version'), pg_is_in_recovery()::int, "
        "current_setting('synchronous_commit')"
    )
    what = "a replica" if is_replica else "the primary"
    detail = f"PostgreSQL {as_text(version)}, {what}, answers in {min(took) * 1000:.1f} ms"
    if mode in ("off", "local", "remote_write"):
        detail += f"; synchronous_commit is {as_text(mode)}"
    return Finding(name="server", ok=True, detail=detail)


async def _clock(link: Link) -> Finding:
    before = wall_clock_ms()
    [(now,)] = await link.rows("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
    after = wall_clock_ms()
    # Whatever the answer's way took is no difference of the clocks.
    off = max(before - as_int(now), as_int(now) - after, 0)
    return Finding(
        name="clock",
        ok=off <= MOST_CLOCK_MS,
        detail=f"this computer's is {off / 1000:.1f} s off the server's",
        remedy="Have both follow one time server (NTP). Leases and times go by the server's.",
    )


async def _room(link: Link) -> Finding:
    [(used, most)] = await link.rows(
        "SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), "
        "current_setting('max_connections')::int "
        "- current_setting('superuser_reserved_connections')::int"
    )
    return Finding(
        name="connections",
        ok=as_int(most) - as_int(used) >= _FEW_FREE,
        detail=f"{as_int(used)} of {as_int(most)} are in use",
        remedy="Raise max_connections on the server: a host takes up to eight.",
    )


async def _hosts(link: Link) -> list[Finding]:
    found = await hosts(link)
    here = [one for one in found if one.state is HostState.HERE]
    gone = [one for one in found if one.state is HostState.GONE]
    works = [one.name for one in here if one.works]
    apart = [
        f"{one.name} {one.version} and {other.name} {other.version}"
        for place, one in enumerate(here)
        for other in here[place + 1 :]
        if not fits(one.version, other.version)
    ]
    counts = Counter(
        info.identity
        for one in here
        for info in one.phones
        if info.identity and info.state is not DeviceState.GONE
    )
    twice = sorted(phone for phone, count in counts.items() if count > 1)
    return [
        Finding(
            name="hosts",
            ok=not gone,
            detail=f"{len(here)} here"
            + "".join(f"; {one.name} is gone for {one.silent_ms / 1000:.0f} s" for one in gone),
            remedy="See whether those computers and their network are up; start them again.",
        ),
        Finding(
            name="cores",
            ok=bool(works),
            detail=f"of {len(works)} hosts: {', '.join(works)}" if works else "none works",
            remedy="Start one on each computer with phones: switchboard host serve",
        ),
        Finding(
            name="versions",
            ok=not apart,
            detail="; ".join(apart) or "all work together",
            remedy="Bring the older one to the minor version of the newer, or the one before.",
        ),
        Finding(
            name="phones",
            ok=not twice,
            detail=f"on two hosts at once: {', '.join(twice[:10])}"
            if twice
            else "each is on one host",
            remedy="Disconnect them from one: two hosts at a phone drive it against each other.",
        ),
    ]
