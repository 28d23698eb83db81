"""What is due at one wake is claimed in one commit, from the records as they then are."""

import asyncio

from msgspec.structs import replace

from agent.jobs.schedule import claimed, is_due
from agent.protocol import JobChanged, JobsDropped, RunChanged
from agent.records import Job, JobStatus
from agent.state.commit import Commit
from agent.store.store import EventDraft
from tests.jobs.reviewing import create, ring
from tests.stage import PATIENCE_S, Stage


def bump(job: Job) -> Job:
    return replace(job, progress_current=job.progress_current + 1)


async def test_the_claims_of_one_wake_share_one_commit_each_run_before_its_job(
    stage: Stage,
) -> None:
    async with stage.play():
        made = [await create(stage) for _ in range(4)]
        commits: list[Commit] = []
        stage.store.subscribe(commits.append)
        await ring(stage)
        claims = [
            [event.msg for event in commit.events if isinstance(event.msg, JobChanged | RunChanged)]
            for commit in commits
            if any(getattr(event.msg, "reason", "") == "claimed" for event in commit.events)
        ]
        msgs = claims[0]
        told = [
            (type(msg), msg.job.id if isinstance(msg, JobChanged) else msg.run.job_id)
            for msg in msgs[:6]
        ]
        first = [job.id for job in made[:3]]
        assert told == [(kind, key) for key in first for kind in (RunChanged, JobChanged)]


async def test_a_job_that_is_gone_or_changed_meanwhile_is_passed_over(stage: Stage) -> None:
    async with stage.play():
        gone, changed, due = [await create(stage) for _ in range(3)]
        await stage.store.append(EventDraft("", JobsDropped(job_ids=(gone.id,))))
        paused = replace(changed, status=JobStatus.PAUSED)
        await stage.store.append(EventDraft("", JobChanged(job=paused, reason="test")))
        now_ms = due.next_run_at
        taken = await stage.core._job_service._records.change_together(
            [gone.id, changed.id, due.id],
            lambda stored: claimed(stored, now_ms) if is_due(stored, now_ms) else None,
            "claimed",
            beside=lambda before, after: [],
        )
        assert [(job.id, job.status) for job in taken] == [(due.id, JobStatus.RUNNING)]
        assert await stage.store.job(changed.id) == paused


async def test_changes_of_the_same_jobs_in_any_order_neither_lose_nor_block_each_other(
    stage: Stage,
) -> None:
    async with stage.play():
        ids = [(await create(stage)).id for _ in range(3)]
        records = stage.core._job_service._records
        orders = [ids, ids[::-1], [ids[1], ids[0], ids[2]]] * 5
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(
                *(records.change_together(o, bump, "test", beside=lambda *_: []) for o in orders),
                *(records.change(one, bump, "test") for one in ids),
            )
        after = [await stage.store.job(one) for one in ids]
        assert [job and job.progress_current for job in after] == [len(orders) + 1] * 3
