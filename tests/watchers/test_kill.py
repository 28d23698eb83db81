"""A core that is killed between matches loses none of them and repeats none."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

from agent.protocol import JobChanged, WatcherCreate
from agent.records import WatcherStatus, WatcherType
from tests.fakes import FakeFleet
from tests.stage import PATIENCE_S, Stage

WATCHERS = 60
KILLED_AFTER = (1, 7, 13)  # After how many matches each process is killed.


async def run(directory: Path, matches: int) -> list[int]:
    """Run a core until it has said so many matches, then kill it; 0 lets it end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.watchers.firing",
        str(directory),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said: list[int] = []
    try:
        async with asyncio.timeout(3 * PATIENCE_S):
            while line := await process.stdout.readline():
                said.append(int(line))
                if len(said) == matches:
                    break
    finally:
        if matches:
            process.kill()
        await process.wait()
    return said


async def test_a_core_that_is_killed_while_watchers_fire_fires_each_of_them_once(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone-1"))
    # A clock far behind: nothing is due while they are created.
    stage.now_ms = 1_000_000
    async with stage.play():
        for number in range(WATCHERS):
            await stage.do(
                WatcherCreate(
                    watcher_type=WatcherType.TIME,
                    title=f"number {number + 1}",
                    next_run_at=2_000_000,
                    prompt="do it",
                )
            )
    for matches in (*KILLED_AFTER, 0):
        await run(stage.directory, matches)
    async with stage.play():
        fired = await stage.store.watches.watchers(limit=WATCHERS + 1)
        assert Counter(one.status for one in fired) == {WatcherStatus.FIRED: WATCHERS}
        assert {one.fired_count for one in fired} == {1}
        started = Counter(
            event.msg.job.title
            for event in await stage.all_events()
            if isinstance(event.msg, JobChanged) and event.msg.reason == "created"
        )
        assert started == Counter(one.title for one in fired)
        assert len({one.job_id for one in fired}) == WATCHERS
