"""A program for the tests of upgrades: open an older store, and be killed in the middle.

`python -m tests.store.upgrader PLACE NUMBER`: it is killed (SIGKILL) when so many statements of the
upgrade were carried out. PLACE is a directory or the address of a database.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from agent.store.database import database, schema
from agent.store.embedded.sqlite_store import SqliteStore


def until(number: int, ask: Callable[..., Awaitable[Any]], steps: set[str]) -> Callable[..., Any]:
    """Return what asks a database as before, and ends the process at a step of the upgrade."""
    done = 0

    async def asking(link: object, sql: str, parameters: Sequence[Any] = ()) -> Any:
        nonlocal done
        if sql in steps:
            if done == number:
                os.kill(os.getpid(), signal.SIGKILL)
            done += 1
        return await ask(link, sql, parameters)

    return asking


async def main(place: str, number: int) -> None:
    if "://" in place:
        from agent.store.postgres import link
        from agent.store.postgres import schema as of_fleet
        from agent.store.postgres.postgres_store import PostgresStore

        steps = {sql for migration in of_fleet.MIGRATIONS for sql in migration}
        link.Link.rows = until(number, link.Link.rows, steps)  # type: ignore[method-assign]
        async with PostgresStore.open(place, "upgrader"):
            return
    steps = {sql for migration in schema.MIGRATIONS for sql in migration}
    database.Database.run = until(number, database.Database.run, steps)  # type: ignore[method-assign]
    async with SqliteStore.open(Path(place)):
        return


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
