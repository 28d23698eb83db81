"""What every Store and every Dispatcher promises, written against the protocols alone.

A pair is a store and how it is opened again after its process died; the suite runs on each pair.
"""

import asyncio

import pytest

from agent.errors import FencedError, StoreError, UsageError, WrongStateError
from agent.protocol import (
    AgentMessage,
    Event,
    QuestionAnswered,
    RequestUserInput,
    SessionStateChanged,
    StepStarted,
    ToolCallRequested,
)
from agent.records import JobStatus, Question, Session, SessionState
from agent.state.reducer import fold_session
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import Clock, Opener
from tests.store.conftest import make_job, session_draft, step_draft

PATIENCE_S = 30.0
RUNNING, COMPLETED = SessionState.RUNNING, SessionState.COMPLETED


# --- facts ----------


async def test_what_was_acknowledged_is_there_after_the_process_died(opener: Opener) -> None:
    async with opener() as store:
        told = await store.append(session_draft("s1"), step_draft("s1", 1))
    async with opener() as store:
        assert await store.session_events("s1") == told
        assert await store.last_event_id() == told[-1].event_id
        [later] = await store.append(step_draft("s1", 2))
        assert (later.event_id, later.seq) == (told[-1].event_id + 1, 3)


async def test_facts_are_dated_by_the_stores_clock_unless_they_are_a_copy(
    store: Store, clock: Clock
) -> None:
    clock.now_ms = 77
    copy = EventDraft("s1", StepStarted(step=1), dated_ms=5)
    told = await store.append(session_draft("s1"), copy)
    assert [event.ts_ms for event in told] == [77, 5]


async def test_an_append_is_whole_or_not_at_all(store: Store) -> None:
    with pytest.raises(UsageError):
        await store.append(session_draft("s1"), step_draft("nobody", 1))
    assert await store.sessions() == ()
    assert await store.last_event_id() == 0


async def test_concurrent_appends_leave_no_gap_and_are_published_in_order(store: Store) -> None:
    names = [f"s{number}" for number in range(8)]
    await store.append(*(session_draft(name) for name in names))
    seen: list[Event] = []
    store.subscribe(lambda commit: seen.extend(commit.events))
    await asyncio.gather(
        *(store.append(step_draft(name, step)) for step in range(20) for name in names)
    )
    assert [event.event_id for event in seen] == list(range(9, 9 + 160))
    for name in names:
        events = await store.session_events(name)
        assert [event.seq for event in events] == list(range(1, 22))


async def test_records_are_what_folding_the_events_gives(store: Store) -> None:
    await store.append(
        session_draft("s1"),
        EventDraft("s1", SessionStateChanged(state=RUNNING)),
        EventDraft("s1", AgentMessage(step=1, text="hello")),
    )
    record: Session | None = None
    for event in await store.session_events("s1"):
        record = fold_session(record, event)
    assert await store.session("s1") == record


async def test_the_first_answer_wins(store: Store) -> None:
    question = Question(question_id="q1", session_id="s1", text="?", asked_ms=1)
    await store.append(session_draft("s1"), EventDraft("s1", RequestUserInput(question=question)))
    answers = [
        store.append(EventDraft("s1", QuestionAnswered(question_id="q1", answer=text)))
        for text in "ab"
    ]
    outcomes = await asyncio.gather(*answers, return_exceptions=True)
    assert [isinstance(one, WrongStateError) for one in outcomes] == [False, True]
    assert await store.open_questions() == ()


async def test_a_claim_of_a_job_is_won_once(store: Store) -> None:
    job = await store.create_job(lambda job_id: make_job(job_id))
    claimed = make_job(job.id, status=JobStatus.RUNNING)
    claims = [
        store.replace_job(claimed, expect=JobStatus.ACTIVE, reason="claimed") for _ in range(5)
    ]
    assert sorted(await asyncio.gather(*claims)) == [False, False, False, False, True]


