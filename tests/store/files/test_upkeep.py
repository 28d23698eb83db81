"""Looking a store through, making it smaller, and setting a damaged one aside."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import StoreError, UsageError
from agent.protocol import ToolCallRequested
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.sqlite_store import DATABASE_NAME, EventDraft, SqliteStore
from agent.store.embedded.upkeep import check, compact
from tests.end_to_end import warm
from tests.store.conftest import session_draft, step_draft


def naming(session_id: str, digest: str) -> EventDraft:
    call = ToolCallRequested(step=1, call_id="c", tool="t", arguments="{}", prompt_digest=digest)
    return EventDraft(session_id, call)


async def filled(directory: Path) -> str:
    """Fill a store with a session, a blob that it names, one that it does not, and a stray file."""
    async with SqliteStore.open(directory) as store:
        named = await store.blobs.put(b"named" * 1000, "text/plain")
        await store.blobs.put(b"unnamed" * 1000, "text/plain")
        steps = (step_draft("s1", number) for number in range(50))
        await store.append(session_draft("s1"), naming("s1", named), *steps)
    BlobFiles(directory / "blobs").put(b"stray")
    return named


async def test_a_sound_store_is_found_sound_and_is_not_changed(tmp_path: Path) -> None:
    await filled(tmp_path)
    before = (tmp_path / DATABASE_NAME).read_bytes()
    found = await check(tmp_path)
    assert found.is_sound
    assert (found.events, found.sessions, found.blobs) == (52, 1, 2)
    assert (tmp_path / DATABASE_NAME).read_bytes() == before


async def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    named = await filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database:
        database.execute("DELETE FROM event WHERE seq = 5")
        database.execute("UPDATE event SET body = '{}' WHERE seq = 6")
        database.commit()
    BlobFiles(tmp_path / "blobs").drop([named])
    told = "\n".join((await check(tmp_path)).findings)
    assert "Event 6 cannot be read" in told
    assert "Session s1 should have 52 events and has 51" in told
    assert f"Blob {named} is gone" in told


async def test_a_compaction_drops_what_nothing_names_and_changes_no_record(tmp_path: Path) -> None:
    named = await filled(tmp_path)
    done = await compact(tmp_path)
    assert (done.blobs, done.stray_files) == (1, 1)
    assert done.after_bytes < done.before_bytes
    async with SqliteStore.open(tmp_path) as store:
        assert len(await store.session_events("s1")) == 52
        assert await store.blobs.read(named) == b"named" * 1000


async def test_a_store_that_is_open_is_left_alone(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path):
        for work in (check, compact):
            with pytest.raises(StoreError, match="in use"):
                await work(tmp_path)
    with pytest.raises(UsageError, match="no store"):
        await check(tmp_path / "elsewhere")


def test_the_command_line_reaches_all_of_it(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"garbage" * 500)

    def switchboard(*words: str) -> tuple[int, str]:
        done = warm.call(words, {**os.environ, "SWITCHBOARD_DATA_DIR": str(tmp_path)})
        return done.returncode, done.stdout + done.stderr

    code, said = switchboard("store", "check")
    assert code != 0 and "not an SQLite database" in said
    code, said = switchboard("store", "quarantine")
    assert code != 0 and "--yes" in said and (tmp_path / DATABASE_NAME).exists()
    code, said = switchboard("store", "quarantine", "--yes")
    assert code == 0 and not (tmp_path / DATABASE_NAME).exists()
    assert list(tmp_path.glob("quarantine-*/switchboard.db"))
