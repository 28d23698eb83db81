"""A core in a process of its own that says each match it has stored: to be killed by a test.

`python -m tests.watchers.firing DIRECTORY`; it ends when no watcher is active any more.
"""

import asyncio
import sys
from pathlib import Path

from agent.protocol import WatcherChanged
from agent.state.commit import Commit
from tests.fakes import FakeFleet
from tests.stage import Stage


async def fire(directory: Path) -> None:
    """Run until every watcher has fired."""
    stage = Stage(directory, FakeFleet("phone-1"))

    def tell(commit: Commit) -> None:
        for event in commit.events:
            if isinstance(event.msg, WatcherChanged) and event.msg.reason == "matched":
                sys.stdout.write(f"{event.msg.watcher.id}\n")
                sys.stdout.flush()

    async with stage.play():
        stage.store.subscribe(tell)

        async def done() -> bool | None:
            live = await stage.store.watches.watchers(limit=1000, live_only=True)
            return None if any(one.status.value == "active" for one in live) else True

        await stage.until(done, "every watcher to fire")


if __name__ == "__main__":
    asyncio.run(fire(Path(sys.argv[1])))