async def test_what_was_deleted_is_gone_and_its_id_is_free(store: Store) -> None:
    await store.append(session_draft("s1"), session_draft("s2"))
    await store.delete_sessions("s1")
    with pytest.raises(UsageError):
        await store.session("s1")
    with pytest.raises(UsageError):
        await store.append(step_draft("s1", 1))
    with pytest.raises(UsageError):
        await store.delete_sessions("s2", "nobody")
    assert [one.session_id for one in await store.sessions()] == ["s2"]
    [event] = await store.append(session_draft("s1"))
    assert event.seq == 1


async def test_a_word_that_was_stored_is_found(store: Store) -> None:
    await store.append(session_draft("s1", goal="water the plants"))
    [hit] = await store.search("PLANTS")
    assert (hit.session_id, hit.seq, hit.kind) == ("s1", 1, "session_configured")


async def test_blobs_live_as_long_as_an_event_names_them(opener: Opener) -> None:
    def naming(session_id: str, digest: str) -> EventDraft:
        call = ToolCallRequested(
            step=1, call_id="c", tool="tap", arguments="{}", reply_digest=digest
        )
        return EventDraft(session_id, call)

    async with opener() as store:
        shared = await store.blobs.put(b"shared", "text/plain")
        assert (await store.blobs.collect()).blobs == 0, "its event may be on its way"
        await store.append(session_draft("s1"), naming("s1", shared))
        await store.append(session_draft("s2"), naming("s2", shared))
        await store.blobs.put(b"never named", "text/plain")
    async with opener() as store:
        await store.delete_sessions("s1")
        assert (await store.blobs.collect()).blobs == 1, "nobody will name it any more"
        assert await store.blobs.read(shared) == b"shared"
        await store.delete_sessions("s2")
        collected = await store.blobs.collect()
        assert (collected.blobs, collected.size_bytes) == (1, 6)
        with pytest.raises(StoreError):
            await store.blobs.read(shared)


# --- leases ----------


async def test_one_owner_has_a_key_until_its_time_is_over(store: Store, clock: Clock) -> None:
    first = await store.acquire_lease("phone", "a", 1000)
    assert first is not None
    assert await store.acquire_lease("phone", "b", 1000) is None
    clock.now_ms += 999
    assert await store.acquire_lease("phone", "b", 1000) is None
    clock.now_ms += 1
    second = await store.acquire_lease("phone", "b", 1000)
    assert second is not None and second.epoch == first.epoch + 1
    with pytest.raises(FencedError):
        await store.renew_lease(first, 1000)


async def test_a_heartbeat_keeps_a_lease_and_giving_it_back_frees_the_key(
    store: Store, clock: Clock
) -> None:
    lease = await store.acquire_lease("phone", "a", 1000)
    assert lease is not None
    for _ in range(5):
        clock.now_ms += 900
        lease = await store.renew_lease(lease, 1000)
        assert await store.acquire_lease("phone", "b", 1000) is None
    await store.release_lease(lease)
    await store.release_lease(lease)
    held = await store.lease("phone")
    assert held is not None and held.is_free(clock.now_ms)
    assert await store.acquire_lease("phone", "b", 1000) is not None


async def test_who_was_presumed_dead_can_never_write_again(store: Store, clock: Clock) -> None:
    await store.append(session_draft("s1"))
    frozen = await store.acquire_lease("phone", "a", 1000)
    clock.now_ms += 5000
    await store.append(step_draft("s1", 1), under=frozen)
    taken_over = await store.acquire_lease("phone", "b", 1000)
    with pytest.raises(FencedError):
        await store.append(step_draft("s1", 2), under=frozen)
    clock.now_ms += 5000
    with pytest.raises(FencedError):
        await store.append(step_draft("s1", 3), under=frozen)
    await store.append(step_draft("s1", 4), under=taken_over)
    steps = [e.msg.step for e in await store.session_events("s1") if isinstance(e.msg, StepStarted)]
    assert steps == [1, 4]


async def test_of_many_who_want_a_key_at_once_one_gets_it(store: Store) -> None:
    got = await asyncio.gather(
        *(store.acquire_lease("phone", f"owner {number}", 1000) for number in range(20))
    )
    assert len([lease for lease in got if lease is not None]) == 1
