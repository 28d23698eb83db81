"""Sessions on several hosts of one fleet, as real processes: asked from anywhere, killed, moved."""

import asyncio
import signal

import pytest

from agent.records import Notice
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from tests.end_to_end.harness import Workshop, wait_until
from tests.end_to_end.rack import Rack

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fleets")]
PATIENCE_S = 30.0
PILOT = ("--model", "pilot")
ASKS = 'tell Ben "I will be ten minutes late"'


async def notices_at(rack: Rack, host: str, session_id: str) -> list[Notice]:
    """Return what somebody who attaches to a host is shown of a session, once it is shown any."""
    client = await Client.connect(socket_path(rack.directory(host)))
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                shown = (await client.overview()).notices
                if found := [one for one in shown if one.session_id == session_id]:
                    return found
                await asyncio.sleep(0.1)
    finally:
        await client.close()


def test_sessions_run_on_the_host_that_has_their_phone_whoever_asks(
    rack: Rack, workshop: Workshop
) -> None:
    named = workshop.call(
        *("run", 'write a note saying "named"', "--device", rack.phone("second"), "--json", *PILOT)
    )
    assert named.code == 0, named
    session_id = named.lines[0]["session_id"]
    stored = workshop.call("sessions", "show", session_id, "--events").lines
    assert stored[0]["msg"]["session"]["host"] == "second"
    assert [line["seq"] for line in stored] == list(range(1, len(stored) + 1))
    # From one host, on the phone of the other; and on any that is free.
    across = workshop.call(
        *("run", 'write a note saying "across"', "--device", rack.phone("second"), "--json"),
        *PILOT,
        **rack.at("first"),
    )
    assert across.code == 0, across
    anywhere = workshop.call("run", 'write a note saying "free"', "--json", *PILOT)
    assert anywhere.code == 0, anywhere
    listed = workshop.call("sessions", "list", "--json", **rack.at("first"))
    assert session_id in listed.out
    assert anywhere.lines[0]["session_id"] in listed.out


def test_a_question_is_answered_across_hosts_and_a_dead_host_is_said_and_moved_from(
    rack: Rack, workshop: Workshop
) -> None:
    with workshop.running(
        "run", ASKS, "--device", rack.phone("second"), "--json", *PILOT
    ) as running:
        asked = running.wait_for_type("request_user_input")["question"]
        session_id = asked["session_id"]
        # A console that is opened at another host now is told what the phone's host shows.
        told = asyncio.run(notices_at(rack, "first", session_id))
        assert [one.question_id for one in told] == [asked["question_id"]]
        answered = workshop.call("sessions", "answer", session_id, "Ben Okafor", **rack.at("first"))
        assert answered.code == 0, answered
        approval = running.wait_for_type("request_user_input")["question"]
        rack.processes["second"].process.send_signal(signal.SIGKILL)
        wait_until(lambda: rack.hosts()["second"]["state"] == "gone", "that the host is gone")
        refused = workshop.call("sessions", "cancel", session_id, **rack.at("first"))
        assert refused.code != 0
        assert "Host second does not answer" in refused.err, refused
        status = workshop.call("fleet", "status").out
        assert "gone: second" in status
        moved = workshop.call(
            *("fleet", "move", session_id, "first", "--phone", rack.phone("first"), "--json"),
            **rack.at("first"),
        )
        assert moved.code == 0, moved
        assert not moved.json["waits"]
        wait_until(
            lambda: any(
                line["msg"]["type"] == "session_hosted" and line["msg"]["host"] == "first"
                for line in workshop.call("sessions", "show", session_id, "--events").lines
            ),
            "its new host",
        )
        workshop.let_scripts_approve()
        late = workshop.call("sessions", "answer", approval["question_id"], "Approve")
        assert late.code == 0, late
        running.kill()
    # The token is this core's: another host's core knows nothing of it.
    workshop.let_no_script_approve()
    # The host that comes back takes nothing of it up.
    rack.start("second")
    stored = workshop.call("sessions", "show", session_id, "--events").lines
    assert [line["seq"] for line in stored] == list(range(1, len(stored) + 1))
    assert [one["msg"]["host"] for one in stored if one["msg"]["type"] == "session_hosted"] == [
        "first"
    ]
    assert workshop.call("store", "check", "--json").json["sound"]


def test_a_session_is_moved_between_hosts_that_are_there(rack: Rack, workshop: Workshop) -> None:
    with workshop.running(
        "run", ASKS, "--device", rack.phone("second"), "--json", *PILOT
    ) as running:
        session_id = running.wait_for_type("request_user_input")["question"]["session_id"]
        moved = workshop.call("fleet", "move", session_id, "first", "--phone", "nowhere")
        assert moved.code == 0, moved
        assert "waits: first/nowhere is not there now" in moved.out
        again = workshop.call(
            *("fleet", "move", session_id, "first", "--phone", rack.phone("first"), "--json")
        )
        assert again.code == 0, again
        hosts = [
            line["msg"]["host"]
            for line in workshop.call("sessions", "show", session_id, "--events").lines
            if line["msg"]["type"] == "session_hosted"
        ]
        assert hosts == ["first"]
        unknown = workshop.call("fleet", "move", session_id, "nobody")
        assert unknown.code != 0
        assert "no host 'nobody'" in unknown.err
        running.kill()


def test_a_run_follows_its_queued_session_to_the_host_that_it_is_moved_to(
    rack: Rack, workshop: Workshop
) -> None:
    phone, other = rack.phone("second"), rack.phone("first")
    note = ("run", 'write a note saying "moved"', "--device", phone, "--json", *PILOT)
    with workshop.running("run", ASKS, "--device", phone, "--json", *PILOT) as has_it:
        has_it.wait_for_type("request_user_input")
        with workshop.running(*note) as waits:
            session_id = waits.wait_for_type("session_configured")["session"]["session_id"]
            waits.wait_for(lambda line: line["msg"].get("state") == "QUEUED", "that it is queued")
            moved = workshop.call("fleet", "move", session_id, "first", "--phone", other)
            assert moved.code == 0, moved
            assert waits.wait() == 0, waits
            hosted = [one["msg"] for one in waits.seen if one["msg"]["type"] == "session_hosted"]
            assert [one["host"] for one in hosted] == ["first"]
        has_it.kill()
