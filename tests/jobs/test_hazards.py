"""The six hazards of OpenPhone's V1 job code (CONTRACTS 2.3), each a test that it would fail."""

import asyncio
import sqlite3

import pytest
from msgspec.structs import replace

from agent.errors import StoreError, UsageError
from agent.jobs.history import new_run
from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import JobStop, NoticePosted, decode_event, encode
from agent.records import Job, JobStatus, JobType, RunOutcome
from agent.sessions.rules.answers import checked_text
from tests.jobs.reviewing import PROMPT, Act, create, ring, runs_of, settled
from tests.stage import PATIENCE_S, Cue, Stage, waiting_at

ACTIVE, RUNNING, STOPPED = JobStatus.ACTIVE, JobStatus.RUNNING, JobStatus.STOPPED
NASTY = 'a "quoted"\nline, a \\ and a tab\t, 世界 🌍 </script> {{x}} \u2028'


async def test_hazard_1_a_late_result_never_revives_a_stopped_recurring_job(stage: Stage) -> None:
    cue = Cue()
    stage.parts[PROMPT] = waiting_at(cue, then="late success")
    async with stage.play():
        job = await create(stage, interval_ms=60_000)
        await ring(stage)
        await cue.there()
        running = await stage.store.job(job.id)
        assert running is not None and running.status is RUNNING
        stopped = (await stage.do(JobStop(job_id=job.id))).job
        # The very success that was on its way comes in now.
        [run] = await runs_of(stage, job.id)
        await stage.core._job_service._runs._succeed(running, run, "late success")
        assert await stage.store.job(job.id) == stopped
        assert stopped is not None and stopped.status is STOPPED


async def test_hazard_2_changes_from_many_sides_at_once_are_all_kept(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage)
        records = stage.core._job_service._records

        def one_more(stored: Job) -> Job:
            return replace(stored, progress_current=stored.progress_current + 1)

        await asyncio.gather(*(records.change(job.id, one_more, "test") for _ in range(100)))
        after = await stage.store.job(job.id)
        assert after is not None and after.progress_current == 100


@pytest.mark.parametrize(
    ("end", "status", "outcome"),
    [
        ("review", JobStatus.AWAITING_REVIEW, None),
        ("failed", ACTIVE, RunOutcome.FAILED),
        ("steps", ACTIVE, RunOutcome.STEP_LIMIT),
    ],
)
async def test_hazard_3_only_a_goal_that_was_met_completes_a_job(
    stage: Stage, end: str, status: JobStatus, outcome: RunOutcome | None
) -> None:
    async def part(context: TaskContext) -> TurnEnd | str:
        match end:
            case "review":
                return await Act()(context)
            case "failed":
                return TurnEnd(completed=False, message="There is no such button.")
            case _:
                said = "The limit of 25 steps was reached before the goal."
                return TurnEnd(completed=False, message=said)

    stage.parts[PROMPT] = part
    async with stage.play():
        job = await create(stage)
        await ring(stage)

        async def over() -> Job | None:
            now = await stage.store.job(job.id)
            return now if now is not None and now.last_result else None

        after = await stage.until(over, "the end of the run")
        [run] = await runs_of(stage, job.id)
    assert (after.status, run.outcome) == (status, outcome)


async def test_hazard_4_the_backoff_counts_the_failures_stored_now_not_those_at_the_claim(
    stage: Stage,
) -> None:
    async with stage.play():
        job = await create(stage, job_type=JobType.HEARTBEAT)
        claimed = replace(job, status=RUNNING, running_at=stage.clock())
        assert await stage.store.replace_job(claimed, expect=ACTIVE, reason="claimed")
        meanwhile = replace(claimed, failure_count=3)
        assert await stage.store.replace_job(meanwhile, expect=RUNNING, reason="test")
        await stage.core._job_service._runs._fail(claimed, new_run(job, stage.clock()), "no signal")
        after = await settled(stage, job.id, ACTIVE)
    assert after.failure_count == 4
    assert after.next_run_at == stage.clock() + 8 * 60_000


async def test_hazard_5_a_damaged_job_is_an_error_and_never_an_empty_list(stage: Stage) -> None:
    async with stage.play():
        await create(stage)
    with sqlite3.connect(stage.directory / "switchboard.db") as database:
        database.execute("UPDATE job SET record = substr(record, 1, 40)")
    database.close()
    with pytest.raises(StoreError, match="job"):
        async with stage.play():
            await stage.store.jobs()


async def test_hazard_6_any_text_comes_back_as_it_was_written(stage: Stage) -> None:
    async with stage.play():
        job = await create(
            stage,
            prompt=NASTY,
            title=NASTY,
            notification_text=NASTY,
            payload={NASTY: NASTY},
            job_type=JobType.SYSTEM_EVENT,
        )
        await ring(stage)
        job = await settled(stage, job.id, JobStatus.COMPLETED)
        assert job.prompt == checked_text(NASTY, "x") and job.payload_json == {NASTY: NASTY}

        async def told() -> NoticePosted | None:
            posted = [e.msg for e in await stage.all_events() if isinstance(e.msg, NoticePosted)]
            return posted[-1] if posted else None

        notice = (await stage.until(told, "the notice")).notice
        assert notice.text == job.delivery_json["notification_text"] == NASTY
        for event in await stage.all_events():
            assert decode_event(encode(event)) == event


async def test_a_job_that_is_gone_when_the_wake_would_claim_it_costs_no_other_its_timer(
    stage: Stage,
) -> None:
    async with stage.play():
        wake = stage.core._job_service.scheduler
        rung: list[str] = []
        there = asyncio.Event()

        async def ring_once() -> None:
            rung.append("")
            if len(rung) == 1:
                # Armed for now, as for the other jobs.
                wake._armed_ms = 1
                raise UsageError("There is no job 1.")
            wake._armed_ms = None
            there.set()

        wake.ring = ring_once  # type: ignore[method-assign]
        running = asyncio.create_task(wake.run())
        try:
            async with asyncio.timeout(PATIENCE_S):
                await there.wait()
            assert not running.done()
        finally:
            running.cancel()
