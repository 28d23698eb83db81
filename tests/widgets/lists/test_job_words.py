"""What is said of a job, in the console and in a shell: its phone, hours, notices and review."""

from typing import Any

import pytest
from msgspec.structs import replace

from agent.records import DeviceInfo, DeviceState, Job, JobStatus, JobType
from tests.store.conftest import make_job as plain_job
from widgets.base import formatting
from widgets.lists.job_rows import job_detail
from widgets.lists.job_words import delivery_words, pending_review, quiet, result_words, where

NOW_MS = 1_000_000_000


def make_job(job_id: int, **fields: Any) -> Job:
    return replace(plain_job(job_id), **fields)


def detail(job: Job) -> str:
    return "".join(text for text, _ in job_detail(job, NOW_MS))


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({}, "any"),
        ({"serial": "phone-1"}, "phone-1"),
        ({"app": "Clock", "tags": ["lab", "old"]}, "one with the app Clock, one tagged lab, old"),
        ({"tags": "lab", "app": "\x1b[31mred"}, "one with the app red"),
    ],
)
def test_the_phones_of_a_job_are_said(payload: dict[str, Any], said: str) -> None:
    assert where(make_job(1, payload_json=payload)) == said


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("main", "one for all runs"),
        ("isolated", "a new one for each run"),
        ("current", "the one that made the job"),
        ("session:3f2a", "3f2a"),
    ],
)
def test_the_session_of_a_jobs_runs_is_said_in_words(target: str, said: str) -> None:
    line = next(
        line
        for line in detail(make_job(1, session_target=target)).splitlines()
        if line.startswith("session")
    )
    assert line.split(maxsplit=1)[1] == said


def test_a_phone_that_is_known_is_called_as_elsewhere() -> None:
    plain = DeviceInfo(serial="10.0.0.7:5555", state=DeviceState.ONLINE)
    phones = {
        phone.serial: phone
        for phone in (
            replace(plain, name="Bench 7"),
            replace(plain, serial="127.0.0.1:29042", virtual=True),
            replace(plain, serial="127.0.0.1:29043", virtual=True),
        )
    }
    named = [make_job(1, payload_json={"serial": serial}) for serial in (*phones, "gone")]
    assert [where(job, phones) for job in named] == [
        "Bench 7",
        "virtual 29042",
        "virtual 29043",
        "gone",
    ]
    shown = "".join(text for text, _ in job_detail(named[1], NOW_MS, devices=phones))
    assert "virtual 29042" in shown
    assert "127.0.0.1" not in shown


def test_the_hours_in_which_nothing_begins_are_said() -> None:
    hours = {"quiet": {"since": "22:00", "until": "07:00"}, "timezone": "Europe/Berlin"}
    job = make_job(1, schedule_json=hours)
    assert quiet(job) == "22:00 to 07:00 Europe/Berlin"
    assert "22:00 to 07:00" in detail(job)
    assert quiet(make_job(1, schedule_json={"quiet": "at night"})) == ""


@pytest.mark.parametrize(
    ("delivery", "said"),
    [
        ({}, "a notice"),
        ({"mode": "notification", "notification_text": "It rains"}, "a notice: “It rains”"),
        ({"mode": "silent"}, "a mark in the list"),
        ({"mode": "none"}, "nothing"),
    ],
)
def test_how_a_job_is_told_of_is_said(delivery: dict[str, Any], said: str) -> None:
    assert delivery_words(make_job(1, delivery_json=delivery)) == said
    assert delivery_words(make_job(1, delivery_json=delivery, type=JobType.HEARTBEAT)) == "nothing"


def test_a_job_that_waits_for_a_review_says_what_it_asks_and_how_long() -> None:
    waiting = {
        "status": JobStatus.AWAITING_REVIEW,
        "pending_tool_request_json": {
            "summary": "May I press\x1b[2J Send?",
            "expires_at": NOW_MS + 90_000,
        },
        "checkpoint_json": {"session_id": "s1"},
    }
    job = make_job(1, **waiting)
    assert pending_review(job) == ("May I press Send?", NOW_MS + 90_000, "s1")
    assert "May I press Send?\n1:30 left, then the answer is no." in detail(job)
    assert pending_review(make_job(1, **{**waiting, "status": JobStatus.RUNNING})) is None
    assert pending_review(make_job(1, status=JobStatus.AWAITING_REVIEW)) == ("", 0, "")


@pytest.mark.parametrize(
    ("left_ms", "said"),
    [
        (41_000, "0:41"),
        (86_399_000, "23:59:59"),
        (86_400_000, "1d"),
        (9 * 86_400_000 + 15 * 3_600_000, "9d 15h"),
        (12 * 86_400_000 + 1, "12d"),
    ],
)
def test_what_is_days_away_is_counted_in_days(left_ms: int, said: str) -> None:
    assert formatting.countdown(left_ms) == said


@pytest.mark.parametrize(
    ("left_ms", "said"),
    [
        (-1, "0:00"),
        (90_000, "1:30"),
        (3_599_999, "59:59"),
        (86_399_000, "23 h"),
        (3 * 86_400_000, "3 days"),
    ],
)
def test_a_deadline_that_is_hours_away_counts_no_seconds(left_ms: int, said: str) -> None:
    assert formatting.time_left(left_ms) == said


def test_a_result_is_read_without_the_code_that_it_is_filed_under() -> None:
    said = "background.action_denied: the operator refused tap"
    assert result_words(said) == "the operator refused tap"
    assert result_words("The battery is at 80 %.") == "The battery is at 80 %."
    assert "background." not in result_words("background.confirmation_timeout: tap: not in time")


def test_why_a_job_failed_stands_right_under_its_title() -> None:
    failed = make_job(1, failure_count=1, last_run_at=1, last_result="No such app.")
    assert detail(failed).startswith(f"{failed.title}\n\nNo such app.\n\nstatus")
    reviewed = detail(replace(failed, phase="approval_executing"))
    assert "No such app." not in reviewed
    assert "approved; continues once its phone is free" in reviewed
