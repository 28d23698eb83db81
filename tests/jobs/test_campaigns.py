"""One goal for many phones: at a pace, halted by failures, once each, whatever dies."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent import protocol, records
from agent.errors import StoreError, UsageError
from agent.jobs.campaign_rules import advanced, begins, progress_of
from tests.fakes import FakeFleet
from tests.stage import Cue, Stage, waiting_at

PHONES = tuple(f"phone-{n}" for n in range(1, 7))


def job_of(status: records.JobStatus = records.JobStatus.ACTIVE) -> records.Job:
    return records.Job(
        id=1,
        type=records.JobType.CAMPAIGN,
        title="t",
        prompt="p",
        payload_json={},
        schedule_json={},
        session_target="main",
        delivery_json={},
        status=status,
        created_at=1,
        updated_at=1,
        next_run_at=0,
        running_at=0,
        last_run_at=0,
        last_result="",
        failure_count=0,
        failure_alert_at=0,
    )


def run_at(serial: str, at_ms: int, outcome: records.RunOutcome | None) -> records.RunRecord:
    return records.RunRecord(
        run_id=serial,
        job_id=1,
        due_at=at_ms,
        started_at=at_ms,
        serial=serial,
        status=records.RunStatus.RUNNING if outcome is None else records.RunStatus.ENDED,
        outcome=outcome,
        usage=records.Usage(input_tokens=1000, output_tokens=234, cost_usd=0.5),
    )


@settings(max_examples=150)
@given(
    phones=st.integers(1, 12),
    per_minute=st.sampled_from([0.0, 10.0, 60.0]),
    at_once=st.integers(0, 4),
    stop_after=st.integers(0, 3),
    steps=st.lists(
        st.tuples(st.integers(0, 9_000), st.sampled_from(["end", "fail", "wait", "pause"])),
        max_size=60,
    ),
)
def test_the_bounds_hold_in_any_order_of_things(
    phones: int, per_minute: float, at_once: int, stop_after: int, steps: list[tuple[int, str]]
) -> None:
    serials = tuple(f"p{n}" for n in range(phones))
    campaign = records.Campaign(
        phones=serials, per_minute=per_minute, at_once=at_once, stop_after=stop_after
    )
    job, runs, begun, now_ms = (job_of(), dict[str, records.RunRecord](), list[int](), 1_000_000)
    here: Mapping[str, bool] = dict.fromkeys(serials, True)
    for later_ms, what in [*steps, *[(9_000, "end")] * 3 * phones]:
        now_ms += later_ms
        working = [one for one in runs.values() if one.status is records.RunStatus.RUNNING]
        if what in ("end", "fail") and working:
            outcome = records.RunOutcome.FINISHED if what == "end" else records.RunOutcome.FAILED
            one = working[0]
            runs[one.serial] = replace(one, status=records.RunStatus.ENDED, outcome=outcome)
        if what == "pause" or job.status is records.JobStatus.PAUSED:
            status = (
                records.JobStatus.PAUSED
                if job.status is records.JobStatus.ACTIVE
                else records.JobStatus.ACTIVE
            )
            job = replace(job, status=status) if job.status.value in ("active", "paused") else job
        while (serial := begins(job, campaign, runs, here, now_ms)[0]) != "":
            assert job.status is records.JobStatus.ACTIVE
            assert serial not in runs
            before = progress_of(campaign, runs)
            assert not at_once or before.at_work < at_once
            assert not stop_after or before.failed < stop_after
            assert not per_minute or not begun or now_ms - begun[-1] >= 60_000 / per_minute
            begun.append(now_ms)
            runs[serial] = run_at(serial, now_ms, None)
        job = advanced(job, campaign, progress_of(campaign, runs), now_ms) or job
    stands = progress_of(campaign, runs)
    if job.status in {records.JobStatus.COMPLETED, records.JobStatus.FAILED}:
        assert not stands.at_work
        assert stands.left == 0 or stands.is_halted(campaign)
        assert (job.status is records.JobStatus.COMPLETED) == (stands.done == phones)
    elif job.status is records.JobStatus.ACTIVE:
        assert stands.at_work or stands.left
    assert begins(job, campaign, runs, {}, now_ms)[0] == "", "on no phone that is not there"


def test_the_sum_says_what_was_done_and_spent() -> None:
    campaign = records.Campaign(phones=("a", "b", "c", "d"))
    runs = {
        "a": run_at("a", 1, records.RunOutcome.FINISHED),
        "b": run_at("b", 2, records.RunOutcome.FAILED),
        "c": run_at("c", 3, None),
    }
    said = progress_of(campaign, runs).summary
    assert said == "1 of 4 done, 1 failed, 1 at work, 1 not started; 2,468 tokens, $1.00"


# --- on a core ----------


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet(*PHONES))


def campaign(goal: str, **given: object) -> protocol.JobCreate:
    return protocol.JobCreate(
        title=goal,
        prompt=goal,
        job_type=records.JobType.CAMPAIGN,
        campaign=records.Campaign(**given),  # type: ignore[arg-type]
    )


async def start_campaign(stage: Stage, op: protocol.JobCreate) -> int:
    job = (await stage.do(op)).job
    assert job is not None
    return job.id


async def over(stage: Stage, job_id: int, *statuses: records.JobStatus) -> records.Job:
    async def found() -> records.Job | None:
        job = await stage.store.job(job_id)
        assert job is not None
        good = job.status in (statuses or {records.JobStatus.COMPLETED, records.JobStatus.FAILED})
        return job if good and (job.last_result or statuses) else None

    return await stage.until(found, f"job {job_id} to be over")


async def counted(stage: Stage, job_id: int, part: str) -> records.Job:
    async def found() -> records.Job | None:
        job = await stage.store.job(job_id)
        assert job is not None
        return job if part in job.progress_text else None

    return await stage.until(found, f"{part!r}")


async def test_every_phone_gets_the_goal_once_and_the_sum_is_told(stage: Stage) -> None:
    async with stage.play():
        job_id = await start_campaign(stage, campaign("quick", at_once=2, account="ana"))
        job = await over(stage, job_id)
        history = (await stage.do(protocol.JobHistory(job_id=job_id, limit=200))).runs
        sessions = await stage.core.sessions()
    assert job.status is records.JobStatus.COMPLETED
    assert job.last_result == "6 of 6 done"
    assert (job.progress_current, job.progress_total) == (6, 6)
    assert sorted(run.serial for run in history) == list(PHONES)
    assert {run.outcome for run in history} == {records.RunOutcome.FINISHED}
    assert sorted(one.serial for one in sessions) == list(PHONES)
    assert {(one.account, one.job_id, one.for_job) for one in sessions} == {("ana", job_id, 0)}


async def test_failures_halt_it_and_the_rest_is_not_started(stage: Stage) -> None:
    def fails(*_: object) -> object:
        raise RuntimeError("it broke")

    stage.parts["broken"] = fails  # type: ignore[assignment]
    async with stage.play():
        job_id = await start_campaign(stage, campaign("broken", at_once=1, stop_after=2))
        job = await over(stage, job_id)
    assert job.status is records.JobStatus.FAILED
    assert job.last_result == "stopped after 2 failures: 0 of 6 done, 2 failed, 4 not started"


async def test_a_pause_begins_no_more_and_a_stop_ends_those_at_work(stage: Stage) -> None:
    cue = Cue()
    stage.parts["slow"] = waiting_at(cue)
    async with stage.play():
        job_id = await start_campaign(stage, campaign("slow", at_once=2))
        await counted(stage, job_id, "2 at work, 4 not started")
        await stage.do(protocol.JobPause(job_id=job_id))
        cue.go.set()
        await counted(stage, job_id, "2 of 6 done, 4 not started")
        paused = await stage.store.job(job_id)
        assert paused is not None
        assert paused.status is records.JobStatus.PAUSED
        cue.go.clear()
        await stage.do(protocol.JobResume(job_id=job_id))
        await counted(stage, job_id, "2 of 6 done, 2 at work, 2 not started")
        await stage.do(protocol.JobStop(job_id=job_id))
        job = await counted(stage, job_id, "2 of 6 done, 2 cancelled, 2 not started")
        assert job.status is records.JobStatus.STOPPED
        states = [one.state for one in await stage.core.sessions()]
    assert sorted(states) == sorted(
        [records.SessionState.COMPLETED] * 2 + [records.SessionState.CANCELLED] * 2
    )


async def test_a_core_that_dies_goes_on_where_it_was_and_begins_none_twice(stage: Stage) -> None:
    stage.set(recovery={"auto_resume": True, "retries": 3})
    cue = Cue()
    stage.parts["slow"] = waiting_at(cue)
    async with stage.play():
        job_id = await start_campaign(stage, campaign("slow", at_once=2))
        await counted(stage, job_id, "2 at work, 4 not started")
    cue.go.set()
    async with stage.play():
        job = await over(stage, job_id)
        sessions = await stage.core.sessions()
    assert job.last_result == "6 of 6 done"
    assert sorted(one.serial for one in sessions) == list(PHONES)


async def test_the_pace_is_kept(stage: Stage) -> None:
    stage.now_ms = 1_000_000
    async with stage.play():
        job_id = await start_campaign(stage, campaign("quick", per_minute=10))
        await counted(stage, job_id, "1 of 6 done, 5 not started")
        assert len(await stage.core.sessions()) == 1
        stage.now_ms += 6_000
        # Any news of a phone has it look at the clock.
        stage.fleet.tell(replace(stage.fleet.infos["phone-6"], name="last"))
        await counted(stage, job_id, "2 of 6 done, 4 not started")


async def test_only_the_phones_that_fit_are_meant(stage: Stage) -> None:
    for one in PHONES[:2]:
        stage.fleet.tell(replace(stage.fleet.infos[one], tags=("wall",)))
    async with stage.play():
        job_id = await start_campaign(stage, campaign("quick", needs="tag:wall"))
        assert (await over(stage, job_id)).last_result == "2 of 2 done"


async def test_a_campaign_that_cannot_be_read_holds_up_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage.play():
        store, found = stage.store, stage.store.job
        broken = await start_campaign(stage, campaign("quick", phones=PHONES[:1], per_minute=0.001))
        asked = 0

        async def job(job_id: int) -> records.Job | None:
            nonlocal asked
            if job_id == broken:
                asked += 1
                raise StoreError("The disk failed there.")
            return await found(job_id)

        monkeypatch.setattr(store, "job", job)
        other = await start_campaign(stage, campaign("quick", phones=PHONES[1:3]))
        assert (await over(stage, other)).last_result == "2 of 2 done"
        assert asked


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (campaign("quick", needs="tag:none"), "No phone with the tag none is online"),
        (campaign("quick", needs="spread"), "on every matching phone"),
        (campaign("quick", phones=("nobody",)), "nobody"),
        (campaign("quick", at_once=-1), "campaign.at_once is -1"),
        (campaign("quick", per_minute=6001.0), "campaign.per_minute is 6001"),
        (campaign("quick", max_steps=10_001), "campaign.max_steps is 10001"),
        (campaign(" "), "title is empty"),
        (
            protocol.JobCreate(title="t", prompt="p", job_type=records.JobType.CAMPAIGN),
            "contradicts campaign",
        ),
        (
            protocol.JobCreate(title="t", prompt="p", campaign=records.Campaign()),
            "contradicts campaign",
        ),
        (replace(campaign("quick"), interval_ms=60_000), "starts at once"),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_begins(
    stage: Stage, op: protocol.JobCreate, said: str
) -> None:
    async with stage.play():
        with pytest.raises(UsageError) as refused:
            await stage.do(op)
        assert said.casefold() in refused.value.message.casefold()
        assert not await stage.core.sessions()


async def test_a_campaign_is_neither_edited_nor_run_again(stage: Stage) -> None:
    async with stage.play():
        job_id = await start_campaign(stage, campaign("quick"))
        await over(stage, job_id)
        for op in (protocol.JobRun(job_id=job_id), protocol.JobEdit(job_id=job_id, prompt="other")):
            with pytest.raises(UsageError, match="is a campaign"):
                await stage.do(op)
