"""The queue of jobs is read page by page, in one order, whatever stands between the pages."""

import pytest

from agent.errors import UsageError
from agent.protocol import JobChanged
from agent.records import Job, JobStatus
from agent.store.store import EventDraft
from tests.jobs.timing.test_schedule import a_job
from tests.store.conformance.stores import DATABASES, Opener


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def stored(number: int) -> Job:
    """Make a job of any status; active ones wake in an order that is not that of their numbers."""
    status = STATUSES[number % len(STATUSES)]
    due_ms = (number * 7919) % 50 if status is JobStatus.ACTIVE else 0
    return a_job(id=number, title=f"Job {number}", status=status, next_run_at=due_ms)


async def test_every_job_is_on_one_page_in_the_order_of_the_queue(opener: Opener) -> None:
    async with opener() as store:
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


STATUSES = tuple(JobStatus)
