"""Jobs at work: created, claimed, run in the background, retried, stopped, and never revived."""

import pytest
from msgspec.structs import replace

from agent import protocol, records, wake_timer
from agent.errors import ModelError, UsageError
from agent.jobs.history import new_run
from agent.jobs.schedule import NEVER_MS, STUCK_AFTER_MS
from agent.loop.task_context import TaskContext, TurnEnd
from tests.jobs.reviewing import create, ring, sessions_of, settled
from tests.stage import Cue, Stage, of_type, waiting_at

ACTIVE, RUNNING, STOPPED = (
    records.JobStatus.ACTIVE,
    records.JobStatus.RUNNING,
    records.JobStatus.STOPPED,
)
COMPLETED, FAILED = records.JobStatus.COMPLETED, records.JobStatus.FAILED


async def test_a_job_runs_in_a_background_session_with_the_limits_of_a_job(stage: Stage) -> None:
    seen: list[tuple[bool, int, float]] = []

    async def part(context: TaskContext) -> str:
        limits = context.limits
        seen.append((context.background, limits.max_steps, limits.deadline_s))
        return "watered"

    stage.parts["water them"] = part
    async with stage.play():
        job = await create(stage)
        assert (job.id, job.status, job.next_run_at) == (1, ACTIVE, 1_000_015_000)
        await ring(stage)
        job = await settled(stage, job.id, COMPLETED)
        [session] = await sessions_of(stage, job.id)
    assert seen == [(True, 25, 300.0)]
    assert job.last_result == "watered" and session.state is records.SessionState.COMPLETED


async def test_a_job_that_is_not_due_stays_asleep(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage)
        await ring(stage, after_ms=14_999)
        assert await stage.store.job(job.id) == job


