"""The session that a `main` job goes on in: the same one, unless a person has plans for it."""

import pytest

from agent import protocol
from agent.loop.conversation.memory import Memory
from agent.loop.task_context import TaskContext
from agent.models.model import MessageKind
from agent.records import Job, JobStatus, Session, SessionState, TimeSplit, Usage
from tests.jobs.reviewing import create, ring, runs_of, sessions_of, settled
from tests.stage import Cue, Stage, of_type, waiting_at


async def again(stage: Stage, job: Job) -> Job:
    """Have a job run once more, and give it as it then is."""
    before = len(await runs_of(stage, job.id))
    await stage.do(protocol.JobRun(job_id=job.id))
    await ring(stage, after_ms=0)

    async def over() -> Job | None:
        runs = await runs_of(stage, job.id)
        return await stage.store.job(job.id) if len(runs) > before and runs[0].ended_at else None

    return await stage.until(over, f"another run of job {job.id}")


async def test_a_main_job_goes_on_in_one_session_and_an_isolated_one_begins_anew(
    stage: Stage,
) -> None:
    async with stage.play():
        for target, sessions in (("main", 1), ("isolated", 3)):
            job = await create(stage, interval_ms=60_000, session_target=target)
            for _ in range(3):
                await again(stage, job)
            assert len(await sessions_of(stage, job.id)) == sessions
            assert {run.outcome for run in await runs_of(stage, job.id)} == {"task.finished"}
            await stage.do(protocol.JobStop(job_id=job.id))


async def test_the_same_prompt_of_a_job_is_a_new_goal_each_time_and_of_a_person_is_not() -> None:
    memory = Memory("water them")

    def goals() -> int:
        return sum(one.kind is MessageKind.GOAL for one in memory.messages)

    memory.fold(protocol.UserMessage(text="water them", message_id="m0", job_id=1))
    assert goals() == 1
    memory.fold(protocol.StepStarted(step=1))
    memory.fold(protocol.UserMessage(text="water them", message_id="m1"))
    assert goals() == 1
    memory.fold(protocol.UserMessage(text="water them", message_id="m2", job_id=1))
    memory.order("water them")
    assert goals() == 2


async def test_each_run_has_the_budget_of_a_run(stage: Stage) -> None:
    stage.set(jobs={"max_tokens": 100})

    async def part(context: TaskContext) -> str:
        step = context.session.last_step + 1
        await context.emit(
            protocol.StepStarted(step=step),
            protocol.StepCompleted(
                step=step, time=TimeSplit(), usage=Usage(calls=1, input_tokens=80)
            ),
        )
        return "watered"

    stage.parts["water them"] = part
    async with stage.play():
        job = await create(stage, interval_ms=60_000)
        await again(stage, job)
        await again(stage, job)
        [session] = await sessions_of(stage, job.id)
        extended = of_type(await stage.msgs(session.session_id), protocol.BudgetExtended)
    assert [(one.kind, one.amount) for one in extended] == [("tokens", 80)]
    assert session.budget.tokens - session.usage.input_tokens == 20


@pytest.mark.parametrize("how", ["cancelled", "deleted", "at work for a person", "long"])
async def test_a_session_that_a_person_ended_or_uses_is_left_to_them(
    stage: Stage, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cue = Cue()
    async with stage.play():
        job = await create(stage, interval_ms=60_000)
        await again(stage, job)
        [first] = await sessions_of(stage, job.id)
        if how == "deleted":
            await stage.do(protocol.SessionDelete(session_id=first.session_id))
        elif how == "long":
            monkeypatch.setattr("agent.jobs.session_start.STANDING_STEPS", 0)
        else:
            stage.parts["water them"] = waiting_at(cue)
            await stage.do(protocol.SessionResume(session_id=first.session_id))
            await cue.there()
            del stage.parts["water them"]
            stage.fleet.plug("phone-2")
        if how == "cancelled":
            await stage.do(protocol.SessionCancel(session_id=first.session_id))
            await stage.reach(first.session_id, SessionState.CANCELLED)
        after = await again(stage, job)
        newest = (await runs_of(stage, job.id))[0]
        cue.go.set()
        assert newest.session_id not in ("", first.session_id)
    assert after.status is JobStatus.ACTIVE


async def test_a_job_whose_phone_went_away_goes_on_in_a_new_session_on_another(
    stage: Stage,
) -> None:
    async with stage.play():
        job = await create(stage, interval_ms=60_000)
        await again(stage, job)
        stage.fleet.plug("phone-2")
        stage.fleet.unplug("phone-1")
        await again(stage, job)
        runs = await runs_of(stage, job.id)
        assert [run.serial for run in runs] == ["phone-2", "phone-1"]
        stage.fleet.plug("phone-1")
        await again(stage, job)
        assert (await runs_of(stage, job.id))[0].session_id == runs[0].session_id
        await settled(stage, job.id, JobStatus.ACTIVE)


async def test_a_job_for_any_phone_goes_on_where_one_is_free(stage: Stage) -> None:
    cue = Cue()
    stage.parts["stay"] = waiting_at(cue)
    async with stage.play():
        job = await create(stage, interval_ms=60_000)
        await again(stage, job)
        stage.fleet.plug("phone-2")
        await stage.do(protocol.SessionCreate(goal="stay", serial="phone-1"))
        await cue.reached.wait()
        await again(stage, job)
        [session] = await sessions_of(stage, job.id)
        assert session.serial == "phone-2"


async def test_a_job_that_waits_takes_the_first_phone_that_comes_free(stage: Stage) -> None:
    stage.fleet.plug("phone-2")
    cues = {f"stay on {serial}": (serial, Cue()) for serial in ("phone-1", "phone-2")}
    for goal, (_, cue) in cues.items():
        stage.parts[goal] = waiting_at(cue)
    for serial in ("phone-1", "phone-2"):
        stage.fleet.label(serial, name="", tags=("lab",), notes="")
    async with stage.play():
        stays = {}
        for goal, (serial, cue) in cues.items():
            stays[serial] = (
                await stage.do(protocol.SessionCreate(goal=goal, serial=serial))
            ).session_id
            await cue.reached.wait()
        job = await create(stage, tags=("lab",), interval_ms=60_000)
        await stage.do(protocol.JobRun(job_id=job.id))
        await ring(stage, after_ms=0)

        async def waiting() -> Session | None:
            return next(iter(await sessions_of(stage, job.id)), None)

        waits = await stage.until(waiting, "the session that waits")
        other = "phone-2" if waits.serial == "phone-1" else "phone-1"
        await stage.do(protocol.SessionCancel(session_id=stays[other]))

        async def done() -> bool | None:
            [run] = await runs_of(stage, job.id)
            return True if run.outcome == "task.finished" else None

        await stage.until(done, "the run to end")
        [session] = await sessions_of(stage, job.id)
        assert session.serial == other
