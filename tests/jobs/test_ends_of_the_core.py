"""A core that ends between the end of a session and that of its job: nothing is done twice."""

import asyncio

import pytest

from agent.jobs import runs
from agent.jobs.job_service import JobService
from agent.jobs.reviews import Reviews
from agent.jobs.runs import Runs
from agent.records import Job, JobStatus, RunOutcome, RunRecord, Session, SessionState
from agent.sessions.registry.live_session import LiveSession
from tests.jobs.reviewing import create, ring, runs_of, sessions_of, settled
from tests.stage import Stage

COMPLETED = JobStatus.COMPLETED


async def a_completed_session(stage: Stage, job_id: int) -> Session | None:
    sessions = await sessions_of(stage, job_id)
    return next((one for one in sessions if one.state is SessionState.COMPLETED), None)


async def test_a_run_whose_goal_was_met_when_the_core_died_does_not_come_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    stage.parts["water them"] = lambda _: asyncio.sleep(0, "all watered")
    with monkeypatch.context() as dying:
        dying.setattr(Runs, "settle", never)
        dying.setattr(runs, "_STORING_S", 0.01)
        async with stage.play():
            job = await create(stage)
            await ring(stage)
            await stage.until(lambda: a_completed_session(stage, job.id), "the session to end")
    async with stage.play():
        job = await settled(stage, job.id, COMPLETED)
        [run] = await runs_of(stage, job.id)
        assert (job.last_result, job.failure_count) == ("all watered", 0)
        assert run.outcome is RunOutcome.FINISHED
        await ring(stage, after_ms=3_600_000)
        assert len(await sessions_of(stage, job.id)) == 1


async def test_a_core_that_closes_lets_a_run_store_what_it_came_to(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing, ended = asyncio.Event(), asyncio.Event()
    settle, finish = Runs.settle, JobService.finish
    left: list[int] = []

    async def late(self: Runs, job: Job, run: RunRecord, live: LiveSession) -> None:
        ended.set()
        await closing.wait()
        await settle(self, job, run, live)

    async def closes(self: JobService) -> None:
        closing.set()
        await finish(self)

    async def take_back(_: Reviews, job: Job) -> bool:
        left.append(job.id)
        return False

    monkeypatch.setattr(Runs, "settle", late)
    monkeypatch.setattr(JobService, "finish", closes)
    monkeypatch.setattr(Reviews, "take_back", take_back)
    monkeypatch.setattr(runs, "_STORING_S", 30.0)
    stage.parts["water them"] = lambda _: asyncio.sleep(0, "all watered")
    async with stage.play():
        job = await create(stage)
        await ring(stage)
        async with asyncio.timeout(30):
            await ended.wait()
    async with stage.play():
        job = await settled(stage, job.id, COMPLETED)
        assert (job.last_result, left) == ("all watered", [])