async def test_a_clock_that_is_set_forward_is_noticed_by_the_next_look(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wake_timer.LONGEST_SLEEP_S <= 15.0
    monkeypatch.setattr(wake_timer, "LONGEST_SLEEP_S", 0.01)
    stage.parts["water them"] = waiting_at(cue := Cue())
    cue.go.set()
    async with stage.play():
        assert stage.now_ms is not None
        job = await create(stage, next_run_at=stage.now_ms + 86_400_000)
        # Nobody rings: the timer slept for a day, by the clock as it was.
        stage.now_ms += 86_400_000
        assert (await settled(stage, job.id, COMPLETED)).last_result


async def test_of_five_due_jobs_three_start_and_the_next_ring_is_in_fifteen_seconds(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["water them"] = waiting_at(cue)
    async with stage.play():
        for _ in range(5):
            await create(stage)
        await ring(stage)
        started = [job.id for job in await stage.store.jobs() if job.status is RUNNING]
        assert sorted(started) == [1, 2, 3]
        assert stage.core._job_service.scheduler.armed_ms == stage.now_ms + 15_000
        cue.go.set()


async def test_a_heartbeat_and_a_system_event_complete_without_a_session(stage: Stage) -> None:
    async with stage.play():
        for kind, result in (
            (records.JobType.HEARTBEAT, "heartbeat"),
            (records.JobType.SYSTEM_EVENT, "system_event_recorded"),
        ):
            job = await create(stage, prompt="", job_type=kind)
            await ring(stage)
            assert (await settled(stage, job.id, COMPLETED)).last_result == result
        assert await stage.store.sessions() == ()


@pytest.mark.parametrize(("target", "sessions"), [("main", 1), ("isolated", 2)])
async def test_a_failed_run_comes_again_later_in_its_standing_session_or_in_a_new_one(
    stage: Stage, target: str, sessions: int
) -> None:
    ends = [TurnEnd(completed=False, message="no signal"), TurnEnd(completed=True, message="ok")]

    async def part(context: TaskContext) -> TurnEnd:
        return ends.pop(0)

    stage.parts["water them"] = part
    async with stage.play():
        job = await create(stage, session_target=target)
        await ring(stage)
        failed = await settled(stage, job.id, ACTIVE)
        assert (failed.last_result, failed.failure_count) == ("no signal", 1)
        assert failed.next_run_at == stage.clock() + 60_000
        await ring(stage, after_ms=60_000)
        await settled(stage, job.id, COMPLETED)
        assert len(await sessions_of(stage, job.id)) == sessions


async def test_what_could_go_on_later_in_the_foreground_is_a_failure_in_the_background(
    stage: Stage,
) -> None:
    async def part(context: TaskContext) -> str:
        raise ModelError("Busy.", retryable=True)

    stage.parts["water them"] = part
    async with stage.play():
        job = await create(stage)
        await ring(stage)
        failed = await settled(stage, job.id, ACTIVE)
        [session] = await sessions_of(stage, job.id)
    assert failed.last_result == "Busy." and session.state is records.SessionState.FAILED


async def test_stop_while_running_stays_stopped_and_ends_the_session(stage: Stage) -> None:
    cue = Cue()
    stage.parts["water them"] = waiting_at(cue)
    async with stage.play():
        job = await create(stage, interval_ms=60_000)
        await ring(stage)
        await cue.there()
        stopped = (await stage.do(protocol.JobStop(job_id=job.id))).job
        assert stopped is not None and (stopped.status, stopped.next_run_at) == (STOPPED, 0)
        [session] = await sessions_of(stage, job.id)
        assert session.state is records.SessionState.CANCELLED
        assert (await stage.do(protocol.JobStop(job_id=job.id))).job == stopped
        await ring(stage, after_ms=3_600_000)
        assert await stage.store.job(job.id) == stopped


async def test_a_late_success_of_a_stopped_job_changes_nothing(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage, interval_ms=60_000, job_type=records.JobType.HEARTBEAT)
        running = replace(job, status=RUNNING, running_at=stage.clock())
        assert await stage.store.replace_job(running, expect=ACTIVE, reason="claimed")
        stopped = (await stage.do(protocol.JobStop(job_id=job.id))).job
        await stage.core._job_service._runs.run(running, new_run(job, stage.clock()))
        assert await stage.store.job(job.id) == stopped


async def test_a_late_result_of_an_earlier_claim_does_not_end_the_later_one(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage, job_type=records.JobType.HEARTBEAT)
        earlier = replace(job, status=RUNNING, running_at=stage.clock() - 1)
        later = replace(job, status=RUNNING, running_at=stage.clock())
        assert await stage.store.replace_job(later, expect=ACTIVE, reason="claimed")
        await stage.core._job_service._runs.run(earlier, new_run(job, stage.clock()))
        assert await stage.store.job(job.id) == later


async def test_a_run_that_takes_too_long_is_repaired_and_its_session_ends(stage: Stage) -> None:
    cue = Cue()
    stage.parts["water them"] = waiting_at(cue)
    async with stage.play():
        job = await create(stage)
        await ring(stage)
        await cue.there()
        await ring(stage, after_ms=STUCK_AFTER_MS)
        assert (await stage.store.job(job.id)).status is RUNNING  # type: ignore[union-attr]
        await ring(stage, after_ms=1)
        job = await settled(stage, job.id, ACTIVE)
        [session] = await sessions_of(stage, job.id)
    assert (job.last_result, job.failure_count) == ("stuck_running_repaired", 1)
    assert session.state is records.SessionState.CANCELLED


async def test_a_job_that_ran_when_the_core_died_comes_again_and_its_session_has_ended(
    stage: Stage,
) -> None:
    cue = Cue()
    stage.parts["water them"] = waiting_at(cue)
    async with stage.play():
        job = await create(stage)
        await ring(stage)
        await cue.there()
    async with stage.play():
        job = await settled(stage, job.id, ACTIVE)
        [session] = await sessions_of(stage, job.id)
        assert session.state is records.SessionState.FAILED
        assert job.failure_count == 1 and job.next_run_at == stage.clock() + 60_000


async def test_the_timer_rings_by_itself(stage: Stage) -> None:
    stage.now_ms = None
    async with stage.play():
        await create(stage, prompt="water them")
    async with stage.play():
        # A start is a wake: what became due while nobody ran runs at once.
        job = await create(stage, prompt="now")
        due = replace(job, next_run_at=stage.clock() - 1)
        assert await stage.store.replace_job(due, expect=ACTIVE, reason="test")
    async with stage.play():
        await settled(stage, job.id, COMPLETED)


async def test_a_job_goes_on_in_the_session_it_names(stage: Stage) -> None:
    async with stage.play():
        session_id = await stage.create("tidy up")
        await stage.reach(session_id, records.SessionState.COMPLETED)
        job = await create(stage, session_target=f"session:{session_id}")
        await ring(stage)
        job = await settled(stage, job.id, COMPLETED)
        session = await stage.store.session(session_id)
    assert job.last_result == "done: water them"
    assert session.generation == 1


async def test_a_stopped_session_that_a_job_takes_on_says_that_it_was_the_job(stage: Stage) -> None:
    cue = Cue()
    stage.parts["tidy up"] = waiting_at(cue)
    async with stage.play():
        session_id = await stage.create("tidy up")
        await cue.there()
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.reach(session_id, records.SessionState.WAITING_FOR_USER)
        cue.go.set()
        job = await create(stage, session_target=f"session:{session_id}")
        await ring(stage)
        await settled(stage, job.id, COMPLETED)
        continued = of_type(await stage.msgs(session_id), protocol.SessionContinued)
    assert [one.reason for one in continued] == [f"taken on by job {job.id}"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": " "},
        {"prompt": ""},
        {"delivery_mode": "shout"},
        {"session_target": "current"},
        {"session_target": "session:"},
        {"session_target": "session:nope"},
        {"serial": "nowhere"},
        {"interval_ms": -1},
        {"next_run_at": 1 << 60},
        {"on": (records.Trigger.MANUAL,), "interval_ms": 60_000},
        {"on": (records.Trigger.MANUAL, records.Trigger.CONSOLE_START)},
        {"on": (records.Trigger.MANUAL,), "next_run_at": 2_000_000_000},
        {"payload": {"call": {"tool": "click_element", "arguments": {"element": 1}}}},
    ],
)
async def test_a_job_that_could_not_run_is_refused(stage: Stage, wrong: dict[str, object]) -> None:
    async with stage.play():
        with pytest.raises(UsageError):
            await create(stage, **{"prompt": "water them", **wrong})
        assert await stage.store.jobs() == ()


async def test_what_is_stored_of_a_job_is_clean_and_once(stage: Stage) -> None:
    async with stage.play():
        job = await create(
            stage, title="a\x1b[31mb\n c", tags=("lab", "lab"), cron=" 0  9 *\n* * ", timezone="UTC"
        )
    assert (job.title, job.payload_json) == ("ab c", {"tags": ["lab"]})
    assert job.schedule_json["cron"] == "0 9 * * *"


async def test_jobs_are_listed_newest_first_and_an_unknown_one_cannot_be_stopped(
    stage: Stage,
) -> None:
    async with stage.play():
        for title in ("Milk", "Eggs"):
            await create(stage, title=title)
        jobs = (await stage.do(protocol.JobList())).jobs
        assert [job.title for job in jobs] == ["Eggs", "Milk"]
        assert [job.title for job in (await stage.do(protocol.JobList(query="MIL"))).jobs] == [
            "Milk"
        ]
        with pytest.raises(UsageError):
            await stage.do(protocol.JobStop(job_id=99))
        with pytest.raises(UsageError):
            await stage.do(protocol.JobList(limit=51))
        changes = [
            e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.JobChanged)
        ]
    assert [change.job.title for change in changes] == ["Milk", "Eggs"]


