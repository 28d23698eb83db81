"""Ends that nobody planned: kill -9, Ctrl+C, a terminal that closes, a core that goes away."""

from __future__ import annotations

import asyncio
import signal

import pytest

from agent.config import Settings, load_settings
from agent.rpc.remote_core import Client
from agent.store.store import Store
from console.core import host
from console.core.device_setup import NO_DEVICES, Devices
from tests.end_to_end.conftest import Bench
from tests.end_to_end.harness import Line, Running, Workshop, children_of, is_alive, wait_until

PILOT = ("--model", "pilot")
NOTE = 'write a note saying "milk and eggs"'


def session_of(lines: list[Line]) -> str:
    """Return the id of the session that events are about."""
    return str(lines[0]["session_id"])


def stored(workshop: Workshop, session_id: str) -> list[Line]:
    """Read a session's stored events."""
    call = workshop.call("sessions", "show", session_id, "--events")
    assert call.code == 0, call
    return call.lines


def kinds(lines: list[Line]) -> list[str]:
    return [line["msg"]["type"] for line in lines]


def notes(workshop: Workshop) -> list[str]:
    """List the notes on the phone, title and body in one."""
    apps = workshop.call("phone", "state", "--json").json["apps"]
    found = next(app["notes"] for app in apps.values() if "notes" in app)
    return [f"{note['title']} {note['body']}" for note in found]


def act_after(running: Running, actions: int) -> None:
    """Wait until so many actions have been done."""
    for _ in range(actions):
        running.wait_for(
            lambda line: (
                line["msg"]["type"] == "tool_call_requested"
                and line["msg"].get("kind", "action") == "action"
            ),
            "an action",
        )


def no_action_is_blind(lines: list[Line]) -> bool:
    """Return whether each action follows an observation that no other action has followed."""
    has_looked = False
    for line in lines:
        msg = line["msg"]
        if msg["type"] == "observation_recorded":
            has_looked = True
        elif msg["type"] == "task_started":
            has_looked = False
        elif msg["type"] == "tool_call_requested" and msg.get("kind", "action") == "action":
            if not has_looked:
                return False
            has_looked = False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("actions", [1, 3])
def test_a_killed_session_is_resumed_to_its_end_and_loses_nothing(
    workshop: Workshop, actions: int
) -> None:
    with workshop.running("run", NOTE, "--virtual", "--json") as running:
        act_after(running, actions)
        left = children_of(running.process.pid)
        running.kill()
    published = [line for line in running.seen if line]
    session_id = session_of(published)
    resumed = workshop.call("sessions", "resume", session_id, "--json")
    assert resumed.code == 0, resumed
    assert sum("milk and eggs" in note for note in notes(workshop)) == 1
    whole = stored(workshop, session_id)
    assert whole[: len(published)] == published
    assert resumed.lines == whole[-len(resumed.lines) :]
    assert [line["seq"] for line in whole] == list(range(1, len(whole) + 1))
    assert kinds(whole).count("turn_aborted") == 1
    assert no_action_is_blind(whole)
    wait_until(lambda: not any(map(is_alive, left)), "what the killed one left has ended")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_stops_the_session_where_it_can_be_resumed(
    bench: Bench, signum: signal.Signals, code: int
) -> None:
    bench.begin()
    with bench.running("run", NOTE, "--device", bench.serial, "--json", *PILOT) as running:
        act_after(running, 2)
        running.process.send_signal(signum)
        assert running.wait() == code, running
    session_id = session_of(running.seen)
    assert f"switchboard sessions resume {session_id}" in "".join(running.speech)
    assert "Traceback" not in "".join(running.speech)
    shown = bench.call("sessions", "show", session_id, "--json").json
    assert shown["stateLabel"] == "WAITING_FOR_USER"


@pytest.mark.slow
def test_a_session_stopped_from_elsewhere_ends_its_run_and_goes_on_when_resumed(
    bench: Bench,
) -> None:
    bench.begin()
    with bench.running("run", NOTE, "--device", bench.serial, "--json", *PILOT) as running:
        act_after(running, 1)
        session_id = session_of(running.seen)
        assert bench.call("sessions", "stop", session_id[:8]).code == 0
        assert running.wait() == 130, running
    resumed = bench.call("sessions", "resume", session_id)
    assert resumed.code == 0, resumed


