"""What is known in memory of due and running jobs is what the table says, whatever happened."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol import JobChanged, JobsDropped
from agent.records import Job, JobStatus
from agent.store.embedded import due_cache
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from tests.store.conftest import make_job

EVER_MS = 1 << 60
CHANGES = st.tuples(
    st.integers(1, 12),
    st.sampled_from([*JobStatus, *[JobStatus.ACTIVE] * 6, *[JobStatus.RUNNING] * 2, None]),
    st.integers(0, 6),
)
"""Which job, what becomes of it (None: it is dropped), and when it is due or began."""


def due_at(job_id: int, at_ms: int) -> Job:
    return make_job(job_id, next_run_at=at_ms)


async def agree(store: SqliteStore) -> None:
    """Ask the memory and the table the same."""
    reader = store._reader
    for now_ms in (0, 3, EVER_MS):
        for limit in (0, 1, 3, 100):
            assert await store.due_jobs(now_ms, limit) == await reader.due_jobs(now_ms, limit)
        assert await store.stale_jobs(now_ms) == await reader.stale_jobs(now_ms)
    assert await store.next_due_ms() == await reader.next_due_ms()
    for job_id in (1, 6, 12):
        assert await store.job(job_id) == await reader.job(job_id)


@settings(max_examples=25, deadline=None)
@given(rounds=st.lists(st.tuples(st.lists(CHANGES, max_size=12), st.booleans()), max_size=5))
def test_any_changes_leave_memory_and_table_agreed(
    tmp_path_factory: pytest.TempPathFactory,
    rounds: list[tuple[list[tuple[int, JobStatus | None, int]], bool]],
) -> None:
    async def follow(directory: Path) -> None:
        async with SqliteStore.open(directory) as store:
            for changes, asked in rounds:
                for job_id, status, at_ms in changes:
                    job = make_job(
                        job_id,
                        status=status or JobStatus.ACTIVE,
                        next_run_at=at_ms,
                        running_at=at_ms,
                    )
                    dropped = JobsDropped(job_ids=(job_id,))
                    changed = JobChanged(job=job, reason="")
                    await store.append(EventDraft("", dropped if status is None else changed))
                if asked:
                    await agree(store)
            await agree(store)

    with pytest.MonkeyPatch.context() as patch:
        # So few that jobs lie beyond what is held.
        patch.setattr(due_cache, "SOONEST", 2)
        asyncio.run(follow(tmp_path_factory.mktemp("dues")))


async def test_what_is_committed_while_the_table_is_read_is_not_missed(store: SqliteStore) -> None:
    await store.append(*(EventDraft("", JobChanged(job=due_at(at, at))) for at in (1, 2)))
    asked = asyncio.create_task(store.next_due_ms())
    await store.append(
        EventDraft("", JobChanged(job=make_job(1, status=JobStatus.PAUSED, next_run_at=1)))
    )
    await asked
    assert await store.next_due_ms() == 2
    assert [job.id for job in await store.due_jobs(5)] == [2]


async def test_a_ring_with_nothing_due_asks_the_table_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.append(*(EventDraft("", JobChanged(job=due_at(at, 1000 + at))) for at in (1, 2)))
    assert await store.next_due_ms() == 1001
    assert await store.stale_jobs(500) == ()

    async def refused(*_: object) -> None:
        raise AssertionError("the table was read")

    monkeypatch.setattr(store._reading, "rows", refused)
    assert await store.due_jobs(500) == ()
    assert await store.stale_jobs(500) == ()
    assert [job.id for job in await store.due_jobs(1001)] == [1]
    await store.append(EventDraft("", JobChanged(job=due_at(3, 7))))
    assert await store.next_due_ms() == 7
