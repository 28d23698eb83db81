"""The rules of time, as CONTRACTS 2.2, 2.3 and 7 give them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.jobs import schedule
from agent.records import Job, JobStatus, JobType

NOW_MS = 1_000_000_000
MINUTE_MS = 60_000


def a_job(**more: object) -> Job:
    job = Job(
        id=1,
        type=JobType.AGENT_TURN,
        title="Water the plants",
        prompt="water them",
        payload_json={},
        schedule_json={"next_run_at": 0, "interval_ms": 0},
        session_target="main",
        delivery_json={"mode": "notification", "notification_text": ""},
        status=JobStatus.ACTIVE,
        created_at=1,
        updated_at=1,
        next_run_at=0,
        running_at=0,
        last_run_at=0,
        last_result="",
        failure_count=0,
        failure_alert_at=0,
    )
    return replace(job, **more)


@pytest.mark.parametrize(("failures", "minutes"), list(enumerate([1, 1, 2, 4, 8, 16, 32, 32, 32])))
def test_backoff_vectors(failures: int, minutes: int) -> None:
    assert schedule.backoff_ms(failures) == minutes * MINUTE_MS


@pytest.mark.parametrize(
    ("next_run_at", "due"), [(0, True), (NOW_MS - 1, True), (NOW_MS, True), (NOW_MS + 1, False)]
)
def test_job_due_vectors(next_run_at: int, due: bool) -> None:
    assert schedule.is_due(a_job(next_run_at=next_run_at), NOW_MS) is due


@pytest.mark.parametrize("status", [s for s in JobStatus if s is not JobStatus.ACTIVE])
def test_only_an_active_job_is_due(status: JobStatus) -> None:
    assert not schedule.is_due(a_job(status=status), NOW_MS)


@pytest.mark.parametrize(("age_ms", "stuck"), [(600_001, True), (600_000, False)])
def test_stuck_vectors(age_ms: int, stuck: bool) -> None:
    job = a_job(status=JobStatus.RUNNING, running_at=NOW_MS - age_ms)
    assert schedule.is_stuck(job, NOW_MS) is stuck


def test_recurring_with_an_interval_of_a_second_runs_next_in_fifteen() -> None:
    job = a_job(schedule_json={"interval_ms": 1000}, status=JobStatus.RUNNING)
    after = schedule.succeeded(job, "done", NOW_MS)
    assert (after.status, after.next_run_at) == (JobStatus.ACTIVE, NOW_MS + 15_000)
    assert after.schedule_json["next_run_at"] == after.next_run_at


def test_a_job_that_runs_once_completes_and_is_armed_no_more() -> None:
    after = schedule.succeeded(a_job(status=JobStatus.RUNNING, failure_count=2), "x", NOW_MS)
    assert (after.status, after.next_run_at, after.failure_count) == (JobStatus.COMPLETED, 0, 0)


def test_failures_come_later_and_later_alert_from_the_third_and_end_at_the_sixth() -> None:
    job = a_job(status=JobStatus.RUNNING)
    seen = []
    for _ in range(6):
        job = schedule.failed(job, "no signal", NOW_MS)
        seen.append((job.status, job.next_run_at, bool(job.failure_alert_at)))
    active = JobStatus.ACTIVE
    assert seen == [
        (active, NOW_MS + 1 * MINUTE_MS, False),
        (active, NOW_MS + 2 * MINUTE_MS, False),
        (active, NOW_MS + 4 * MINUTE_MS, True),
        (active, NOW_MS + 8 * MINUTE_MS, True),
        (active, NOW_MS + 16 * MINUTE_MS, True),
        (JobStatus.FAILED, 0, True),
    ]


def test_a_result_is_kept_to_four_thousand_characters() -> None:
    after = schedule.succeeded(a_job(status=JobStatus.RUNNING), "x" * 5000, NOW_MS)
    assert len(after.last_result) == 4000


@pytest.mark.parametrize(
    ("mode", "wording", "said"),
    [
        ("notification", "Plants are fine.", "Plants are fine."),
        ("notification", "", "Run finished."),
        ("silent", "Plants are fine.", ""),
        ("none", "Plants are fine.", ""),
    ],
)
def test_notification_text_vectors(mode: str, wording: str, said: str) -> None:
    job = a_job(
        delivery_json={"mode": mode, "notification_text": wording}, last_result="SECRET TRACE"
    )
    assert job.notice_text == said


@given(st.one_of(st.none(), st.integers(0, 2 * NOW_MS)), st.integers(0, NOW_MS))
def test_the_wake_rings_no_sooner_than_in_fifteen_seconds_and_never_late(
    due_ms: int | None, now_ms: int
) -> None:
    at_ms = schedule.wake_at_ms(due_ms, now_ms)
    if due_ms is None:
        assert at_ms is None
    else:
        assert at_ms == max(due_ms, now_ms + 15_000)


@given(st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=1))
def test_a_ring_is_never_put_off_by_what_is_armed_after_it(wanted: list[int | None]) -> None:
    armed = None
    for at_ms in wanted:
        armed = schedule.armed_at_ms(armed, at_ms)
    assert armed == min((at_ms for at_ms in wanted if at_ms is not None), default=None)


@pytest.mark.parametrize("interval", [None, "soon", True, -5, 0, 1.5])
def test_an_interval_that_is_none_means_once(interval: object) -> None:
    job = a_job(schedule_json={"interval_ms": interval}, status=JobStatus.RUNNING)
    assert schedule.succeeded(job, "done", NOW_MS).status is JobStatus.COMPLETED


def test_a_cron_job_is_armed_for_its_next_time_and_one_that_waits_for_an_event_for_none() -> None:
    cron = a_job(schedule_json={"cron": "0 * * * *", "timezone": "UTC"}, status=JobStatus.RUNNING)
    after = schedule.succeeded(cron, "done", NOW_MS)
    assert after.status is JobStatus.ACTIVE
    assert after.next_run_at % 3_600_000 == 0 < after.next_run_at - NOW_MS <= 3_600_000
    event = a_job(schedule_json={"on": ["device_connected"]}, status=JobStatus.RUNNING)
    assert schedule.succeeded(event, "done", NOW_MS).next_run_at == schedule.NEVER_MS


def test_a_due_time_that_passed_after_a_run_ended_and_before_that_was_stored_is_not_lost() -> None:
    cron = a_job(schedule_json={"cron": "0 * * * *", "timezone": "UTC"}, status=JobStatus.RUNNING)
    ended_ms = NOW_MS - 2 * 3_600_000
    after = schedule.succeeded(cron, "done", NOW_MS, ended_ms=ended_ms)
    assert ended_ms < after.next_run_at <= ended_ms + 3_600_000
    assert schedule.is_due(after, NOW_MS)
    set_back = schedule.succeeded(cron, "done", NOW_MS, ended_ms=NOW_MS + 7_200_000)
    assert set_back.next_run_at <= NOW_MS + 3_600_000, "a clock that was set back puts nothing off"


@pytest.mark.parametrize("status", list(JobStatus))
def test_only_an_active_or_queued_job_is_paused_and_only_a_paused_one_resumed(
    status: JobStatus,
) -> None:
    job = a_job(status=status)
    paused = schedule.paused(job, NOW_MS)
    assert (paused is not None) == (status in {JobStatus.ACTIVE, JobStatus.QUEUED})
    resumed = schedule.resumed(job, NOW_MS)
    assert (resumed is not None) == (status is JobStatus.PAUSED)


def test_a_stopped_job_is_not_run_again_and_an_ended_one_may_be() -> None:
    assert schedule.run_now(a_job(status=JobStatus.STOPPED), NOW_MS) is None
    again = schedule.run_now(a_job(status=JobStatus.COMPLETED), NOW_MS)
    assert again is not None
    assert schedule.is_due(again, NOW_MS)


def test_a_missed_time_of_a_job_that_runs_once_ends_it_where_it_may_not_be_late() -> None:
    due = NOW_MS - 60_000
    late = a_job(schedule_json={"late_by_ms": 59_000}, next_run_at=due)
    ended = schedule.missed(late, NOW_MS)
    assert ended is not None
    assert (ended.status, ended.last_result) == (JobStatus.COMPLETED, schedule.MISSED_RESULT)
    assert schedule.missed(a_job(schedule_json={}, next_run_at=due), NOW_MS) is None
