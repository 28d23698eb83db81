"""`switchboard run` from the outside: real processes, a real adb server, a phone over adb."""

import pytest

from agent.protocol import SessionStateChanged, decode_event
from tests.end_to_end.conftest import Bench
from tests.end_to_end.harness import Call, Workshop, children_of, is_alive, wait_until

PILOT = ("--model", "pilot")


def session_of(call: Call) -> str:
    """Return the id of the session that a call's events are about."""
    return str(call.lines[0]["session_id"])


def test_turning_on_bluetooth_on_a_virtual_phone_turns_it_on(workshop: Workshop) -> None:
    call = workshop.call("run", "open Settings and turn on Bluetooth", "--virtual", "--json")
    assert call.code == 0, call
    events = [decode_event(line) for line in call.out.splitlines()]
    states = [e.msg.state.value for e in events if isinstance(e.msg, SessionStateChanged)]
    assert states[-1] == "COMPLETED"
    assert workshop.call("phone", "state", "--json").json["bluetooth"] is True


def test_a_run_leaves_no_process_behind(workshop: Workshop) -> None:
    started: set[int] = set()
    with workshop.running("run", "open Settings", "--virtual", "--json") as running:
        running.wait_for_type("observation_recorded")
        started = children_of(running.process.pid)
        assert started, "the phone and its adb server run beside it"
        assert running.wait() == 0, running
    wait_until(lambda: not any(map(is_alive, started)), "its children have ended")


def test_a_note_is_left_with_exactly_that_text(bench: Bench) -> None:
    call = bench.call(
        "run", 'write a note saying "milk and eggs"', "--device", bench.serial, *PILOT
    )
    assert call.code == 0, call
    assert "milk and eggs" in str(bench.call("phone", "state", "--json").json["apps"])


def test_a_goal_that_cannot_be_met_fails_and_says_why(bench: Bench) -> None:
    call = bench.call(
        "run", "order a pizza in the PizzaNow app", "--device", bench.serial, "--json", *PILOT
    )
    assert call.code == 1, call
    shown = bench.call("sessions", "show", session_of(call), "--json").json
    assert shown["stateLabel"] == "FAILED"
    assert "izza" in shown["latestError"], shown["latestError"]
    assert shown["latestResult"] is None


def test_what_is_on_stdout_is_what_is_stored(bench: Bench) -> None:
    call = bench.call("run", "open Settings", "--device", bench.serial, "--json", *PILOT)
    assert call.code == 0, call
    stored = bench.call("sessions", "show", session_of(call), "--events")
    assert stored.out.splitlines() == call.out.splitlines()


def test_without_json_stdout_carries_the_result_alone(bench: Bench) -> None:
    call = bench.call("run", "open Settings", "--device", bench.serial, "--quiet", *PILOT)
    assert call.code == 0, call
    assert len(call.out.splitlines()) == 1
    assert call.err == ""


def test_too_few_steps_fail_instead_of_pretending(bench: Bench) -> None:
    call = bench.call(
        "run",
        'write a note saying "never finished"',
        "--device",
        bench.serial,
        "--max-steps",
        "1",
        *PILOT,
    )
    assert call.code == 1, call


def test_an_unknown_serial_is_refused_and_the_known_ones_are_named(bench: Bench) -> None:
    call = bench.call("run", "open Settings", "--device", "nobody:1")
    assert call.code == 2, call
    assert "nobody:1" in call.err
    assert bench.serial in call.err
    assert call.out == ""


def test_the_devices_are_listed_with_what_they_are(bench: Bench) -> None:
    (info,) = bench.call("devices", "--json").json["data"]
    assert (info["serial"], info["state"], info["virtual"]) == (bench.serial, "device", True)
    assert (info["width_px"], info["height_px"]) == (1080, 2400)
    assert bench.serial in bench.call("devices").out


@pytest.mark.slow
def test_doctor_finds_the_phone(bench: Bench) -> None:
    call = bench.call("doctor", "--json")
    assert call.code == 0, call
    checks = {check["name"]: check for check in call.json["checks"]}
    assert checks[f"device {bench.serial}"]["ok"]
    assert checks["adb server"]["ok"]


@pytest.mark.slow
def test_a_second_process_works_in_the_core_of_the_first(bench: Bench) -> None:
    with bench.running("run", "open Settings", "--device", bench.serial, "--json", *PILOT) as first:
        first.wait_for_type("session_configured")
        second = bench.call("run", "open Notes", "--device", bench.serial, "--json", *PILOT)
        assert second.code == 0, second
        assert first.wait() == 0, first
    listed = bench.call("sessions", "list", "--json").json["data"]
    assert session_of(second) in {session["sessionId"] for session in listed}
    store = next(c for c in bench.call("doctor", "--json").json["checks"] if c["name"] == "store")
    assert "pictures 0.00 GB (kept for 14 days, up to 10 GB)" in store["detail"]
