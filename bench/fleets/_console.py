"""A console of a measured fleet, as a process: follows every event and notes how late each is.

`python -m bench._fleet_console DSN_FILE NAME`. `ready` on stdout says that it follows; SIGTERM ends
it, and then stdout has the milliseconds from stored to seen, a JSON list, of the steps of sessions.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from pathlib import Path

from agent.protocol import StepStarted
from agent.state.commit import Commit
from agent.store.postgres.postgres_store import PostgresStore


async def main(dsn: str, name: str) -> None:
    """Follow until SIGTERM."""
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    late_ms: list[float] = []

    def follow(commit: Commit) -> None:
        now_ms = time.time() * 1000
        late_ms.extend(
            now_ms - event.ts_ms for event in commit.events if isinstance(event.msg, StepStarted)
        )

    async with PostgresStore.open(dsn, name) as store:
        store.subscribe(follow)
        print("ready", flush=True)
        await ending.wait()
    print(json.dumps([round(one, 1) for one in late_ms]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_text(encoding="utf-8").strip(), sys.argv[2]))
