"""A program for the crash tests: append until killed, and say on stdout what was acknowledged.

`python -m tests.store.appender DIRECTORY honest|early`: one line per event, `a ID` once the append
has returned and `p ID` once a subscriber saw it. `early` is the negative control, which says `a`
before the store has answered.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent.state.commit import Commit
from agent.store.embedded.sqlite_store import SqliteStore
from tests.store.conftest import session_draft, step_draft

TASKS = 16


def say(mark: str, number: int) -> None:
    os.write(1, f"{mark} {number}\n".encode())


def published(commit: Commit) -> None:
    for event in commit.events:
        say("p", event.event_id)


async def main(directory: Path, *, is_early: bool) -> None:
    queued = 0

    async def append_for_ever(name: str) -> None:
        nonlocal queued
        step = 0
        while True:
            step += 1
            if is_early:
                # Ids are given in the order of the calls, so this is the id it would get.
                queued += 1
                say("a", base + queued)
            [event] = await store.append(step_draft(name, step))
            if not is_early:
                say("a", event.event_id)

    async with SqliteStore.open(directory) as store:
        if not is_early:
            store.subscribe(published)
        base = await store.last_event_id()
        names = [f"s{base}-{number}" for number in range(TASKS)]
        await store.append(*(session_draft(name) for name in names))
        base = await store.last_event_id()
        await asyncio.gather(*(append_for_ever(name) for name in names))


if __name__ == "__main__":
    # A suite that a shell runs in the background hands down that the keyboard is not listened to.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio.run(main(Path(sys.argv[1]), is_early=sys.argv[2] == "early"))
