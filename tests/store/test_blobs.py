"""Blobs: stored once, whole, and believed only while they hash to their name."""

import asyncio
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.protocol import WarningEvent
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.store import EventDraft


async def test_the_store_and_its_files_say_how_much_all_blobs_take(store: SqliteStore) -> None:
    files = BlobFiles(store.directory / "blobs")
    assert await store.blobs.size_bytes() == files.size_bytes() == 0
    for data in (b"x" * 1000, b"y" * 500, b"x" * 1000):
        await store.blobs.put(data, "text/plain")
    await store.append(EventDraft("", WarningEvent(message="commits the rows")))
    assert await store.blobs.size_bytes() == files.size_bytes() == 1500


def test_what_a_crash_left_half_written_is_cleared_at_the_next_start(tmp_path: Path) -> None:
    files = BlobFiles(tmp_path)
    files.prepare()
    (tmp_path / "incoming" / "half").write_bytes(b"ha")
    files.prepare()
    assert list((tmp_path / "incoming").iterdir()) == []


async def test_a_blob_is_one_file_however_often_it_is_stored(store: SqliteStore) -> None:
    digests = await asyncio.gather(*(store.blobs.put(b"same", "text/plain") for _ in range(8)))
    [digest] = set(digests)
    files = [p for p in (store.directory / "blobs").glob("??/*") if p.is_file()]
    assert files == [store.directory / "blobs" / digest[:2] / digest[2:]]


async def test_a_damaged_blob_is_an_error_and_storing_it_again_mends_it(store: SqliteStore) -> None:
    digest = await store.blobs.put(b"the true picture", "image/png")
    (store.directory / "blobs" / digest[:2] / digest[2:]).write_bytes(b"the fake picture")
    with pytest.raises(StoreError, match="damaged"):
        await store.blobs.read(digest)
    assert await store.blobs.put(b"the true picture", "image/png") == digest
    assert await store.blobs.read(digest) == b"the true picture"
