"""A part of a job's title, prompt or status finds it, by an index as by looking at each."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import UsageError
from agent.protocol import JobChanged, JobsDropped
from agent.records import Job, JobStatus
from agent.store.queries import job_pages, reader
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import DATABASES, Opener
from tests.store.conftest import make_job

LETTERS = 'abAB "%*-ßÄé世\U0001f30d'


TEXTS, TITLES = st.text(LETTERS, max_size=8), st.text(LETTERS, min_size=1, max_size=8)
QUERIES = st.one_of(
    st.text(LETTERS, max_size=5), st.sampled_from(["act", "active", "aus", "fail", "a\nb", "\n"])
)


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def changed(*jobs: Job) -> tuple[EventDraft, ...]:
    return tuple(EventDraft("", JobChanged(job=job, reason="test")) for job in jobs)


async def found(store: Store, query: str) -> tuple[list[int], list[int]]:
    """Return the ids that the list has, and those of all pages of the queue."""
    listed = [job.id for job in await store.jobs(query=query)]
    paged: list[int] = []
    after = ""
    while True:
        page = await store.job_pages.page(query=query, limit=3, after=after)
        paged += [job.id for job in page.jobs]
        after = page.after
        if not after:
            return listed, paged


async def test_what_is_found_follows_an_edit_and_an_end(store: Store) -> None:
    job = make_job(1, title="Water the plants")
    await store.append(*changed(job, make_job(2, title="Feed the cat")))
    assert await found(store, "PLANT") == ([1], [1])
    await store.append(*changed(replace(job, title="Wash the car")))
    assert await found(store, "plant") == ([], [])
    assert await found(store, "the ca") == ([2, 1], [1, 2])
    await store.append(EventDraft("", JobsDropped(job_ids=(1,))))
    assert await found(store, "the ca") == ([2], [2])


def has(job: Job, query: str) -> bool:
    return query.casefold() in f"{job.title}\n{job.prompt}\n{job.status}".casefold()


@settings(
    deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(TITLES, TEXTS, st.sampled_from(JobStatus)), min_size=9, max_size=30),
    st.lists(QUERIES, min_size=5, max_size=12, unique=True),
    st.sampled_from([0, 2, 2000]),
)
async def test_every_query_finds_what_looking_at_each_job_finds(
    fresh: Callable[[], Opener],
    texts: list[tuple[str, str, JobStatus]],
    queries: list[str],
    few: int,
) -> None:
    jobs = [
        make_job(number, title=title, prompt=prompt, status=status, next_run_at=number * 7 % 5)
        for number, (title, prompt, status) in enumerate(texts, 1)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_pages, "FEW", few)
        patch.setattr(reader, "FEW", few)
        async with fresh()() as store:
            await store.append(*changed(*jobs))
            for query in queries:
                wanted = {job.id for job in jobs if has(job, query)}
                listed, paged = await found(store, query)
                assert listed == sorted(wanted, reverse=True)
                assert set(paged) == wanted
                assert len(paged) == len(wanted)


async def test_a_query_that_would_take_all_memory_is_refused(store: Store) -> None:
    await store.append(*changed(make_job(1, title="x" * 200)))
    assert await found(store, "x" * 200) == ([1], [1])
    assert await found(store, "\udcff") == ([], [])
    for too_long in ("x" * 1_000_000, "x\n" * 500_000):
        with pytest.raises(UsageError, match="1,000,000 letters"):
            await store.jobs(query=too_long)
        with pytest.raises(UsageError, match="1,000,000 letters"):
            await store.job_pages.page(query=too_long)
        with pytest.raises(UsageError, match="1,000,000 letters"):
            await store.watches.watchers(query=too_long)


async def test_a_job_is_found_by_its_host_its_phones_and_their_tags(store: Store) -> None:
    job = make_job(1, title="Water the plants")
    campaign = {"phones": ["rack-4/a", "rack-5/b"]}
    payload = {"serial": "rack-3/c", "campaign": campaign, "tags": ["Wall"]}
    placed = replace(job, host="rack-3", payload_json=payload)
    await store.append(*changed(placed, replace(make_job(2), host="rack-30")))
    for query in ("rack-3/", "RACK-4/", "rack-5/b", "#wall"):
        assert await found(store, query) == ([1], [1])
    assert await found(store, "rack-3") == ([2, 1], [1, 2])
