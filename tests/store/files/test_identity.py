"""A store knows itself: nothing is begun over what one left, nothing old is taken for it."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import StoreError, StoreGoneError, UsageError
from agent.store.database.identity import MARK_NAME, SEARCH_NAME, read_mark
from agent.store.embedded.quarantine import adopt, quarantine, reset
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore
from agent.store.embedded.upkeep import check
from tests.store.conftest import session_draft


async def a_store(directory: Path, *, sessions: int = 1) -> None:
    async with SqliteStore.open(directory) as store:
        digest = await store.blobs.put(b"picture", "image/png")
        assert digest
        for number in range(sessions):
            await store.append(session_draft(f"s{number}"))


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def gone(directory: Path) -> None:
    (directory / DATABASE_NAME).unlink()


def emptied(directory: Path) -> None:
    (directory / DATABASE_NAME).write_bytes(b"")


def gone_without_its_log(directory: Path) -> None:
    """Delete the database of a core that was killed; its log stays."""
    gone(directory)
    (directory / f"{DATABASE_NAME}-wal").write_bytes(b"what was written last" * 1000)


def replaced_by_an_empty_one(directory: Path) -> None:
    gone(directory)
    with closing(sqlite3.connect(directory / DATABASE_NAME)) as database:
        database.execute("VACUUM")


@pytest.mark.parametrize("lose", [gone, emptied, gone_without_its_log])
async def test_a_database_that_vanished_is_not_taken_for_a_new_store(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    await a_store(tmp_path)
    lose(tmp_path)
    before = contents(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreGoneError, match="blobs") as refusal:
            async with SqliteStore.open(tmp_path, may_only_read=True):
                raise AssertionError("it opened")
        assert "store reset" in refusal.value.remedy
    assert contents(tmp_path) == before
    with pytest.raises(UsageError):
        await adopt(tmp_path)
    if lose is not emptied:
        with pytest.raises(StoreGoneError):
            await check(tmp_path)
    else:
        assert not (await check(tmp_path)).is_sound


async def test_an_empty_database_in_its_place_is_not_taken_for_it(tmp_path: Path) -> None:
    await a_store(tmp_path)
    replaced_by_an_empty_one(tmp_path)
    before = contents(tmp_path)
    for marks in (3, 2):
        with pytest.raises(StoreGoneError, match="without a name"):
            async with SqliteStore.open(tmp_path):
                raise AssertionError("it opened")
        assert contents(tmp_path) == before
        if marks == 3:
            # The marks of the blobs and the audit say it too.
            (tmp_path / MARK_NAME).unlink()
            del before[MARK_NAME]
    reset(tmp_path)
    await a_store(tmp_path)


async def test_a_log_alone_is_no_store(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE_NAME}-wal").write_bytes(b"left")
    with pytest.raises(StoreGoneError, match="a write-ahead log"):
        async with SqliteStore.open(tmp_path):
            raise AssertionError("it opened")


async def test_marks_alone_tell_of_a_store(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path):
        pass
    gone(tmp_path)
    (tmp_path / SEARCH_NAME).unlink()
    with pytest.raises(StoreGoneError, match="the mark of a store") as refusal:
        async with SqliteStore.open(tmp_path):
            raise AssertionError("it opened")
    assert "store reset" in refusal.value.remedy
    reset(tmp_path)
    await a_store(tmp_path)


async def test_a_reset_moves_everything_and_then_a_store_begins(tmp_path: Path) -> None:
    await a_store(tmp_path)
    gone(tmp_path)
    aside = reset(tmp_path)
    assert any((aside / "blobs").glob("??/*"))
    async with SqliteStore.open(tmp_path) as store:
        assert await store.sessions() == ()
        await store.append(session_draft("s0"))
    assert (await check(tmp_path)).is_sound


async def test_a_database_in_quarantine_is_followed_by_a_new_one_over_its_blobs(
    tmp_path: Path,
) -> None:
    await a_store(tmp_path)
    quarantine(tmp_path)
    await a_store(tmp_path)
    assert (await check(tmp_path)).is_sound


async def test_blobs_and_a_database_of_two_stores_are_told_apart_until_they_are_adopted(
    tmp_path: Path,
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    await a_store(one)
    await a_store(two)
    shutil.rmtree(one / "blobs")
    shutil.copytree(two / "blobs", one / "blobs")
    before = contents(one)
    with pytest.raises(StoreGoneError, match="blobs directory belongs to another store") as refusal:
        async with SqliteStore.open(one):
            raise AssertionError("it opened")
    assert "adopt" in refusal.value.remedy
    assert contents(one) == before
    assert not (await check(one)).is_sound
    assert len(await adopt(one)) == 1
    await a_store(one, sessions=0)
    assert await adopt(one) == ()


async def test_an_older_copy_of_the_database_is_noticed(tmp_path: Path) -> None:
    await a_store(tmp_path)
    copy = (tmp_path / DATABASE_NAME).read_bytes()
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("later"))
    (tmp_path / DATABASE_NAME).write_bytes(copy)
    with pytest.raises(StoreGoneError, match="older copy"):
        async with SqliteStore.open(tmp_path):
            raise AssertionError("it opened")
    await adopt(tmp_path)
    await a_store(tmp_path, sessions=0)


_KILLED = """
import asyncio, os, sys
from pathlib import Path
from agent.store.embedded.sqlite_store import SqliteStore
from tests.store.conftest import session_draft

async def main():
    async with SqliteStore.open(Path(sys.argv[1])) as store:
        await store.append(session_draft("killed"))
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""


def killed_in(directory: Path) -> None:
    subprocess.run([sys.executable, "-c", _KILLED, str(directory)], check=False)


def remove_log(directory: Path) -> None:
    for path in directory.glob(f"{DATABASE_NAME}-*"):
        path.unlink()


async def test_a_log_that_was_removed_after_a_kill_is_missed(tmp_path: Path) -> None:
    await a_store(tmp_path)
    killed_in(tmp_path)
    remove_log(tmp_path)
    with pytest.raises(StoreGoneError, match="-wal"):
        async with SqliteStore.open(tmp_path):
            raise AssertionError("it opened")
    assert not (await check(tmp_path)).is_sound


async def test_a_store_that_was_killed_opens_as_before(tmp_path: Path) -> None:
    await a_store(tmp_path)
    killed_in(tmp_path)
    async with SqliteStore.open(tmp_path) as store:
        assert (await store.session("killed")).session_id == "killed"


async def test_marks_that_are_lost_or_damaged_are_written_again(tmp_path: Path) -> None:
    await a_store(tmp_path)
    (tmp_path / MARK_NAME).write_bytes(b"{")
    (tmp_path / "blobs" / MARK_NAME).unlink()
    await a_store(tmp_path, sessions=0)
    marks = [read_mark(part) for part in (tmp_path, tmp_path / "blobs")]
    assert marks[0] is not None and marks[1] is not None
    assert marks[0].store == marks[1].store != ""


@pytest.mark.parametrize("version", [0, 999])
async def test_a_check_finds_what_every_other_command_refuses(tmp_path: Path, version: int) -> None:
    await a_store(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database:
        database.execute(f"PRAGMA {'application_id' if version == 0 else 'user_version'} = 999")
    with pytest.raises(StoreError):
        async with SqliteStore.open(tmp_path):
            raise AssertionError("it opened")
    assert not (await check(tmp_path)).is_sound
