"""Blobs: stored once, whole, and named by nothing but what they hash to."""

import asyncio
import hashlib

import pytest

from agent.errors import StoreError, UsageError
from agent.protocol import WarningEvent
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import BUCKET, DATABASES


@pytest.fixture(params=(*DATABASES, BUCKET))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_blob_is_read_back_by_its_sha256(store: Store) -> None:
    digest = await store.blobs.put(b"\x89PNG picture", "image/png")
    assert digest == hashlib.sha256(b"\x89PNG picture").hexdigest()
    assert await store.blobs.read(digest) == b"\x89PNG picture"
    assert await store.blobs.read(await store.blobs.put(b"", "text/plain")) == b""


async def test_the_same_bytes_are_stored_once(store: Store) -> None:
    digests = await asyncio.gather(*(store.blobs.put(b"same", "text/plain") for _ in range(8)))
    assert len(set(digests)) == 1
    await store.append(EventDraft("", WarningEvent(message="commits the rows")))
    assert await store.blobs.size_bytes() == 4


async def test_a_blob_that_is_gone_says_so(store: Store) -> None:
    with pytest.raises(StoreError, match="gone"):
        await store.blobs.read("0" * 64)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
async def test_only_digests_name_blobs(store: Store, name: str) -> None:
    with pytest.raises(UsageError, match="not a blob digest"):
        await store.blobs.read(name)
