"""Leases over a real store: one's own again after a crash, and refused once taken over."""

import asyncio

import pytest

from agent.errors import FencedError, UsageError
from agent.store.store import Store
from tests.store.conformance.stores import Opener
from tests.store.conftest import session_draft, step_draft


async def test_an_owner_that_begins_anew_takes_its_own_key_and_its_past_is_refused(
    opener: Opener,
) -> None:
    async with opener() as store:
        before = await store.acquire_lease("emulator-5554", "here", 60_000)
        assert before is not None
    async with opener() as store:
        after = await store.acquire_lease("emulator-5554", "here", 60_000)
        assert after is not None
        assert after.epoch == before.epoch + 1
        with pytest.raises(FencedError):
            await store.append(session_draft("s1"), under=before)
        assert await store.append(session_draft("s1"), under=after)


async def test_a_write_under_a_stale_lease_fails_alone_among_good_ones(store: Store) -> None:
    await store.append(session_draft("s1"))
    stale = await store.acquire_lease("phone", "one", 1000)
    assert stale is not None
    await store.release_lease(stale)
    good = await store.acquire_lease("phone", "two", 1000)
    outcomes = await asyncio.gather(
        store.append(step_draft("s1", 1), under=good),
        store.append(step_draft("s1", 2), under=stale),
        store.append(step_draft("s1", 3)),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [tuple, FencedError, tuple]
    assert store.trouble is None
    assert [e.seq for e in await store.session_events("s1")] == [1, 2, 3]


@pytest.mark.parametrize(("key", "owner", "ttl_ms"), [("", "o", 1), ("k", " ", 1), ("k", "o", 0)])
async def test_a_lease_needs_names_and_a_time(
    store: Store, key: str, owner: str, ttl_ms: int
) -> None:
    with pytest.raises(UsageError):
        await store.acquire_lease(key, owner, ttl_ms)
