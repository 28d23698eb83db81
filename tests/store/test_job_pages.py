"""The queue of jobs is read page by page, in one order, whatever stands between the pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.protocol import JobChanged
from agent.records import Job, JobStatus
from agent.store.embedded.job_trigrams import lookup
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.queries.job_pages import WALKS, Band, pick
from agent.store.queries.job_runs import ENDED_JOBS, OPEN_JOBS
from agent.store.queries.reader import jobs_found
from agent.store.store import EventDraft
from tests.jobs.test_schedule import a_job

STATUSES = tuple(JobStatus)
WALK_PLACES = ((1, "", 1), (0, 0, "", 1), (1, "", 1))


def stored(number: int) -> Job:
    """Make a job of any status; active ones wake in an order that is not that of their numbers."""
    status = STATUSES[number % len(STATUSES)]
    due_ms = (number * 7919) % 50 if status is JobStatus.ACTIVE else 0
    return a_job(id=number, title=f"Job {number}", status=status, next_run_at=due_ms)


async def test_every_job_is_on_one_page_in_the_order_of_the_queue(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        drafts = [EventDraft("", JobChanged(job=stored(number))) for number in range(1, 104)]
        await store.append(*drafts)
        for limit in (1, 7, 100):
            seen: list[Job] = []
            after = ""
            while True:
                page = await store.job_pages.page(limit=limit, after=after)
                seen += page.jobs
                after = page.after
                if not after:
                    break
            assert sorted(job.id for job in seen) == list(range(1, 104))
            ended = {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED}
            bands = [
                1 if job.status is JobStatus.ACTIVE else 2 if job.status in ended else 0
                for job in seen
            ]
            assert bands == sorted(bands)
            awake = [(job.next_run_at, job.id) for job in seen if job.status is JobStatus.ACTIVE]
            assert awake == sorted(awake)
            for status in (JobStatus.RUNNING, JobStatus.FAILED):
                newest_first = [job.id for job in seen if job.status is status]
                assert newest_first == sorted(newest_first, reverse=True)
        found = await store.job_pages.page(query="JOB 10", limit=3)
        assert all("Job 10" in job.title for job in found.jobs)
        for nonsense in ("x", "awake", "awake:1", f"ended:0:{1 << 70}", "ended:a:b"):
            with pytest.raises(UsageError):
                await store.job_pages.page(after=nonsense)


async def test_each_part_of_the_queue_is_found_by_an_index_of_its_own(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        for sql, index, parameters in (
            *zip(WALKS.values(), ("job_at_hand", "job_due", "job_ended"), WALK_PLACES, strict=True),
            (OPEN_JOBS, "job_open", ()),
            (ENDED_JOBS, "job_ended", (1,)),
        ):
            plan = await store._reading.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)
            told = " ".join(str(row[-1]) for row in plan)
            assert index in told
            assert "TEMP B-TREE" not in told
        ways = [one for one in map(lookup, ("abc", "ab")) if one]
        by_words = [(one, pick(band, one.found)) for one in ways for band in Band]
        by_words += [(one, jobs_found(one.found)) for one in ways]
        assert len(by_words) == 8
        for where, sql in by_words:
            places = (1,) * (sql.count("?") - len(where.parameters))
            plan = await store._reading.rows(
                f"EXPLAIN QUERY PLAN {sql}", (*where.parameters, *places)
            )
            told = " | ".join(str(row[-1]) for row in plan)
            assert "VIRTUAL TABLE INDEX" in told
            assert "SEARCH job USING INTEGER PRIMARY KEY (rowid=?)" in told
            assert "SCAN job " not in told
