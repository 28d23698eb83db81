"""kill -9, exits without closing, and owners that come back from the dead."""

import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import FencedError, StoreError
from agent.store.database.lock import LOCK_NAME, owner_pid
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore
from tests.store.conftest import make_job, session_draft, step_draft

ROOT = Path(__file__).parent.parent.parent.parent


def killed_appender(directory: Path, manner: str, *, after: int) -> set[int]:
    """Run the appender, kill -9 it after some lines, and give the event ids that it named."""
    command = [sys.executable, "-m", "tests.store.appender", str(directory), manner]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        # What is still in the pipe was said before the end, so it counts.
        lines += process.stdout.read().splitlines(keepends=True)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    return {int(line.split()[1]) for line in lines if line.endswith(b"\n")}


def stored_ids(directory: Path) -> set[int]:
    with sqlite3.connect(directory / DATABASE_NAME) as database:
        [(verdict,)] = database.execute("PRAGMA integrity_check").fetchall()
        assert verdict == "ok"
        rows = database.execute("SELECT id FROM event").fetchall()
    database.close()
    return {row[0] for row in rows}


@pytest.mark.slow
def test_kill_minus_nine_loses_nothing_that_was_acknowledged_or_published(tmp_path: Path) -> None:
    chance = random.Random(7)
    said: set[int] = set()
    for _ in range(4):
        said |= killed_appender(tmp_path, "honest", after=chance.randint(1, 600))
    assert len(said) > 100
    assert said <= stored_ids(tmp_path)


def test_an_early_acknowledgement_would_be_caught(tmp_path: Path) -> None:
    lost: set[int] = set()
    for round_number in range(3):
        directory = tmp_path / str(round_number)
        said = killed_appender(directory, "early", after=50)
        lost |= said - stored_ids(directory)
    assert lost, "the test above could not fail"


async def test_a_store_that_was_killed_opens_again_with_rows_that_match_its_log(
    tmp_path: Path,
) -> None:
    killed_appender(tmp_path, "honest", after=300)
    async with SqliteStore.open(tmp_path) as store:
        for session in await store.sessions():
            events = await store.session_events(session.session_id)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert session.updated_ms == events[-1].ts_ms
            [event] = await store.append(step_draft(session.session_id, 1))
            assert event.seq == len(events) + 1


def run(program: str, *arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=ROOT,
    )


@pytest.mark.parametrize("ending", ["return", "raise RuntimeError('crash')", "sys.exit(3)"])
def test_a_store_that_nobody_closed_does_not_keep_the_process_alive(
    tmp_path: Path, ending: str
) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from agent.store.embedded.sqlite_store import SqliteStore
from tests.store.conftest import session_draft

async def main():
    opened = SqliteStore.open(Path(sys.argv[1]))
    store = await opened.__aenter__()
    kept.append((opened, store))
    await store.append(session_draft("s1"))
    {ending}

kept = []
# Not asyncio.run, which would close the store after all when it shuts generators down.
asyncio.new_event_loop().run_until_complete(main())
"""
    run(program, str(tmp_path), timeout_s=60)
    assert len(stored_ids(tmp_path)) == 1


def test_an_interrupt_from_the_keyboard_closes_in_order(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.store.appender", str(tmp_path), "honest"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(100)]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    lines += out.splitlines(keepends=True)
    assert b"KeyboardInterrupt" in err
    assert b"never retrieved" not in err
    assert {int(line.split()[1]) for line in lines if line.endswith(b"\n")} <= stored_ids(tmp_path)
    # Closing folded the write-ahead log into the file.
    assert not (tmp_path / f"{DATABASE_NAME}-wal").exists()


# --- ownership ----------


async def test_a_second_process_is_refused_and_told_who_owns_the_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.store.appender", str(tmp_path), "honest"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:  # noqa: ASYNC220
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        try:
            assert owner_pid(tmp_path) == process.pid
            with pytest.raises(StoreError, match=f"process {process.pid}") as held:
                async with SqliteStore.open(tmp_path):
                    pytest.fail("it has two owners")
            assert "SWITCHBOARD_DATA_DIR" in held.value.remedy
        finally:
            process.kill()
            process.wait()
    assert owner_pid(tmp_path) is None
    async with SqliteStore.open(tmp_path) as store:
        assert await store.last_event_id() > 0


async def test_a_second_store_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path):
        with pytest.raises(StoreError, match="in use"):
            async with SqliteStore.open(tmp_path):
                pytest.fail("it has two owners")
        # The failed attempt took nothing from the owner.
        with pytest.raises(StoreError, match="in use"):
            async with SqliteStore.open(tmp_path):
                pytest.fail("it has two owners")


async def test_an_owner_that_lost_the_directory_is_fenced_off(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as old:
        await old.append(session_draft("s1"))
        (tmp_path / LOCK_NAME).unlink()  # as if the lock did not hold on this file system
        async with SqliteStore.open(tmp_path) as new:
            assert new.epoch == old.epoch + 1
            published: list[object] = []
            old.subscribe(lambda commit: published.extend(commit.events))
            with pytest.raises(FencedError, match="newer owner") as fenced:
                await old.append(step_draft("s1", 1))
            assert fenced.value.remedy
            with pytest.raises(FencedError):
                await old.create_job(make_job)
            assert published == []
            [event] = await new.append(step_draft("s1", 2))
            assert event.seq == 2
            assert len(await new.session_events("s1")) == 2
