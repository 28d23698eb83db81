"""A console of a measured fleet, as a process: follows every event and notes how late each is.

`python -m bench.fleets._console DSN_FILE NAME` follows the log in the database; without arguments
it is a client of the core that the environment names. `ready` on stdout says that it follows;
SIGTERM ends it, and then stdout has the milliseconds from stored to seen, a JSON list, of the steps
of sessions.
"""

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from agent.config import load_settings
from agent.protocol import Event, StepStarted
from agent.rpc.remote_core import connect_or_none
from agent.store.postgres.postgres_store import PostgresStore

Follow = Callable[[Iterable[Event]], None]


async def main(dsn: str = "", name: str = "") -> None:
    """Follow a database, or a core where none is named, until SIGTERM."""
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    late_ms: list[float] = []

    def follow(events: Iterable[Event]) -> None:
        now_ms = time.time() * 1000
        late_ms.extend(now_ms - one.ts_ms for one in events if isinstance(one.msg, StepStarted))

    async with _of_database(dsn, name, follow) if dsn else _of_core(follow):
        print("ready", flush=True)
        await ending.wait()
    print(json.dumps([round(one, 1) for one in late_ms]), flush=True)


@asynccontextmanager
async def _of_database(dsn: str, name: str, follow: Follow) -> AsyncIterator[None]:
    async with PostgresStore.open(dsn, name) as store:
        store.subscribe(lambda commit: follow(commit.events))
        yield


@asynccontextmanager
async def _of_core(follow: Follow) -> AsyncIterator[None]:
    client = await connect_or_none(load_settings(), name="console")
    if client is None:
        sys.exit("No core runs in SWITCHBOARD_DATA_DIR.")

    async def read(events: AsyncIterator[Event]) -> None:
        async for event in events:
            follow((event,))

    try:
        async with client.events() as events:
            reading = asyncio.create_task(read(events))
            yield
            reading.cancel()
            await asyncio.wait((reading,))
    finally:
        await client.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case [file, name]:
            asyncio.run(main(Path(file).read_text(encoding="utf-8").strip(), name))
        case _:
            asyncio.run(main())