async def test_a_paused_job_sleeps_until_it_is_resumed(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage)
        await stage.do(protocol.JobPause(job_id=job.id))
        await ring(stage)
        assert (await stage.store.job(job.id)).status is records.JobStatus.PAUSED
        with pytest.raises(UsageError, match="no job 99"):
            await stage.do(protocol.JobPause(job_id=99))
        await stage.do(protocol.JobResume(job_id=job.id))
        await ring(stage, after_ms=0)
        await settled(stage, job.id, COMPLETED)


async def test_a_job_is_run_at_once_when_the_operator_says_so(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage, on=(records.Trigger.MANUAL,))
        await ring(stage, after_ms=90_000_000)
        assert (await stage.store.job(job.id)).status is ACTIVE
        await stage.do(protocol.JobRun(job_id=job.id))

        async def there() -> records.Job | None:
            now = await stage.store.job(job.id)
            return now if now is not None and now.last_result else None

        ran = await stage.until(there, "the run")
    assert (ran.status, ran.next_run_at) == (ACTIVE, NEVER_MS)


async def test_a_job_waits_for_a_phone_to_be_plugged_in(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage, on=(records.Trigger.DEVICE_CONNECTED,))
        await ring(stage)
        assert (await stage.store.job(job.id)).last_result == ""
        stage.fleet.unplug("phone-1")

        async def gone() -> bool | None:
            told = [event.msg for event in await stage.all_events()]
            devices = [msg.device for msg in told if isinstance(msg, protocol.DeviceChanged)]
            return devices[-1].state is records.DeviceState.GONE or None

        await stage.until(gone, "the phone to be gone")
        stage.fleet.plug("phone-1")

        async def due() -> records.Job | None:
            now = await stage.store.job(job.id)
            return now if now is not None and now.next_run_at <= stage.clock() else None

        await stage.until(due, "the job to be due")
        await ring(stage, after_ms=0)

        async def ran() -> records.Job | None:
            now = await stage.store.job(job.id)
            return now if now is not None and now.last_result else None

        assert (await stage.until(ran, "the run")).next_run_at == NEVER_MS


async def test_a_run_reads_its_session_at_most_twice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    async with stage.play():
        events = stage.store.session_events

        async def counted(session_id: str, **more: int) -> tuple[protocol.Event, ...]:
            read.append(session_id)
            return await events(session_id, **more)

        job = await create(stage)
        monkeypatch.setattr(stage.store, "session_events", counted)
        await ring(stage)
        await settled(stage, job.id, COMPLETED)
    # Where its turn begins, and where it is settled.
    assert len(read) == 2
