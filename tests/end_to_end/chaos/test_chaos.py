"""Real hosts under force: nothing is lost, nothing acts under an old epoch, approvals survive.

A part of each round; all of it is `python -m bench fleet --chaos`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.chaos import rounds
from tests.end_to_end.chaos.findings import Findings
from tests.end_to_end.chaos.network import namespace, why_not
from tests.store.postgres_server import PostgresServer, binaries, running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.xdist_group("chaos")]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    with running_server(is_durable=True) as one:
        yield one


def check(found: Findings) -> None:
    assert found.is_exact, found.why
    assert found.acts and found.acknowledged


async def test_killed_hosts_lose_nothing_and_approvals_survive(
    server: PostgresServer, tmp_path: Path
) -> None:
    found = await rounds.kills(server, tmp_path, times=3, phones=2)
    check(found)
    assert found.completed > 2


async def test_a_frozen_host_whose_sessions_were_taken_acts_no_more(
    server: PostgresServer, tmp_path: Path
) -> None:
    check(await rounds.freeze(server, tmp_path))


async def test_without_fences_a_frozen_host_is_caught_acting(
    server: PostgresServer, tmp_path: Path
) -> None:
    found = await rounds.freeze(server, tmp_path, is_fenced=False)
    assert found.old > 0


@pytest.mark.parametrize("moves", [False, True], ids=["and joined again", "and moved from"])
async def test_a_host_that_is_cut_off_from_the_database(tmp_path: Path, moves: bool) -> None:
    if (why := why_not()) and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip(why)
    with (
        namespace() as net,
        running_server(is_durable=True, listen_addresses=net.database) as server,
    ):
        check(await rounds.partition(server, tmp_path, net, moves=moves))


async def test_a_server_that_is_killed_under_load(tmp_path: Path) -> None:
    with running_server(is_durable=True) as server:
        check(await rounds.restarts(server, tmp_path, times=1))


async def test_hosts_whose_clocks_are_two_hours_apart(
    server: PostgresServer, tmp_path: Path
) -> None:
    if not rounds.FAKETIME.exists():
        pytest.skip("libfaketime is not installed")
    check(await rounds.freeze(server, tmp_path, clocks=(rounds.HOUR_S, -rounds.HOUR_S)))


async def test_a_full_disk_under_the_database(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a small disk takes root")
    check(await rounds.full_disk(tmp_path))


async def test_clients_that_are_killed_leave_their_sessions_at_work(
    server: PostgresServer, tmp_path: Path
) -> None:
    found = await rounds.consoles(server, tmp_path, times=2)
    check(found)
    assert found.completed == found.sessions == 4, found.why


async def test_jobs_whose_host_is_killed_at_their_time_run_once(
    server: PostgresServer, tmp_path: Path
) -> None:
    found = await rounds.ticks(server, tmp_path, times=2)
    assert found.is_exact, found.why
    # A run whose host was killed before its session began has none; it is counted all the same.
    assert found.sessions <= 2
