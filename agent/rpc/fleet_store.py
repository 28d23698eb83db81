"""Check that the core of a data directory works on the fleet's database that the settings name.

A core that was started on another database would answer with that one's sessions. Invariant: what
is compared first is a digest with a key of its own for each core, so that an address, which may
hold a password, neither travels nor can be recognised; only another address is looked at in its
database.
"""

from __future__ import annotations

import hmac
import os
from hashlib import blake2b
from secrets import token_bytes

from agent.config import Settings
from agent.errors import StoreError
from agent.rpc.rpc_messages import FleetStore
from agent.store.addresses import address

_SALT_BYTES = 32


def fleet_store(store: str, database: str, dsn: str) -> FleetStore:
    """Return what a core says of its fleet's database.

    Args:
        store: the identity of the store.
        database: the names of the database and its server.
        dsn: the address that the core was started with.
    """
    salt = token_bytes(_SALT_BYTES)
    return FleetStore(store=store, database=database, salt=salt, digest=_digest(dsn, salt))


async def check_is_named(told: FleetStore, settings: Settings) -> None:
    """Refuse a core that works on another database than the settings name.

    Raises:
        StoreError: it does, or the database that is named cannot be reached.
        ConfigError: the address cannot be read.
    """
    dsn = address(settings)
    if hmac.compare_digest(told.digest, _digest(dsn, told.salt)):
        return
    from agent.store.postgres.opening import identity_at

    store, database = await identity_at(dsn)
    if store == told.store:
        return
    raise StoreError(
        f"The core of {settings.data_dir} works on the database {told.database} (store "
        f"{told.store}), and --fleet or store.dsn names {database} (store {store or 'none yet'}): "
        "only one of the two can be used.",
        "To work with this core, name its database, or leave out --fleet and unset store.dsn; to "
        "work on the other database, name another data directory (--data-dir).",
    )


def _digest(dsn: str, salt: bytes) -> bytes:
    # What libpq takes from the environment is part of the address.
    around = sorted((name, value) for name, value in os.environ.items() if name.startswith("PG"))
    return blake2b(repr((dsn, around)).encode(), key=salt).digest()
