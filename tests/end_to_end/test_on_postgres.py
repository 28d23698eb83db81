"""A core on PostgreSQL, as real processes: either is killed, and nobody reads the address."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.records import DeviceState
from tests.end_to_end.conftest import Bench
from tests.end_to_end.harness import Line, Workshop, end_all_of, wait_until
from tests.end_to_end.test_questions import GOAL, has_message
from tests.store.postgres_server import PostgresServer, binaries, running_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fleets")]
PILOT = ("--model", "pilot")
PASSWORD = "hunter2-of-the-fleet"
GONE_S = 5.0
LOADED_S = 15.0  # What a loaded machine may add.


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    with running_server(is_durable=True) as one:
        yield one


def on_postgres(shop: Workshop, server: PostgresServer) -> str:
    """Let a workshop's commands work on a database of their own; returns its name."""
    dsn = f"{server.new_database()}&password={PASSWORD}"
    shop.environment["SWITCHBOARD_STORE_DSN"] = dsn
    return dsn.removeprefix("postgresql:///").partition("?")[0]


def command_lines() -> str:
    """Return what every process of this computer was started with."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found.append((entry / "cmdline").read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(found)


def stored_events(server: PostgresServer, database: str) -> int:
    return int(server.sql("SELECT count(*) FROM switchboard.event", database=database))


def numbered(lines: list[Line]) -> list[int]:
    return [line["seq"] for line in lines]


def test_a_killed_core_goes_on_with_its_question_and_the_address_is_told_to_nobody(
    bench: Bench, server: PostgresServer
) -> None:
    bench.begin()
    database = on_postgres(bench, server)
    run = ("run", GOAL, "--device", bench.serial, "--json", *PILOT)
    with bench.running(*run, warm=False) as running:
        question = running.wait_for_type("request_user_input")["question"]
        lines = command_lines()
        assert bench.serial in lines
        assert PASSWORD not in lines
        other = bench.call("sessions", "list", SWITCHBOARD_DATA_DIR=f"{bench.data}-2")
        assert other.code == 0, other
        refused = bench.call("daemon", "run", SWITCHBOARD_DATA_DIR=f"{bench.data}-2")
        assert refused.code != 0
        assert "in use by another process" in refused.err
        running.kill()
    published = [line for line in running.seen if line]
    session_id = question["session_id"]
    bench.let_scripts_approve()
    answered = bench.call(
        "sessions", "answer", session_id, "Ben Okafor", "--answer", "Approve", "--json"
    )
    assert answered.code == 0, answered
    assert has_message(bench, "Ben Okafor")
    stored = bench.call("sessions", "show", session_id, "--events")
    assert stored.lines[: len(published)] == published
    assert numbered(stored.lines) == list(range(1, len(stored.lines) + 1))
    checked = bench.call("store", "check", "--json")
    assert checked.json["sound"], checked
    everything = [stored.out, stored.err, answered.out, answered.err, refused.err, checked.out]
    everything += running.speech
    everything += [
        path.read_text("utf-8", "replace")
        for place in (bench.data, Path(f"{bench.data}-2"))
        for path in place.rglob("*")
        if path.is_file()
    ]
    everything.append(server.sql("SELECT * FROM switchboard.event", database=database))
    everything.append((server.directory / "log").read_text("utf-8", "replace"))
    assert not any(PASSWORD in text for text in everything)
    assert not any(str(server.directory) in text for text in everything[:-1])


def test_sessions_go_on_while_the_server_is_killed_again_and_again(
    workshop: Workshop, server: PostgresServer
) -> None:
    database = on_postgres(workshop, server)
    try:
        started = workshop.call("daemon", "start", "--virtual-only", "--phones", "3")
        assert started.code == 0, started
        names = [f"errand {number}" for number in range(9)]
        with ExitStack() as stack:
            runs = [
                stack.enter_context(
                    workshop.running("run", f'write a note saying "{name}"', "--json", *PILOT)
                )
                for name in names
            ]
            for events in (40, 120, 200):
                # Under load: each kill comes once more has been done.
                wait_until(
                    lambda n=events: stored_events(server, database) >= n, f"{events} events"
                )
                server.stop(signal.SIGQUIT)
                server.start(is_durable=True)
            codes = [run.wait() for run in runs]
        assert codes == [0] * len(names), [str(run) for run in runs]
        for run in runs:
            session_id = run.seen[0]["session_id"]
            stored = workshop.call("sessions", "show", session_id, "--events").lines
            assert run.seen == stored
            assert numbered(stored) == list(range(1, len(stored) + 1))
        checked = workshop.call("store", "check", "--json")
        assert checked.json["sound"], checked
    finally:
        workshop.call("daemon", "stop", "--force")


def test_hosts_join_are_seen_and_are_missed(workshop: Workshop, server: PostgresServer) -> None:
    on_postgres(workshop, server)
    other = {"SWITCHBOARD_DATA_DIR": f"{workshop.data}-2", "SWITCHBOARD_STORE_HOST": "second"}
    try:
        assert workshop.call("fleet", "status").code != 0, "no store yet"
        started = workshop.call("daemon", "start", "--virtual-only")
        assert started.code == 0, started
        serve = ("host", "serve", "--virtual-only", "--phones", "1", "--label", "rack-3")
        with (
            workshop.running("fleet", "hosts", "--follow", "--json") as following,
            workshop.running(*serve, **other) as host,
        ):
            following.wait_for(
                lambda line: line["name"] == "second" and line["state"] == "here", "the host"
            )

            def shown() -> Line:
                found: Line = next(
                    one
                    for one in workshop.call("fleet", "hosts", "--json").json["hosts"]
                    if one["name"] == "second"
                )
                return found

            wait_until(
                lambda: [one["state"] for one in shown()["phones"]] == [DeviceState.ONLINE.value],
                "its phone is seen",
            )
            assert shown()["labels"] == ["rack-3"]
            # From a computer without a core.
            away = workshop.call(
                *("devices", "list", "--json"), SWITCHBOARD_DATA_DIR=f"{workshop.data}-4"
            )
            assert "second/" in away.out, away

            def sums() -> tuple[int, int]:
                status = workshop.call("fleet", "status", "--json").json
                return status["hosts"], status["online"]

            # On a machine that is busy, a host may be late for a moment.
            wait_until(lambda: sums() == (2, 1), "both hosts are there")
            wait_until(lambda: workshop.call("fleet", "doctor").code == 0, "all is well")
            twice = workshop.call(*serve, **{**other, "SWITCHBOARD_DATA_DIR": f"{workshop.data}-3"})
            assert twice.code != 0
            assert "in use by another process" in twice.err
            # Its process stands still, its connections stay.
            began = time.monotonic()
            host.process.send_signal(signal.SIGSTOP)
            news = {"name": "second", "state": "gone"}
            following.wait_for(lambda line: news.items() <= line.items(), "that it is gone")
            assert time.monotonic() - began < GONE_S + LOADED_S
            assert shown()["state"] == "gone"
            assert workshop.call("fleet", "doctor").code == 1
            host.process.send_signal(signal.SIGCONT)
            news["state"] = "here"
            following.wait_for(lambda line: news.items() <= line.items(), "that it is back")
            host.kill()
            wait_until(lambda: shown()["state"] == "gone", "that it was killed")
        with workshop.running(*serve, **other) as host:
            wait_until(lambda: shown()["state"] == "here", "it is there again")
            refused = workshop.call("fleet", "forget", "second")
            assert refused.code != 0
            assert "is here" in refused.err, refused
            host.process.send_signal(signal.SIGTERM)
            assert host.wait() in (0, 143), host
        assert shown()["state"] == "left"
        forgotten = workshop.call("fleet", "forget", "second")
        assert forgotten.code == 0, forgotten
        left = workshop.call("fleet", "hosts", "--json").json["hosts"]
        assert "second" not in [one["name"] for one in left]
        assert "host_forgotten" in workshop.call("audit", "show").out
        assert not any(PASSWORD in text for text in (*host.speech, *following.speech))
    finally:
        workshop.call("daemon", "stop", "--force")
        end_all_of(Path(other["SWITCHBOARD_DATA_DIR"]))


def test_operators_of_a_restored_database_are_none_and_not_everybody(
    workshop: Workshop, server: PostgresServer
) -> None:
    on_postgres(workshop, server)
    file = workshop.data.parent / "backup"
    try:
        started = workshop.call("daemon", "start", "--virtual-only")
        assert started.code == 0, started
    finally:
        workshop.call("daemon", "stop", "--force")
    assert "may do everything" in workshop.call("operators", "list").err
    added = workshop.call("operators", "add", "ana", "--may", "drive")
    assert added.code == 0, added
    assert workshop.call("store", "backup", str(file)).code == 0
    on_postgres(workshop, server)
    assert workshop.call("store", "restore", str(file)).code == 0
    listed = workshop.call("operators", "list")
    assert "operators confirm" in listed.err
    assert "may do everything" not in listed.err


@pytest.mark.parametrize("dispatcher", ["local", "dbos"])
def test_a_core_that_drains_lets_sessions_wait_and_says_which(
    workshop: Workshop, server: PostgresServer, dispatcher: str
) -> None:
    if dispatcher == "dbos":
        pytest.importorskip("dbos", reason="the extra fleet is not installed")
    on_postgres(workshop, server)
    workshop.environment["SWITCHBOARD_STORE_HOST"] = "first"
    workshop.environment["SWITCHBOARD_STORE_DISPATCHER"] = dispatcher
    run = ("run", 'write a note saying "after the drain"', "--json", *PILOT)
    try:
        started = workshop.call("daemon", "start", "--virtual-only", "--phones", "1")
        assert started.code == 0, started
        done = workshop.call(*run)
        assert done.code == 0, done
        unknown = workshop.call("fleet", "drain", "nobody")
        assert unknown.code != 0
        assert "'first'" in unknown.err
        drained = workshop.call("fleet", "drain", "first", "--wait", "--json").json
        assert drained == {"host": "first", "draining": True, "atWork": [], "waiting": []}
        with workshop.running(*run) as running:
            session_id = running.wait_for(lambda line: "session_id" in line, "begun")["session_id"]

            def waiting() -> list[str]:
                status = workshop.call("fleet", "status", "--json").json
                return [one["session"] for one in status["waiting"]]

            wait_until(lambda: waiting() == [session_id], "it waits")
            assert f"{session_id} waits: host first drains" in workshop.call("fleet", "status").out
            assert workshop.call("fleet", "resume", "first").code == 0
            assert running.wait() == 0, running
        assert waiting() == []
        shown = workshop.call("fleet", "hosts", "--json").json["hosts"]
        assert [one["draining"] for one in shown] == [False]
        log = "".join(
            one.read_text("utf-8", "replace") for one in workshop.data.rglob("*") if one.is_file()
        )
        assert PASSWORD not in log
        assert "SELECT " not in log
    finally:
        workshop.call("daemon", "stop", "--force")


def test_a_directorys_own_store_is_migrated_and_goes_on(
    workshop: Workshop, server: PostgresServer
) -> None:
    run = ("run", 'write a note saying "before the fleet"', "--virtual", "--json", *PILOT)
    done = workshop.call(*run)
    assert done.code == 0, done
    session_id = done.lines[0]["session_id"]

    def stored() -> list[Line]:
        return workshop.call("sessions", "show", session_id, "--events").lines

    before, checked = stored(), workshop.call("store", "check", "--json").json
    on_postgres(workshop, server)
    migrated = workshop.call("store", "migrate")
    assert migrated.code == 0, migrated
    assert PASSWORD not in migrated.out + migrated.err
    assert stored() == before
    after = workshop.call("store", "check", "--json").json
    assert after["sound"], after
    assert [after[of] for of in ("events", "sessions", "blobs")] == [
        checked[of] for of in ("events", "sessions", "blobs")
    ]
    unnamed = workshop.call("sessions", "list", SWITCHBOARD_STORE_DSN="")
    assert unnamed.code != 0, unnamed
    assert "--fleet or store.dsn" in unnamed.err
    found = workshop.call("sessions", "search", "before the fleet", "--json")
    assert session_id in found.out
    again = workshop.call(*run)
    assert again.code == 0, again
    assert workshop.call("sessions", "list").out.count("before the fleet") == 2
    twice = workshop.call("store", "migrate")
    assert twice.code != 0
    assert "no store" in twice.err
