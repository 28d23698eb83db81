"""Hosts as processes that drain, and hosts of several versions beside each other."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.records import SessionState
from tests.end_to_end.chaos.rack import Rack, rack
from tests.store.postgres_server import binaries, running_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chaos")]
HOST = "first"
OF_ANOTHER_VERSION = """
import sys
from console.core import store_choice
version = sys.argv.pop(1)
store_choice.own_version = lambda: version
from console.cli import main
main()
"""


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Rack]:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    with running_server() as server:
        async with rack(server, tmp_path) as made:
            yield made


async def test_a_host_that_drains_ends_its_turns_and_begins_none_until_it_is_resumed(
    one: Rack,
) -> None:
    await one.serve_phones(HOST, 1)
    await one.start(HOST, phones=1)
    serial = one.phones[HOST][0]
    at_work = await one.begin_notes(HOST, serial, "at work", 3)
    await one.more_acts()
    assert (await one.call(HOST, "fleet", "drain", HOST)).startswith(f"{HOST} drains: ")
    comes = await one.begin_notes(HOST, serial, "comes", 1)
    await one.until(lambda: one.state(at_work) == SessionState.COMPLETED, "the end of the turn")
    await one.call(HOST, "fleet", "drain", HOST, "--wait")
    assert f"{comes} waits: host {HOST} drains" in await one.call(HOST, "fleet", "status")
    # It lasts over a restart.
    acts = one.acts()
    await one.kill(HOST)
    await one.start(HOST, phones=1)
    await one.call(HOST, "fleet", "drain", HOST, "--wait")
    assert (one.state(comes), one.acts()) == (SessionState.QUEUED, acts)
    await one.call(HOST, "fleet", "resume", HOST)
    await one.until(lambda: one.state(comes) == SessionState.COMPLETED, "that it goes on")
    found = await one.look()
    assert found.is_exact, found.why


async def test_hosts_within_one_minor_version_join_and_others_are_told_what_to_do(
    one: Rack,
) -> None:
    def of(version: str) -> tuple[str, ...]:
        serve = ("host", "serve", "--virtual-only")
        return (sys.executable, "-c", OF_ANOTHER_VERSION, version, *serve)

    await one.run_as("old", of("1.3.7"))
    await one.until(lambda: one.is_here("old"), "the older host")
    await one.run_as("new", of("1.4.0"))
    await one.until(lambda: one.is_here("new"), "the newer host")
    late = await one.run_as("late", of("1.5.0"))
    assert await late.wait() != 0
    said = one.said("late")
    assert "Host 'old' has Switchboard 1.3.7, and this one has 1.5.0" in said
    assert "end host 'old' first" in said
    await one.kill("old")
    await one.until(lambda: not one.is_here("old"), "that the older host is gone")
    await one.run_as("late", of("1.5.0"))
    await one.until(lambda: one.is_here("late"), "the newest host")
