"""The store's log: appended in order, told after it is stored, read back whole."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.protocol import Event, WarningEvent
from agent.state.commit import Commit
from agent.store.embedded.sqlite_store import DATABASE_NAME, EventDraft, SqliteStore
from agent.store.embedded.writer import _FOLDED_COMMITS
from tests.store.conftest import session_draft, step_draft


async def test_subscribers_see_commits_in_order_and_only_what_is_stored(store: SqliteStore) -> None:
    seen: list[Event] = []
    stored_when_seen: list[bool] = []
    database = sqlite3.connect(store.directory / DATABASE_NAME)

    def listen(commit: Commit) -> None:
        seen.extend(commit.events)
        [(newest,)] = database.execute("SELECT max(id) FROM event").fetchall()
        stored_when_seen.append(newest >= commit.events[-1].event_id)

    unsubscribe = store.subscribe(listen)
    await store.append(session_draft("s1"))
    await asyncio.gather(*(store.append(step_draft("s1", step)) for step in range(20)))
    assert [event.event_id for event in seen] == list(range(1, 22))
    assert all(stored_when_seen)
    unsubscribe()
    await store.append(step_draft("s1", 99))
    assert len(seen) == 21
    database.close()


async def test_closing_stores_what_was_asked_before_and_refuses_what_comes_after(
    tmp_path: Path,
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
        waiting = [asyncio.create_task(store.append(step_draft("s1", n))) for n in range(30)]
        await asyncio.sleep(0)
        await asyncio.gather(store.close(), store.close())
        assert all([task.result() for task in waiting])
        with pytest.raises(StoreError, match="closed"):
            await store.append(step_draft("s1", 99))
        with pytest.raises(StoreError, match="closed"):
            await store.session_events("s1")
    async with SqliteStore.open(tmp_path) as store:
        assert len(await store.session_events("s1")) == 31


async def test_the_log_is_folded_into_the_file_in_a_pause(store: SqliteStore) -> None:
    assert store.searching.index is not None
    # A reader at that moment would put off what is newer than its reading.
    store.searching.index.stop()
    needle = b"said before the pause"
    await store.append(EventDraft("", WarningEvent(message=needle.decode())))
    await store.append(session_draft("s1"))
    for step in range(_FOLDED_COMMITS):
        await store.append(step_draft("s1", step))
    path = store.directory / DATABASE_NAME
    async with asyncio.timeout(30):
        while needle not in path.read_bytes():
            await asyncio.sleep(0.01)
    await store.append(step_draft("s1", 1))
    assert len(await store.session_events("s1")) == _FOLDED_COMMITS + 2
