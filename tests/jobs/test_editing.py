"""A job that waits is changed: what it does, when, and how often; one that does not wait is not."""

import pytest

from agent.errors import UsageError
from agent.jobs.editing import checked_edit, edited
from agent.jobs.schedule import NEVER_MS
from agent.protocol import JobEdit
from agent.records import JobStatus, QuietHours
from tests.jobs.timing.test_schedule import a_job

NOW = 1_000_000_000


def test_what_is_not_said_stays_as_it_is() -> None:
    job = a_job(schedule_json={"interval_ms": 60_000, "next_run_at": 5, "mine": 1}, next_run_at=5)
    changed = edited(job, checked_edit(JobEdit(job_id=job.id, prompt="look again")), NOW)
    assert changed is not None
    assert (changed.prompt, changed.title, changed.next_run_at) == ("look again", job.title, 5)
    assert changed.schedule_json == job.schedule_json


def test_an_interval_takes_the_place_of_a_cron_expression_and_back() -> None:
    job = a_job(schedule_json={"interval_ms": 0, "cron": "0 9 * * *", "next_run_at": 5, "mine": 1})
    often = edited(job, JobEdit(job_id=1, interval_ms=60_000), NOW)
    assert often is not None
    assert often.next_run_at == NOW + 60_000
    assert "cron" not in often.schedule_json
    assert often.schedule_json["mine"] == 1
    daily = edited(often, JobEdit(job_id=1, cron="0 9 * * *"), NOW)
    assert daily is not None
    assert (daily.schedule_json["cron"], daily.schedule_json["interval_ms"]) == ("0 9 * * *", 0)
    assert daily.next_run_at > NOW


def test_an_interval_is_fifteen_seconds_at_the_least() -> None:
    changed = edited(a_job(), JobEdit(job_id=1, interval_ms=1), NOW)
    assert changed is not None
    assert changed.schedule_json["interval_ms"] == 15_000


def test_the_next_time_is_taken_as_it_is_said() -> None:
    changed = edited(a_job(), JobEdit(job_id=1, next_run_at=NOW + 5), NOW)
    assert changed is not None
    assert (changed.next_run_at, changed.schedule_json["next_run_at"]) == (NOW + 5, NOW + 5)


@pytest.mark.parametrize(
    "status", [s for s in JobStatus if s not in {JobStatus.ACTIVE, JobStatus.PAUSED}]
)
def test_a_job_that_does_not_wait_for_its_time_is_not_changed(status: JobStatus) -> None:
    assert edited(a_job(status=status), JobEdit(job_id=1, title="x"), NOW) is None


@pytest.mark.parametrize(
    "op",
    [
        JobEdit(job_id=1, title=" "),
        JobEdit(job_id=1, prompt=""),
        JobEdit(job_id=1, interval_ms=-1),
        JobEdit(job_id=1, next_run_at=253_402_300_800_000),
        JobEdit(job_id=1, delivery_mode="loud"),
        JobEdit(job_id=1, notification_text="x" * 401),
        JobEdit(job_id=1, quiet=QuietHours(since="1:00", until="02:00"), without_quiet=True),
    ],
)
def test_a_change_that_cannot_be_used_is_refused(op: JobEdit) -> None:
    with pytest.raises(UsageError):
        checked_edit(op)


def test_a_cron_expression_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="cron"):
        edited(a_job(), JobEdit(job_id=1, cron="often"), NOW)


def test_a_job_that_gets_a_time_runs_no_longer_only_when_it_is_told_to() -> None:
    manual = a_job(schedule_json={"on": ["manual"], "next_run_at": NEVER_MS})
    changed = edited(manual, JobEdit(job_id=1, interval_ms=60_000), NOW)
    assert changed is not None
    assert "manual" not in changed.schedule_json.get("on", ())
    assert changed.next_run_at == NOW + 60_000


def test_how_it_is_told_of_is_changed_and_what_others_keep_there_stays() -> None:
    job = a_job(delivery_json={"mode": "notification", "notification_text": "hey", "mine": 1})
    op = checked_edit(JobEdit(job_id=1, delivery_mode="silent", notification_text=""))
    changed = edited(job, op, NOW)
    assert changed is not None
    assert changed.delivery_json == {"mode": "silent", "notification_text": "", "mine": 1}


def test_quiet_hours_put_off_what_falls_into_them_and_are_taken_away_again() -> None:
    # 1970-01-12 at 13:46:40 in UTC.
    job = a_job(schedule_json={"interval_ms": 60_000, "next_run_at": NOW}, next_run_at=NOW)
    quiet = QuietHours(since="13:00", until="14:00")
    calm = edited(job, checked_edit(JobEdit(job_id=1, quiet=quiet, timezone="UTC")), NOW)
    assert calm is not None
    assert calm.next_run_at == calm.schedule_json["next_run_at"] == NOW + 800_000
    assert calm.schedule_json["quiet"] == {"since": "13:00", "until": "14:00"}
    loud = edited(calm, checked_edit(JobEdit(job_id=1, without_quiet=True, timezone="")), NOW)
    assert loud is not None
    assert loud.schedule_json == {"interval_ms": 60_000, "next_run_at": NOW + 800_000}


def test_a_zone_or_quiet_hours_that_are_none_are_refused_by_name() -> None:
    for op, named in (
        (JobEdit(job_id=1, timezone="Mars"), "timezone"),
        (JobEdit(job_id=1, quiet=QuietHours(since="soon", until="later")), "quiet hours"),
    ):
        with pytest.raises(UsageError, match=named):
            edited(a_job(), checked_edit(op), NOW)
