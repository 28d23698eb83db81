"""Hosts as processes that drain: turns end, none begin."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.records import SessionState
from tests.end_to_end.chaos.rack import Rack, rack
from tests.store.postgres_server import binaries, running_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]
HOST = "first"


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
