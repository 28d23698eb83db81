"""`switchboard phone` and the jobs that no core runs: what works without a session."""

import signal

import pytest

from support.adb import free_pair
from tests.end_to_end.harness import Running, Workshop


def ready(running: Running) -> str:
    return str(running.wait_for(lambda line: "serial" in line, "a phone")["serial"])


@pytest.mark.slow
def test_a_phone_is_served_by_one_process_and_reset_running_or_not(workshop: Workshop) -> None:
    with workshop.running("phone", "serve") as serving:
        ready(serving)
        assert workshop.call("phone", "reset").code == 0
        second = workshop.call("phone", "serve")
        assert second.code == 1
        assert "in use" in second.err
        serving.process.send_signal(signal.SIGINT)
        assert serving.wait() == 0, serving
    assert workshop.call("phone", "reset").code == 0
    assert workshop.call("phone", "state", "--json").json["bluetooth"] is False


def test_several_phones_are_served_on_ports_in_a_row(workshop: Workshop) -> None:
    port = free_pair()
    with workshop.running("phone", "serve", "--count", "2", "--port", str(port)) as serving:
        assert [ready(serving), ready(serving)] == [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"]
        assert workshop.call("phone", "state", "virtual-2", "--json").json["name"] == "virtual-2"
        assert workshop.call("phone", "state", "virtual-3").code == 2


def test_there_is_no_state_of_a_phone_that_never_was(workshop: Workshop) -> None:
    call = workshop.call("phone", "state")
    assert call.code == 2
    assert "switchboard phone serve" in call.err


@pytest.mark.slow
def test_jobs_are_kept_listed_and_stopped_without_a_core(workshop: Workshop) -> None:
    made = workshop.call(
        *("jobs", "create", "open Messages", "--every", "1h", "--in", "10m"),
        *("--title", "Look", "--notice", "Looked.", "--json"),
    )
    assert made.code == 0, made
    job = made.json
    assert (job["title"], job["status"]) == ("Look", "active")
    assert job["schedule_json"]["interval_ms"] == 3_600_000
    assert job["delivery_json"] == {"mode": "notification", "notification_text": "Looked."}
    assert 590_000 < job["next_run_at"] - job["created_at"] <= 600_000
    (listed,) = workshop.call("jobs", "list", "--query", "LOOK", "--json").json["data"]
    assert listed == job
    assert workshop.call("jobs", "list", "--query", "nothing", "--json").json["data"] == []
    assert workshop.call("jobs", "stop", str(job["id"])).code == 0
    (stopped,) = workshop.call("jobs", "list", "--json").json["data"]
    assert (stopped["status"], stopped["next_run_at"]) == ("stopped", 0)
    assert workshop.call("jobs", "stop", "99").code == 2


@pytest.mark.parametrize(
    "words", [("--every", "often"), ("--in", "5m", "--at", "18:30"), ("--at", "2001-01-01T00:00")]
)
def test_a_time_that_cannot_be_understood_is_refused(
    workshop: Workshop, words: tuple[str, ...]
) -> None:
    call = workshop.call("jobs", "create", "open Messages", *words)
    assert call.code == 2, call
    assert not workshop.data.exists()


def test_an_empty_store_says_what_to_do_next(workshop: Workshop) -> None:
    sessions = workshop.call("sessions", "list")
    assert (sessions.code, sessions.out) == (0, "")
    assert "switchboard run" in sessions.err
    assert workshop.call("sessions", "list", "--json").json == {"data": []}
    assert "switchboard jobs create" in workshop.call("jobs", "list").err
