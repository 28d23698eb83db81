"""The store: durable appends beside SQLite committing each one, replay, and lists over a long log.

`python -m bench store`. The baseline is the standard library's sqlite3 with the same pragmas and
one commit for each event; figures are of one run on this machine, so read them as ratios.
"""

import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent.protocol import ObservationRecorded, SessionConfigured
from agent.records import Bounds, Element, Foreground, Observation, Session
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore

RATE_HZ = 500
SECONDS = 4.0
SESSIONS = 20
LONG_EVENTS = 5_000
FILL_EVENTS = 100_000


def main() -> None:
    """Print the tables."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as directory:
        async with SqliteStore.open(Path(directory)) as store:
            names = [f"s{number}" for number in range(SESSIONS)]
            await store.append(*(opening_draft(name) for name in names))
            await _appends(store, names)
            await _reads(store, names)


async def _appends(store: SqliteStore, names: list[str]) -> None:
    size = len(_body(step_draft("s0", 1)))
    print(f"Durable appends of one event ({size} bytes of JSON), WAL, synchronous=FULL\n")
    print("| manner | events/s | p50 ms | p99 ms |\n|---|---|---|---|")
    baseline, times = _commit_each(store.directory / "baseline.db", 1500)
    _row("sqlite3, commit each", baseline, times)
    for producers in (1, 64):
        rate, times = await _closed_loop(store, names, producers, 1500 * min(producers, 8))
        _row(f"store, {producers} waiting callers (×{rate / baseline:.1f})", rate, times)
    rate, times = await _open_loop(store, names)
    _row(f"store, {RATE_HZ} arrivals/s", rate, times)


async def _reads(store: SqliteStore, names: list[str]) -> None:
    long = EventDraft("long", SessionConfigured(session=_session("long")))
    await store.append(long)
    await store.append(*(step_draft("long", step) for step in range(LONG_EVENTS - 1)))
    have = await store.last_event_id()
    for start in range(have, FILL_EVENTS, 1000):
        name = names[start // 1000 % SESSIONS]
        await store.append(*(step_draft(name, step) for step in range(1000)))
    total = await store.last_event_id()
    print(f"\nReads, {total:,} events in the log, warm\n\n| read | ms |\n|---|---|")
    for what, read in (
        (f"replay a session of {LONG_EVENTS:,} events", lambda: store.session_events("long")),
        ("newest 500 events", lambda: store.events(after=total - 500, limit=500)),
        (f"list {SESSIONS + 1} sessions", store.sessions),
        ("one session by prefix", lambda: store.session("lon")),
        ("open questions", store.open_questions),
        ("next due job", store.next_due_ms),
    ):
        print(f"| {what} | {await _best_ms(read):.2f} |")
    stall = await _longest_stall_ms(lambda: store.session_events("long"))
    print(f"| longest hold-up of the loop during that replay | {stall:.2f} |")
    started = time.perf_counter()
    await store.close()
    async with SqliteStore.open(store.directory):
        print(f"| close and open again | {(time.perf_counter() - started) * 1000:.1f} |")


def _commit_each(path: Path, count: int) -> tuple[float, list[float]]:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT)")
    body = _body(step_draft("s0", 1))
    times: list[float] = []
    started = time.perf_counter()
    for _ in range(count):
        begun = time.perf_counter()
        database.execute("INSERT INTO event (body) VALUES (?)", (body,))
        times.append(time.perf_counter() - begun)
    rate = count / (time.perf_counter() - started)
    database.close()
    return rate, times


async def _closed_loop(
    store: SqliteStore, names: list[str], producers: int, count: int
) -> tuple[float, list[float]]:
    times: list[float] = []

    async def produce(number: int) -> None:
        for step in range(count // producers):
            begun = time.perf_counter()
            await store.append(step_draft(names[number % SESSIONS], step))
            times.append(time.perf_counter() - begun)

    started = time.perf_counter()
    await asyncio.gather(*(produce(number) for number in range(producers)))
    return len(times) / (time.perf_counter() - started), times


async def _open_loop(store: SqliteStore, names: list[str]) -> tuple[float, list[float]]:
    """Append at random moments, as many phones would; a late loop counts as latency."""
    chance = random.Random(1)
    times: list[float] = []

    async def append(due: float, step: int) -> None:
        await store.append(step_draft(names[step % SESSIONS], step))
        times.append(time.perf_counter() - due)

    started = due = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        step = 0
        while due < started + SECONDS:
            due += chance.expovariate(RATE_HZ)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(append(due, step))
            step += 1
    return len(times) / (time.perf_counter() - started), times


async def _best_ms(read: Callable[[], Awaitable[object]]) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        await read()
        best = min(best, time.perf_counter() - started)
    return best * 1000


async def _longest_stall_ms(read: Callable[[], Awaitable[object]]) -> float:
    longest = 0.0
    reading = asyncio.ensure_future(read())
    while not reading.done():
        begun = time.perf_counter()
        await asyncio.sleep(0)
        longest = max(longest, time.perf_counter() - begun)
    await reading
    return longest * 1000


def _row(manner: str, rate: float, times: list[float]) -> None:
    cuts = statistics.quantiles(times, n=100)
    print(f"| {manner} | {rate:,.0f} | {cuts[49] * 1000:.2f} | {cuts[98] * 1000:.2f} |")


def _session(name: str) -> Session:
    return Session(session_id=name, goal="Turn on Bluetooth", created_ms=1)


def opening_draft(name: str) -> EventDraft:
    return EventDraft(name, SessionConfigured(session=_session(name)))


def step_draft(name: str, step: int, *, elements: int = 5) -> EventDraft:
    """Make an observation; with five elements it has about 1 KB."""
    listed = tuple(
        Element(
            number=number,
            key=f"com.android.settings:id/title/{number}",
            kind="button",
            label=f"Connected devices {number}",
            bounds=Bounds(left=0.1, top=0.01 * number, right=0.9, bottom=0.01 * number + 0.08),
            clickable=True,
        )
        for number in range(1, elements + 1)
    )
    observation = Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="com.android.settings"),
        elements=listed,
        fingerprint="0123456789abcdef",
    )
    return EventDraft(name, ObservationRecorded(step=step, observation=observation))


def _body(draft: EventDraft) -> str:
    from agent.protocol import encode

    return encode(draft.msg).decode()
