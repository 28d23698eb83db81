"""A store of very many jobs, made quickly: rows as the writer would leave them, and no events."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from agent.records import Job
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore

_PUT = (
    "INSERT INTO job (id, status, next_run_at, running_at, search, record) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_NEW_WORDS = "SELECT sql FROM sqlite_schema WHERE name = 'job_words_new'"


async def store_jobs(directory: Path, jobs: Iterable[Job]) -> None:
    """Put jobs into a data directory that nobody has open, which need not exist."""
    async with SqliteStore.open(directory):
        pass
    encode = msgspec.json.encode
    rows = (
        (
            job.id,
            job.status.value,
            job.next_run_at,
            job.running_at,
            f"{job.title}\n{job.prompt}\n{job.status}".casefold(),
            encode(job).decode(),
        )
        for job in jobs
    )
    with closing(sqlite3.connect(directory / DATABASE_NAME)) as database, database:
        # One index of all words at the end is made in a fraction of the time of so many small ones.
        [(trigger,)] = database.execute(_NEW_WORDS)
        database.execute("DROP TRIGGER job_words_new")
        database.executemany(_PUT, rows)
        database.execute("INSERT INTO job_words (job_words) VALUES ('rebuild')")
        database.execute(trigger)
