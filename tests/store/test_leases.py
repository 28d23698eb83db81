"""Leases over a real database: one owner at a time, an epoch that only rises, and the fence."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import FencedError
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.leases import Lease, check, granted_lease
from agent.store.rows import Row, Value
from tests.store.conftest import session_draft, step_draft


async def test_leases_of_a_process_that_died_are_free_at_the_next_start(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        before = await store.acquire_lease("emulator-5554", "first", 60_000)
        assert before is not None
    # The directory has one owner, so whoever held a lease is gone. A fleet's leases run out.
    async with SqliteStore.open(tmp_path) as store:
        after = await store.acquire_lease("emulator-5554", "second", 60_000)
        assert after is not None
        assert after.epoch == before.epoch + 1
        with pytest.raises(FencedError):
            await store.append(session_draft("s1"), under=before)


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 50), st.integers(0, 60)), max_size=30
    )
)
def test_a_key_has_one_lease_that_counts_and_its_epoch_only_rises(
    steps: list[tuple[str, int, int]],
) -> None:
    now_ms = 0
    present: Lease | None = None
    given_out: list[Lease] = []
    for owner, ttl_ms, pause_ms in steps:
        now_ms += pause_ms
        got = granted_lease(present, "phone", owner, ttl_ms, now_ms)
        if got is None:
            assert present is not None
            assert present.owner != owner
            assert now_ms < present.expires_ms
            continue
        assert got.epoch == len(given_out) + 1
        given_out.append(got)
        present = got
        for old in given_out[:-1]:
            with pytest.raises(FencedError):
                check(present, old)
        check(present, got)


async def test_what_is_appended_under_a_known_lease_reads_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = await store.acquire_lease("phone", "a", 1000)
    assert lease is not None
    await store.append(session_draft("s1"), under=lease)
    asked: list[str] = []
    rows = store._writing.rows

    async def noting(sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        asked.append(sql)
        return await rows(sql, parameters)

    monkeypatch.setattr(store._writing, "rows", noting)
    await store.append(step_draft("s1", 1), under=lease)
    assert asked == []
    with pytest.raises(FencedError):
        await store.append(step_draft("s1", 2), under=replace(lease, epoch=7))
