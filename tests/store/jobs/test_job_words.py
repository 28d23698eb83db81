"""A part of a job's title, prompt or status finds it, by the index as by looking at each."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.records import JobStatus
from agent.store.embedded.job_trigrams import lookup
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.queries.job_words import ENDED, named, of_status
from tests.store.conformance.test_job_words import changed, found
from tests.store.conftest import make_job


async def test_a_claim_writes_nothing_into_the_index_of_words(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        job = make_job(1, title="Water the plants", next_run_at=5)
        await store.append(*changed(job))
        before = await store._reading.rows("SELECT id, block FROM job_words_data")
        await store.append(*changed(replace(job, status=JobStatus.RUNNING, running_at=6)))
        assert await found(store, "running") == ([1], [1])
        assert await store._reading.rows("SELECT id, block FROM job_words_data") == before
        await store.append(*changed(replace(job, prompt="and the herbs")))
        assert await store._reading.rows("SELECT id, block FROM job_words_data") != before


def test_only_what_the_index_can_tell_is_asked_of_it() -> None:
    whole, short = lookup('say "hi"'), lookup("ab")
    assert whole is not None and whole.parameters == ('"say ""hi"""',)
    assert short is not None and short.parameters == ("ab", "ab\U0010ffff")
    assert [lookup(query) for query in ("", "a\nbc", "a\0bc")] == [None] * 3


def test_a_part_of_a_status_names_it() -> None:
    assert named("tiv") == (JobStatus.ACTIVE,)
    assert set(named("ed", ENDED)) == ENDED
    assert named("tiv", ENDED) == () and named("actives") == ()


@pytest.mark.parametrize("status", JobStatus)
async def test_the_jobs_of_each_status_are_found_by_an_index(
    store: SqliteStore, status: JobStatus
) -> None:
    sql = of_status(status)
    plan = await store._reading.rows(f"EXPLAIN QUERY PLAN {sql}", (1 << 62, 50))
    told = " | ".join(str(row[-1]) for row in plan)
    if status in ENDED:
        assert "SEARCH job USING INDEX job_outcome (status=? AND id<?)" in told
    else:
        assert any(f"job USING INDEX {one}" in told for one in ("job_due", "job_at_hand", "job_o"))
    assert status is JobStatus.ACTIVE or "TEMP B-TREE" not in told
