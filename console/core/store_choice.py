"""Which store a core works on: the data directory's own, or a database that the settings name.

Not a store. Invariants: the database's address goes nowhere but to the store itself; without one
nothing of a fleet is imported.
"""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config import Settings
from agent.errors import ConfigError
from agent.extras import install
from agent.settings import DispatcherKind
from agent.store.addresses import address, has_password, read_address
from agent.store.dispatch.dispatcher import Dispatcher
from agent.store.dispatch.gate import Gate
from agent.store.dispatch.local_dispatcher import LocalDispatcher
from agent.store.store import Store

if TYPE_CHECKING:
    from agent.store.postgres.bucket import Bucket
    from agent.store.postgres.postgres_store import PostgresStore


def open_store(settings: Settings) -> AbstractAsyncContextManager[Store]:
    """Own the store that the settings name, for the length of a `with` block.

    Raises:
        StoreError: see `SqliteStore.open` and `agent.store.postgres.core_store.open_core`.
        ConfigError: the address cannot be read, or the extra is not installed.
    """
    if not settings.store.dsn:
        from agent.store.embedded.sqlite_store import SqliteStore

        return SqliteStore.open(settings.data_dir)
    dsn = address(settings)
    from agent.store.postgres.core_store import open_core

    return open_core(dsn, host_name(settings), settings.data_dir, bucket=bucket(settings))


@asynccontextmanager
async def open_fleet(settings: Settings) -> AsyncIterator[tuple[PostgresStore, bool]]:
    """Own a data directory and be this computer's host in the fleet that the settings name.

    Returns:
        The store, and whether this process is a guest: another process is this computer's host.

    Raises: see `open_store`.
    """
    from agent.store.postgres.core_store import open_core, open_guest
    from agent.store.postgres.opening import HostInUseError

    dsn, host, blobs = address(settings), host_name(settings), bucket(settings)
    async with AsyncExitStack() as stack:
        try:
            core = open_core(dsn, host, settings.data_dir, bucket=blobs)
            store = await stack.enter_async_context(core)
        except HostInUseError:
            guest = open_guest(dsn, host, settings.data_dir, bucket=blobs)
            yield await stack.enter_async_context(guest), True
        else:
            yield store, False


def open_stored(settings: Settings) -> AbstractAsyncContextManager[Store]:
    """Read the store that the settings name, which is left as it is.

    Raises: see `open_store`.
    """
    if not settings.store.dsn:
        from agent.store.embedded.sqlite_store import SqliteStore

        return SqliteStore.open(settings.data_dir, may_only_read=True)
    dsn = address(settings)
    from agent.store.postgres.core_store import open_stored

    return open_stored(dsn, settings.data_dir, bucket=bucket(settings))


def dispatcher(store: Store, settings: Settings, gate: Gate) -> Dispatcher:
    """Make what hands sessions their phones, while the gate is open.

    Raises:
        ConfigError: it needs a database, or the extra is not installed.
    """
    if settings.store.dispatcher is DispatcherKind.LOCAL:
        return LocalDispatcher(store, gate=gate)
    if not settings.store.dsn:
        raise ConfigError(
            "store.dispatcher is dbos, but no database is set.",
            "Name one by store.dsn, or set store.dispatcher to local.",
        )
    if importlib.util.find_spec("dbos") is None:
        raise ConfigError("store.dispatcher is dbos, which is not installed.", install("fleet"))
    from agent.store.postgres.dbos_dispatcher import DbosDispatcher

    return DbosDispatcher(store, address(settings), gate=gate)


def own_version() -> str:
    from importlib.metadata import version

    return version("switchboard-console")


def host_name(settings: Settings) -> str:
    """Return the name of this computer among those that use the database."""
    return settings.store.host or platform.node() or "localhost"


def bucket(settings: Settings) -> Bucket | None:
    """Return the bucket that the settings name; None where pictures are in the database.

    Raises ConfigError.
    """
    if not settings.store.blobs:
        return None
    if not settings.store.dsn:
        raise ConfigError(
            "store.blobs names a bucket, but no database is set.",
            "Name one by store.dsn, or leave store.blobs empty to store pictures as files.",
        )
    if importlib.util.find_spec("fsspec") is None:
        raise ConfigError("store.blobs needs fsspec, which is not installed.", install("fleet"))
    url = read_address(settings, settings.store.blobs, "store.blobs", "s3://BUCKET/PREFIX")
    from agent.store.postgres.bucket import Bucket

    return Bucket(url)


def said_on_the_line(fleet: str | None) -> str | None:
    """Return what `--fleet` says as the settings take it.

    Raises:
        ConfigError: it holds a password, which every user of this computer could read.
    """
    if not fleet:
        return None
    if fleet.startswith("@"):
        return f"@{Path(fleet[1:]).expanduser().absolute()}"
    if has_password(fleet):
        raise ConfigError(
            "--fleet contains a password, which every user of this computer can read there.",
            "Write the address into a file that only you can read and pass --fleet @FILE, or set "
            "SWITCHBOARD_STORE_DSN.",
        )
    return fleet
