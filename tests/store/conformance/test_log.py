"""A store's log: appended in order, told after it is stored, read back whole."""

import asyncio

import pytest

from agent.errors import StoreError, UsageError, WrongStateError
from agent.protocol import Event, SessionPruned, SessionStateChanged, WarningEvent
from agent.records import SessionState
from agent.state.commit import Commit
from agent.store.queries import reader
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import DATABASES, Opener, ask
from tests.store.conftest import make_job, question_draft, session_draft, step_draft, unpruned


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_an_event_is_numbered_dated_and_read_back_whole(opener: Opener) -> None:
    async with opener() as store:
        [first] = await store.append(session_draft("s1"))
        second, third = await store.append(step_draft("s1", 1), step_draft("s1", 2))
        assert [first.event_id, second.event_id, third.event_id] == [1, 2, 3]
        assert [first.seq, second.seq, third.seq] == [1, 2, 3]
        assert third.ts_ms == 1_000_000
        assert await store.session_events("s1") == (first, second, third)
        assert await store.events(after=1, limit=1) == (second,)
        assert await store.last_event_id() == 3


async def test_what_was_stored_is_there_after_reopening(opener: Opener) -> None:
    async with opener() as store:
        stored = await store.append(session_draft("s1"), step_draft("s1", 1), question_draft("q1"))
        job = await store.create_job(make_job)
    async with opener() as store:
        assert await store.session_events("s1") == stored
        assert [question.question_id for question in await store.open_questions()] == ["q1"]
        assert await store.job(1) == job
        [event] = await store.append(step_draft("s1", 2))
        assert (event.event_id, event.seq) == (5, 4)
        assert (await store.create_job(make_job)).id == 2


async def test_facts_of_no_session_have_no_sequence(store: Store) -> None:
    first, second = await store.append(
        EventDraft("", WarningEvent(message="low disk")), EventDraft("", WarningEvent(message="x"))
    )
    assert (first.seq, second.seq, first.session_id) == (0, 0, "")
    assert await store.events(after=0, limit=10) == (first, second)


async def test_concurrent_appends_keep_each_sessions_sequence_without_gaps(store: Store) -> None:
    names = [f"s{number}" for number in range(8)]
    await store.append(*(session_draft(name) for name in names))
    await asyncio.gather(
        *(store.append(step_draft(name, step)) for step in range(40) for name in names)
    )
    for name in names:
        events = await store.session_events(name)
        assert [event.seq for event in events] == list(range(1, 42))
    everything = await store.events(after=0, limit=10_000)
    assert [event.event_id for event in everything] == list(range(1, len(everything) + 1))


async def test_a_read_never_runs_ahead_of_what_listeners_were_told(store: Store) -> None:
    told: list[Event] = []
    store.subscribe(lambda commit: told.extend(commit.events))
    await store.append(session_draft("s1"))
    writing = asyncio.create_task(_write_steps(store, 300))
    ahead = []
    while not writing.done():
        seen = await store.events(after=told[-1].event_id, limit=10)
        ahead += [event for event in seen if event.event_id > told[-1].event_id]
    await writing
    assert ahead == []


async def _write_steps(store: Store, count: int) -> None:
    for step in range(count):
        await store.append(step_draft("s1", step))


async def test_a_listener_that_fails_stops_nobody(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Event] = []

    def broken(_: Commit) -> None:
        raise RuntimeError("listener bug")

    store.subscribe(broken)
    store.subscribe(lambda commit: seen.extend(commit.events))
    await store.append(session_draft("s1"))
    assert len(seen) == 1
    assert "listener of the store failed" in caplog.text


async def test_a_bad_request_fails_alone_among_good_ones(store: Store) -> None:
    await store.append(session_draft("s1"))
    results = await asyncio.gather(
        store.append(step_draft("s1", 1)),
        store.append(step_draft("s1", 2), step_draft("nobody", 1)),
        store.append(session_draft("s1")),
        store.append(step_draft("s1", 3)),
        return_exceptions=True,
    )
    assert isinstance(results[1], UsageError)
    assert isinstance(results[2], WrongStateError)
    # The refused request of two drafts left nothing behind, not even its good half.
    events = await store.session_events("s1")
    assert [getattr(event.msg, "step", 0) for event in events] == [0, 1, 3]
    assert [event.seq for event in events] == [1, 2, 3]


