"""The store's log: appended in order, told after it is stored, read back whole."""

import asyncio
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.protocol import WarningEvent
from agent.store.embedded.sqlite_store import DATABASE_NAME, EventDraft, SqliteStore
from agent.store.embedded.writer import _FOLDED_COMMITS
from tests.store.conftest import session_draft, step_draft


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


async def test_a_store_that_two_close_at_once_is_closed_once(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
        await asyncio.gather(store.close(), store.close())
        with pytest.raises(StoreError, match="closed"):
            await store.append(step_draft("s1", 99))
