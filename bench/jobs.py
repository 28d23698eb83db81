"""Durable jobs when very many are stored: what the wake costs, and what listing them does.

`python -m bench jobs`. The real core and its SQLite store with 100,000 jobs
(SWITCHBOARD_BENCH_JOBS); what a claimed job starts is left out, and the search index has caught up.
A claim is a durable commit, so a commit of one event alone is measured beside it, and so is one of
sqlite3 by itself, in turn with them and as durable, which is the disk's share: what is above that
is ours.
"""

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from agent.jobs.job_scheduler import JobScheduler
from agent.jobs.runs import Runs
from agent.models.pilot import Pilot
from agent.protocol import JobChanged, WarningEvent
from agent.records import Job, JobStatus, JobType, RunRecord
from agent.runtime.runtime import Runtime
from agent.settings import Settings
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from agent.tasks.regular import RegularTask
from tests.fakes import FakeFleet

JOBS = int(os.environ.get("SWITCHBOARD_BENCH_JOBS", "100000"))
DUE = 3
ROUNDS = 200
_LATER_MS = 10_000_000_000_000
_BATCH = 2000


class _NotRun(Runs):
    """Claims are measured, not what they start."""

    def __init__(self) -> None:
        pass

    async def run(self, job: Job, record: RunRecord) -> None:
        return None


def main() -> None:
    """Print the table."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        settings = Settings(data_dir=directory, config_file=directory / "config.toml")
        async with SqliteStore.open(directory) as store:
            for first in range(1, JOBS + 1, _BATCH):
                await store.append(
                    *(_changed(_job(n)) for n in range(first, min(first + _BATCH, JOBS + 1)))
                )
        async with SqliteStore.open(directory) as store:
            core = await Runtime.spawn(
                settings,
                store=store,
                fleet=FakeFleet(),
                models=lambda _session: Pilot(),
                task=RegularTask,
                wake_jobs=False,
            )
            try:
                job_service = core._job_service
                runs = _NotRun()
                wake = JobScheduler(core._parts, job_service._records, runs, job_service.reviews)
                await _tables(store, wake)
            finally:
                await core.close()


async def _tables(store: SqliteStore, wake: JobScheduler) -> None:
    print(f"{JOBS:,} jobs stored\n\n| what | p50 ms | p95 ms | target, median |\n|---|---|---|---|")
    await wake.ring()
    while store.searching.indexed_id < await store.last_event_id():  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    plain: list[float] = []
    commits: list[float] = []
    claims: list[float] = []
    arming: list[float] = []
    with closing(_plain_database(store.directory)) as database:
        for round_ in range(ROUNDS):
            plain.append(_plain_commit(database))
            commits.append(await _took(lambda: _commit(store)))
            chosen = [_job(1 + (round_ * DUE + n) * 7 % JOBS) for n in range(DUE)]
            await store.append(*(_changed(replace(job, next_run_at=1)) for job in chosen))
            claims.append(await _took(wake.ring))
            assert len(await store.stale_jobs(_LATER_MS * 2)) == DUE, "the wake claims what is due"
            await store.append(*(_changed(job) for job in chosen))
            arming.append(await _took(store.next_due_ms))
    _row("sqlite3 by itself: one row, committed and synced", plain, "")
    _row("one durable commit, an event alone", commits, "")
    _row(f"a wake that claims {DUE} due jobs", claims, "< 1")
    _row("a wake with nothing due", [await _took(wake.ring) for _ in range(ROUNDS)], "< 0.1")
    _row("arming the next", arming, "< 0.1")
    _row("a list's page", [await _took(store.jobs) for _ in range(20)], "")
    for what, query in (
        ("for what one job has", f"job {JOBS // 2}"),
        ("for what every job has", "invoice"),
        ("for what none has", "zebra"),
        ("for two characters that none has", "zz"),
    ):
        taken = [await _took(partial(store.job_pages.page, query=query)) for _ in range(20)]
        _row(f"a page of the queue, searched {what}", taken, "")


def _plain_database(directory: Path) -> sqlite3.Connection:
    """Open a file beside the store's, with the store's pragmas, and without a thread or a loop."""
    database = sqlite3.connect(directory / "plain.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, body TEXT)")
    return database


def _plain_commit(database: sqlite3.Connection) -> float:
    """Return the milliseconds that a commit of one row took."""
    began = time.perf_counter()
    database.execute("INSERT INTO row (body) VALUES (?)", ("x" * 700,))
    return (time.perf_counter() - began) * 1000


async def _commit(store: SqliteStore) -> None:
    await store.append(EventDraft("", WarningEvent(message="a commit")))


async def _took(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def _row(what: str, taken_ms: list[float], target: str) -> None:
    p95 = statistics.quantiles(taken_ms, n=20)[18]
    print(f"| {what} | {statistics.median(taken_ms):.3f} | {p95:.3f} | {target} |", flush=True)


def _changed(job: Job) -> EventDraft:
    return EventDraft("", JobChanged(job=job, reason="bench"))


def _job(number: int) -> Job:
    return Job(
        id=number,
        type=JobType.AGENT_TURN,
        title=f"Job {number}",
        prompt="Look whether the invoice has come",
        payload_json={},
        schedule_json={"every_ms": 86_400_000},
        session_target="main",
        delivery_json={},
        status=JobStatus.ACTIVE,
        created_at=1,
        updated_at=1,
        next_run_at=_LATER_MS + number * 1000,
        running_at=0,
        last_run_at=0,
        last_result="",
        failure_count=0,
        failure_alert_at=0,
    )
