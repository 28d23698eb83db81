"""A core answers for the fleet's database that it works on, under each of its addresses, and for no
other.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.config import Settings, load_settings
from agent.errors import StoreError
from agent.rpc.fleet_store import fleet_store
from agent.rpc.remote_core import connect_or_none
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.store.postgres.core_store import open_core
from tests.small_core import SmallCore
from tests.store.postgres_server import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")
PASSWORD = "hunter2-of-the-fleet"


def settings(data: Path, dsn: str) -> Settings:
    return load_settings(environ={"SWITCHBOARD_DATA_DIR": str(data), "SWITCHBOARD_STORE_DSN": dsn})


def name_of(dsn: str) -> str:
    return dsn.removeprefix("postgresql:///").partition("?")[0]


@asynccontextmanager
async def core_on(dsn: str, data: Path) -> AsyncIterator[None]:
    async with open_core(dsn, "rack-1", data) as store:
        told = fleet_store(store.identity, store.database, dsn)
        async with serve(SmallCore(store), socket_path(data), fleet=told):
            yield


async def test_a_core_answers_for_its_database_under_each_of_its_addresses(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres_server.new_database()
    async with core_on(dsn, tmp_path):
        for one in ("", dsn, f"{dsn}&password={PASSWORD}"):
            client = await connect_or_none(settings(tmp_path, one))
            assert client is not None
            assert (await client.status()).pid == os.getpid()
            await client.close()


async def test_a_core_on_another_fleets_database_does_not_answer_for_the_one_that_is_named(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    own, other = (f"{postgres_server.new_database()}&password={PASSWORD}" for _ in range(2))
    async with core_on(own, tmp_path / "own"), core_on(other, tmp_path / "other"):
        with pytest.raises(StoreError) as caught:
            await connect_or_none(settings(tmp_path / "own", other))
    said = f"{caught.value.message} {caught.value.remedy}"
    for dsn in (own, other):
        assert f"{name_of(dsn)} on {postgres_server.directory}" in said
    assert "--data-dir" in said
    assert PASSWORD not in said


async def test_a_core_does_not_answer_for_a_database_that_is_empty_or_away(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres_server.new_database()
    async with core_on(dsn, tmp_path):
        with pytest.raises(StoreError, match="store none yet"):
            await connect_or_none(settings(tmp_path, postgres_server.new_database()))
        with pytest.raises(StoreError, match="it has no such database"):
            await connect_or_none(settings(tmp_path, dsn.replace("fleet_", "nowhere_")))


async def test_the_same_address_is_another_database_where_the_environment_completes_it(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"host={postgres_server.directory} user=switchboard"
    first, second = (name_of(postgres_server.new_database()) for _ in range(2))
    monkeypatch.setenv("PGDATABASE", first)
    async with core_on(place, tmp_path):
        monkeypatch.setenv("PGDATABASE", second)
        with pytest.raises(StoreError, match=f"{first} on .* names {second} on "):
            await connect_or_none(settings(tmp_path, place))
