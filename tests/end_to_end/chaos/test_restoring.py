"""A fleet that loses its database goes on from last night's backup, on all its hosts."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from agent.records import SessionState
from tests.end_to_end.chaos.rack import Rack, rack
from tests.store.postgres_server import binaries, running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("chaos")]
HOSTS = ("first", "second")


async def start_all(one: Rack) -> None:
    await asyncio.gather(*(one.start(name, phones=1) for name in HOSTS))


async def test_a_backup_of_several_hosts_is_restored_and_each_goes_on_with_its_own(
    tmp_path: Path,
) -> None:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    with running_server() as server:
        async with rack(server, tmp_path) as one:
            for name in HOSTS:
                await one.serve_phones(name, 1)
            await start_all(one)
            asked = {
                name: await one.begin_message(name, one.phones[name][0], f"late, says {name}")
                for name in HOSTS
            }
            file = str(tmp_path / "night.backup")
            await one.call("first", "store", "backup", file)
            # What came after the backup is lost with the database.
            (_, question) = asked["first"]
            await one.answer("first", question, "Deny")
            await one.until(lambda: one.state(asked["first"][0]) != "WAITING_FOR_USER", "its end")
            for name in HOSTS:
                one.signal(name, signal.SIGTERM)
                assert await one.hosts[name].wait() == 0
            one.dsn = server.new_database()
            await one.call("first", "store", "restore", file)
            refused = await one.run_as("first", one.serving("first"))
            assert await refused.wait() != 0
            assert "older copy" in one.said("first") and "store adopt" in one.said("first")
            for name in HOSTS:
                await one.call(name, "store", "adopt")
            await start_all(one)
            for name, (session_id, question) in asked.items():
                assert one.state(session_id) == SessionState.WAITING_FOR_USER
                await one.answer(name, question)
                await one.until(
                    lambda at=session_id: one.state(at) == SessionState.COMPLETED,  # type: ignore[misc]
                    f"the end of what {name} asked",
                )
            doctor = await one.call("second", "fleet", "doctor")
            assert "FAIL" not in doctor, doctor