async def test_what_the_database_refuses_fails_alone_among_good_ones(store: Store) -> None:
    await store.append(session_draft("s1"))
    too_large = 1 << 63
    results = await asyncio.gather(
        store.append(step_draft("s1", 1)),
        store.create_job(lambda job_id: make_job(job_id, next_run_at=too_large)),
        store.create_job(make_job),
        store.append(step_draft("s1", 2)),
        return_exceptions=True,
    )
    assert isinstance(results[1], StoreError)
    assert [event.seq for event in await store.session_events("s1")] == [1, 2, 3]
    assert [job.id for job in await store.jobs()] == [1]


async def test_text_that_json_cannot_hold_is_refused_with_a_remedy(store: Store) -> None:
    await store.append(session_draft("s1"))
    with pytest.raises(StoreError, match="cannot be stored") as caught:
        await store.append(EventDraft("s1", WarningEvent(message="\ud800")))
    assert caught.value.remedy
    assert await store.append(EventDraft("s1", WarningEvent(message="a\x00b\U0001f600")))


async def test_a_cancelled_caller_neither_loses_nor_breaks_the_write(store: Store) -> None:
    await store.append(session_draft("s1"))
    callers = [asyncio.create_task(store.append(step_draft("s1", step))) for step in range(50)]
    await asyncio.sleep(0)
    for caller in callers[::2]:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    [last] = await store.append(step_draft("s1", 50))
    assert last.seq == 52
    assert [event.seq for event in await store.session_events("s1")] == list(range(1, 53))


async def test_a_session_is_listed_by_where_it_stands_after_every_kind_of_change(
    store: Store,
) -> None:
    await store.append(session_draft("s1"), step_draft("s1", 1))
    await store.append(step_draft("s1", 2))
    assert [one.last_step for one in await store.sessions(active_only=True)] == [2]
    ended = SessionStateChanged(state=SessionState.COMPLETED)
    await store.append(step_draft("s1", 3), EventDraft("s1", ended), step_draft("s1", 4))
    assert await store.sessions(active_only=True) == ()
    [one] = await store.sessions()
    assert (one.state, one.last_step) == (SessionState.COMPLETED, 4)
    await store.append(EventDraft("s1", SessionPruned()))
    assert await unpruned(store) == []


async def test_sessions_that_keep_their_frames_are_read_by_pages_while_others_are_pruned(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PAGE_ROOTS", 40)
    names = [f"s{number:04}" for number in range(2 * 40 + 1)]
    await store.append(*(session_draft(name) for name in names))
    pages = store.unpruned_roots()
    found = [one.session_id for one in await anext(pages)]
    assert len(found) == 40
    await store.append(*(EventDraft(name, SessionPruned()) for name in (found[0], names[0])))
    found += [one.session_id async for page in pages for one in page]
    assert found == names[:0:-1]
    assert [one.session_id for one in await unpruned(store)] == names[-2:0:-1]


async def test_subscribers_see_commits_in_order_and_only_what_is_stored(
    store: Store, place: str
) -> None:
    seen: list[Event] = []
    stored_when_seen: list[bool] = []

    def listen(commit: Commit) -> None:
        seen.extend(commit.events)
        [(newest,)] = ask(place, "SELECT max(id) FROM event")
        stored_when_seen.append(newest >= commit.events[-1].event_id)

    unsubscribe = store.subscribe(listen)
    await store.append(session_draft("s1"))
    await asyncio.gather(*(store.append(step_draft("s1", step)) for step in range(20)))
    assert [event.event_id for event in seen] == list(range(1, 22))
    assert all(stored_when_seen)
    unsubscribe()
    await store.append(step_draft("s1", 99))
    assert len(seen) == 21


async def test_closing_stores_what_was_asked_before_and_refuses_what_comes_after(
    opener: Opener,
) -> None:
    async with opener() as store:
        await store.append(session_draft("s1"))
        waiting = [asyncio.create_task(store.append(step_draft("s1", n))) for n in range(30)]
        await asyncio.sleep(0)
    assert all([task.result() for task in waiting])
    with pytest.raises(StoreError, match="closed"):
        await store.append(step_draft("s1", 99))
    with pytest.raises(StoreError, match="closed"):
        await store.session_events("s1")
    async with opener() as store:
        assert len(await store.session_events("s1")) == 31


async def test_an_event_of_a_newer_switchboard_is_an_error_that_names_it(
    opener: Opener, place: str
) -> None:
    async with opener() as store:
        await store.append(session_draft("s1"), step_draft("s1", 1))
    ask(place, """UPDATE event SET body = '{"type":"telepathy"}' WHERE id = 2""")
    async with opener() as store:
        assert len(await store.session_events("s1", limit=1)) == 1
        with pytest.raises(StoreError, match="Event 2 cannot be read") as caught:
            await store.session_events("s1")
        assert "upgrade" in caught.value.remedy
