"""A program for the crash tests of a fleet: a host that appends until it is killed.

`python -m tests.store.postgres_appender DSN HOST honest|early`: what each event says, on a line of
stdout, once its append has returned. `early` is the negative control, which says it before.
"""

import asyncio
import os
import sys

from agent.errors import StoreError
from agent.protocol import AgentMessage
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft
from tests.store.conftest import session_draft

TASKS = 8


async def main(dsn: str, host: str, *, is_early: bool) -> None:
    async def append_for_ever(store: PostgresStore, name: str) -> None:
        step = 0
        while True:
            step += 1
            said = f"{name} {step}"
            if is_early:
                os.write(1, f"{said}\n".encode())
            await store.append(EventDraft(name, AgentMessage(step=step, text=said)))
            if not is_early:
                os.write(1, f"{said}\n".encode())

    while True:
        try:
            async with PostgresStore.open(dsn, host) as store:
                names = [f"{host}-{store.epoch}-{number}" for number in range(TASKS)]
                await store.append(*(session_draft(name) for name in names))
                await asyncio.gather(*(append_for_ever(store, name) for name in names))
        except StoreError as error:
            # The server may take a moment to notice that a killed host's connection is gone.
            if "in use" not in error.message:
                raise
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], is_early=sys.argv[3] == "early"))
