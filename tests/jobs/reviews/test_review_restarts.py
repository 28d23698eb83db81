"""Reviews over the end of a core: the question stays, what was approved is never done twice."""

from msgspec.structs import replace

from agent.loop.task_context import TaskContext
from agent.protocol import JobRun
from agent.records import JobStatus, RunOutcome, SessionState
from tests.jobs.reviewing import (
    PROMPT,
    Act,
    create,
    ring,
    runs_of,
    say,
    sessions_of,
    settled,
    waiting_job,
)
from tests.stage import Cue, Stage

ACTIVE, STOPPED, FAILED = JobStatus.ACTIVE, JobStatus.STOPPED, JobStatus.FAILED
AWAITING, COMPLETED = JobStatus.AWAITING_REVIEW, JobStatus.COMPLETED


async def test_what_was_approved_when_the_core_died_is_not_done_again(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    cue = Cue()

    async def on_the_way(_context: TaskContext) -> None:
        await cue.wait()

    act.before_it = on_the_way
    async with stage.play():
        job, question = await waiting_job(stage, interval_ms=60_000)
        await say(stage, question, "Approve")
        await cue.there()
        assert (await settled(stage, job.id, JobStatus.WAITING)).phase == "approval_executing"
    act.before_it = None
    async with stage.play():
        job = await settled(stage, job.id, FAILED)
        assert job.phase == "review_resolution_unknown"
        assert "nobody knows whether it was done" in job.last_result
        await ring(stage, after_ms=3_600_000)
        assert await stage.store.job(job.id) == job
        [session] = await sessions_of(stage, job.id)
        [run] = await runs_of(stage, job.id)
        assert (session.state, run.outcome) == (SessionState.FAILED, RunOutcome.UNKNOWN)
        assert act.done == []
        # A person may start it over, which asks anew.
        await stage.do(JobRun(job_id=job.id))
        await ring(stage, after_ms=0)
        await settled(stage, job.id, AWAITING)
    assert act.done == []


async def test_what_was_approved_and_had_not_begun_when_the_core_ended_is_said_so(
    stage: Stage,
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        stage.fleet.unplug("phone-1")
        await say(stage, question, "Approve")
        await settled(stage, job.id, JobStatus.WAITING)
    stage.fleet.plug("phone-1")
    async with stage.play():
        job = await settled(stage, job.id, FAILED)
        [run] = await runs_of(stage, job.id)
    assert job.phase == "review_resolution_unknown"
    assert "before it began; it was not done" in job.last_result
    assert (run.outcome, run.diagnostics) == (
        RunOutcome.UNKNOWN,
        "The core ended before it went on.",
    )
    assert act.done == []


async def test_a_review_outlives_the_core_that_asked(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
    async with stage.play():
        assert (await stage.store.job(job.id)).status is AWAITING  # type: ignore[union-attr]
        await say(stage, question, "Approve")
        job = await settled(stage, job.id, COMPLETED)
    assert act.done == ["c1"]


async def test_a_job_whose_review_was_asked_just_before_the_core_died_waits_for_it(
    stage: Stage,
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        # The session's end was stored, the job's record not yet.
        running = replace(
            job, status=JobStatus.RUNNING, running_at=stage.clock(), checkpoint_json={}
        )
        assert await stage.store.replace_job(running, expect=AWAITING, reason="test")
    async with stage.play():
        again = await settled(stage, job.id, AWAITING)
        assert again.pending_confirmation_id == job.pending_confirmation_id
        await say(stage, question, "Approve")
        await settled(stage, job.id, COMPLETED)
    assert act.done == ["c1"]


async def test_a_job_that_died_in_a_persons_session_never_goes_on_as_the_person(
    stage: Stage,
) -> None:
    cue = Cue()
    background: list[bool] = []

    async def part(context: TaskContext) -> str:
        background.append(context.background)
        if len(background) == 2:
            await cue.wait()
        return "tidied"

    stage.parts["tidy up"] = part
    stage.set(recovery={"auto_resume": True, "retries": 3})
    async with stage.play():
        session_id = await stage.create("tidy up")
        await stage.reach(session_id, SessionState.COMPLETED)
        job = await create(stage, session_target=f"session:{session_id}")
        await ring(stage)
        await cue.there()
    async with stage.play():
        await settled(stage, job.id, ACTIVE)
        session = await stage.store.session(session_id)
        assert session.state is SessionState.FAILED
    assert background == [False, True]