@pytest.mark.slow
def test_a_cancelled_session_ends_its_run(bench: Bench) -> None:
    bench.begin()
    with bench.running("run", NOTE, "--device", bench.serial, "--json", *PILOT) as running:
        act_after(running, 1)
        session_id = session_of(running.seen)
        assert bench.call("sessions", "cancel", session_id).code == 0
        assert running.wait() == 1, running
    assert bench.call("sessions", "show", session_id, "--json").json["stateLabel"] == "CANCELLED"


@pytest.mark.slow
def test_a_session_goes_on_when_the_process_that_ran_it_is_killed(bench: Bench) -> None:
    bench.begin()
    waits = ("run", 'tell Ben "hello"', "--device", bench.serial, "--json", *PILOT)
    with bench.running(*waits) as owner:
        owner.wait_for_type("request_user_input")
        # The phone is the owner's until its question is answered, so the client's session waits.
        with bench.running("run", NOTE, "--device", bench.serial, "--json", *PILOT) as client:
            client.wait_for_type("session_state_changed")
            owner.kill()
            assert client.wait() == 0, client
    assert "continuing here" in "".join(client.speech)
    assert [line["seq"] for line in client.seen] == list(range(1, len(client.seen) + 1))


@pytest.mark.slow
def test_what_a_killed_process_left_is_shown_as_interrupted_and_not_written(
    workshop: Workshop,
) -> None:
    with workshop.running("run", NOTE, "--virtual", "--json") as running:
        act_after(running, 1)
        left = children_of(running.process.pid)
        running.kill()
    session_id = session_of([line for line in running.seen if line])
    before = stored(workshop, session_id)
    listed = workshop.call("sessions", "list")
    assert "interrupted" in listed.out, listed
    assert "RUNNING" not in listed.out, listed
    assert "its process died" in workshop.call("sessions", "show", session_id).out
    assert workshop.call("sessions", "show", session_id, "--json").json["interrupted"] is True
    assert stored(workshop, session_id) == before
    # Whoever takes the session on finds and ends the adb server that the killed one left.
    assert workshop.call("sessions", "resume", session_id).code == 0
    wait_until(lambda: not any(map(is_alive, left)), "what the killed one left has ended")


@pytest.mark.slow
def test_an_ended_session_is_neither_stopped_nor_resumed_by_accident(bench: Bench) -> None:
    call = bench.call("run", "open Settings", "--device", bench.serial, "--json", *PILOT)
    assert call.code == 0, call
    session_id = session_of(call.lines)
    stopped = bench.call("sessions", "stop", session_id)
    assert (stopped.code, "already completed; nothing to stop" in stopped.err) == (4, True)
    cancelled = bench.call("sessions", "cancel", session_id)
    assert (cancelled.code, "is already completed" in cancelled.err) == (0, True)
    resumed = bench.call("sessions", "resume", session_id)
    assert (resumed.code, "--again" in resumed.err) == (2, True)
    assert len(stored(bench, session_id)) == len(call.lines)
    assert bench.call("sessions", "resume", session_id, "--again").code == 0
    continued = [
        line["msg"]
        for line in stored(bench, session_id)
        if line["msg"]["type"] == "session_continued"
    ]
    steps = [line["msg"]["step"] for line in call.lines if line["msg"]["type"] == "step_started"]
    assert [msg["after_step"] for msg in continued] == [steps[-1]]


@pytest.mark.slow
async def test_who_finds_no_owner_and_loses_the_directory_to_one_attaches_to_it(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(environ=workshop.environment)
    look, looks = host.attach, 0

    async def attach(of: Settings) -> Client | None:
        nonlocal looks
        looks += 1
        found = await look(of)
        if looks == 1:
            # The other process begins where a loser of the race would have lost.
            assert found is None
            started = await asyncio.to_thread(workshop.call, "daemon", "start", "--virtual-only")
            assert started.code == 0, started
        return found

    async def choose(_store: Store) -> Devices:
        return NO_DEVICES

    monkeypatch.setattr(host, "attach", attach)
    try:
        async with host.reach(settings, choose) as reached:
            assert not reached.owned
            assert (await reached.core.overview()).sessions == ()
        assert looks == 2
    finally:
        await asyncio.to_thread(workshop.call, "daemon", "stop", "--force")
