"""A fleet of host processes under force: nothing is lost, nothing acts under an old epoch."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.store.postgres_server import PostgresServer, running_server

pytest.importorskip("dbos", reason="the extra fleet is not installed")
from tests.store.fleet.fleet_chaos import Fleet, fleet, freeze_and_move, kill_hosts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("postgres")]


async def checked(one: Fleet) -> None:
    await one.until(one.done)
    found = await one.look()
    assert found.is_exact, found


async def test_killed_hosts_lose_nothing_and_a_second_request_changes_nothing(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres_server.new_database()
    async with fleet(dsn, tmp_path, hosts=2, sessions=4) as one:
        assert await one.send_all() == len(one.sessions)
        assert await kill_hosts(one, 3) == 3
        await checked(one)
        said = one.said.read_text(encoding="utf-8", errors="replace")
        assert str(postgres_server.directory) not in said
        assert "SELECT" not in said


async def test_a_frozen_host_whose_sessions_were_moved_acts_no_more(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    async with fleet(postgres_server.new_database(), tmp_path, hosts=2, sessions=4) as one:
        await one.send_all()
        await freeze_and_move(one)
        await checked(one)


async def test_without_the_fence_a_frozen_host_is_caught_acting(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres_server.new_database()
    async with fleet(dsn, tmp_path, hosts=2, sessions=4, is_fenced=False) as one:
        await one.send_all()
        await freeze_and_move(one)
        await one.until(one.done)
        assert (await one.look()).old > 0


async def test_sessions_go_on_after_a_server_that_was_killed(tmp_path: Path) -> None:
    with running_server(is_durable=True) as server:
        async with fleet(server.new_database(), tmp_path, hosts=2, sessions=4) as one:
            await one.send_all()
            for _ in range(2):
                before = await one.steps_stored()

                async def more(at: int = before) -> bool:
                    return await one.steps_stored() > at or await one.done()

                await one.until(more)
                server.stop(signal.SIGQUIT)
                server.start(is_durable=True)
            await checked(one)
