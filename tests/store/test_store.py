"""What the store promises its callers, on a real SQLite database."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import StoreError, UsageError, WrongStateError
from agent.protocol import (
    ErrorEvent,
    Event,
    EventMsg,
    JobChanged,
    PlanUpdate,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    ResultPublished,
    SessionFlagsChanged,
    SessionStateChanged,
    StepCompleted,
    TaskComplete,
    TaskStarted,
    WarningEvent,
)
from agent.records import (
    JobStatus,
    PlanItem,
    Question,
    Session,
    SessionState,
    TimeSplit,
    Usage,
)
from agent.state import fold_session
from agent.store.sqlite import DATABASE_NAME, EventDraft, SqliteStore
from tests.store.conftest import make_job, session_draft, step_draft


def question_draft(question_id: str, session_id: str = "s1") -> EventDraft:
    question = Question(
        question_id=question_id, session_id=session_id, text="Which one?", asked_ms=5
    )
    return EventDraft(session_id, RequestUserInput(question=question))


async def test_an_event_is_numbered_dated_and_read_back_whole(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path, clock_ms=lambda: 77) as store:
        [first] = await store.append(session_draft("s1"))
        second, third = await store.append(step_draft("s1", 1), step_draft("s1", 2))
        assert [first.event_id, second.event_id, third.event_id] == [1, 2, 3]
        assert [first.seq, second.seq, third.seq] == [1, 2, 3]
        assert third.ts_ms == 77
        assert await store.session_events("s1") == (first, second, third)
        assert await store.events(after=1, limit=1) == (second,)
        assert await store.last_event_id() == 3


async def test_what_was_stored_is_there_after_reopening(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        stored = await store.append(session_draft("s1"), step_draft("s1", 1), question_draft("q1"))
        job = await store.create_job(make_job)
        epoch = store.epoch
    async with SqliteStore.open(tmp_path) as store:
        assert await store.session_events("s1") == stored
        assert [question.question_id for question in await store.open_questions()] == ["q1"]
        assert await store.job(1) == job
        assert store.epoch == epoch + 1
        [event] = await store.append(step_draft("s1", 2))
        assert (event.event_id, event.seq) == (5, 4)
        assert (await store.create_job(make_job)).id == 2


async def test_facts_of_no_session_have_no_sequence(store: SqliteStore) -> None:
    first, second = await store.append(
        EventDraft("", WarningEvent(message="low disk")), EventDraft("", WarningEvent(message="x"))
    )
    assert (first.seq, second.seq, first.session_id) == (0, 0, "")
    assert await store.events(after=0, limit=10) == (first, second)


async def test_concurrent_appends_keep_each_sessions_sequence_without_gaps(
    store: SqliteStore,
) -> None:
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


async def test_subscribers_see_commits_in_order_and_only_what_is_stored(store: SqliteStore) -> None:
    seen: list[Event] = []
    stored_when_seen: list[bool] = []
    database = sqlite3.connect(store.directory / DATABASE_NAME)

    def listen(events: tuple[Event, ...]) -> None:
        seen.extend(events)
        [(newest,)] = database.execute("SELECT max(id) FROM event").fetchall()
        stored_when_seen.append(newest >= events[-1].event_id)

    unsubscribe = store.subscribe(listen)
    await store.append(session_draft("s1"))
    await asyncio.gather(*(store.append(step_draft("s1", step)) for step in range(20)))
    assert [event.event_id for event in seen] == list(range(1, 22))
    assert all(stored_when_seen)
    unsubscribe()
    await store.append(step_draft("s1", 99))
    assert len(seen) == 21
    database.close()


async def test_a_read_never_runs_ahead_of_what_listeners_were_told(store: SqliteStore) -> None:
    told: list[Event] = []
    store.subscribe(told.extend)
    await store.append(session_draft("s1"))
    writing = asyncio.create_task(_write_steps(store, 300))
    ahead = []
    while not writing.done():
        seen = await store.events(after=told[-1].event_id, limit=10)
        ahead += [event for event in seen if event.event_id > told[-1].event_id]
    await writing
    assert ahead == []


async def _write_steps(store: SqliteStore, count: int) -> None:
    for step in range(count):
        await store.append(step_draft("s1", step))


async def test_a_listener_that_fails_stops_nobody(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Event] = []

    def broken(_: tuple[Event, ...]) -> None:
        raise RuntimeError("listener bug")

    store.subscribe(broken)
    store.subscribe(seen.extend)
    await store.append(session_draft("s1"))
    assert len(seen) == 1
    assert "listener of the store failed" in caplog.text


async def test_a_bad_request_fails_alone_among_good_ones(store: SqliteStore) -> None:
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


async def test_what_the_database_refuses_fails_alone_among_good_ones(store: SqliteStore) -> None:
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


async def test_text_that_json_cannot_hold_is_refused_with_a_remedy(store: SqliteStore) -> None:
    await store.append(session_draft("s1"))
    with pytest.raises(StoreError, match="cannot be stored") as caught:
        await store.append(EventDraft("s1", WarningEvent(message="\ud800")))
    assert caught.value.remedy
    assert await store.append(EventDraft("s1", WarningEvent(message="a\x00b\U0001f600")))


async def test_a_cancelled_caller_neither_loses_nor_breaks_the_write(store: SqliteStore) -> None:
    await store.append(session_draft("s1"))
    callers = [asyncio.create_task(store.append(step_draft("s1", step))) for step in range(50)]
    await asyncio.sleep(0)
    for caller in callers[::2]:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    [last] = await store.append(step_draft("s1", 50))
    assert last.seq == 52
    assert [event.seq for event in await store.session_events("s1")] == list(range(1, 53))


async def test_closing_stores_what_was_asked_before_and_refuses_what_comes_after(
    tmp_path: Path,
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
        waiting = [asyncio.create_task(store.append(step_draft("s1", n))) for n in range(30)]
        await asyncio.sleep(0)
        await asyncio.gather(store.close(), store.close())
        assert all([task.result() for task in waiting])
        with pytest.raises(StoreError, match="closed"):
            await store.append(step_draft("s1", 99))
        with pytest.raises(StoreError, match="closed"):
            await store.session_events("s1")
    async with SqliteStore.open(tmp_path) as store:
        assert len(await store.session_events("s1")) == 31


# --- sessions ----------


async def test_a_session_is_found_by_id_and_by_a_unique_prefix(store: SqliteStore) -> None:
    await store.append(session_draft("abc1"), session_draft("abc12"), session_draft("abd"))
    assert (await store.session("abd")).session_id == "abd"
    assert (await store.session(" abc12 ")).session_id == "abc12"
    assert (await store.session("abc1")).session_id == "abc1"  # an exact id is never ambiguous
    with pytest.raises(UsageError, match="abc1, abc12"):
        await store.session("abc")
    for unknown in ("x", "", "  ", "%", "_", "\udcff", "abd\x00"):
        with pytest.raises(UsageError, match="no session"):
            await store.session(unknown)


async def test_sessions_are_listed_newest_first_and_children_oldest_first(
    store: SqliteStore,
) -> None:
    await store.append(session_draft("p"), session_draft("c1", parent_id="p"))
    await store.append(session_draft("c2", parent_id="p"))
    done = SessionStateChanged(state=SessionState.COMPLETED)
    await store.append(EventDraft("c1", done))
    assert [s.session_id for s in await store.sessions()] == ["c2", "c1", "p"]
    assert [s.session_id for s in await store.sessions(limit=1)] == ["c2"]
    assert [s.session_id for s in await store.sessions(active_only=True)] == ["c2", "p"]
    assert [s.session_id for s in await store.children("p")] == ["c1", "c2"]
    assert await store.children("") == ()


FACTS: st.SearchStrategy[EventMsg] = st.one_of(
    st.builds(SessionStateChanged, state=st.sampled_from(SessionState)),
    st.builds(SessionFlagsChanged, paused=st.booleans(), held=st.booleans(), lost=st.booleans()),
    st.builds(TaskStarted, turn_id=st.text(max_size=5)),
    st.builds(TaskComplete, turn_id=st.text(max_size=5)),
    st.builds(
        StepCompleted,
        step=st.integers(1, 9),
        time=st.builds(TimeSplit, observe_ms=st.integers(0, 99)),
        usage=st.builds(Usage, input_tokens=st.integers(0, 99), calls=st.just(1)),
        counted=st.booleans(),
    ),
    st.builds(PlanUpdate, plan=st.lists(st.builds(PlanItem, step=st.text())).map(tuple)),
    st.builds(ResultPublished, text=st.text()),
    st.builds(ErrorEvent, message=st.text()),
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from("abc"), FACTS), max_size=20))
async def test_the_session_rows_are_what_folding_the_log_gives(
    tmp_path_factory: pytest.TempPathFactory, facts: list[tuple[str, EventMsg]]
) -> None:
    directory = tmp_path_factory.mktemp("fold")
    async with SqliteStore.open(directory) as store:
        await store.append(*(session_draft(name) for name in "abc"))
        await asyncio.gather(*(store.append(EventDraft(name, msg)) for name, msg in facts))
    async with SqliteStore.open(directory) as store:
        for name in "abc":
            folded: Session | None = None
            for event in await store.session_events(name):
                folded = fold_session(folded, event)
            assert await store.session(name) == folded


# --- questions ----------


async def test_the_first_answer_wins_even_when_two_come_at_once(store: SqliteStore) -> None:
    await store.append(session_draft("s1"), question_draft("q1"))
    answers = await asyncio.gather(
        *(
            store.append(EventDraft("s1", QuestionAnswered(question_id="q1", answer=answer)))
            for answer in ("left", "right", "up")
        ),
        return_exceptions=True,
    )
    assert [isinstance(answer, WrongStateError) for answer in answers] == [False, True, True]
    question, is_open = await store.question("q1")
    assert (question.text, is_open) == ("Which one?", False)
    assert await store.open_questions() == ()
    stored = [e.msg for e in await store.session_events("s1")]
    assert [m.answer for m in stored if isinstance(m, QuestionAnswered)] == ["left"]


async def test_open_questions_are_listed_oldest_first_until_closed(store: SqliteStore) -> None:
    await store.append(session_draft("s1"), question_draft("q2"), question_draft("q1"))
    assert [q.question_id for q in await store.open_questions()] == ["q2", "q1"]
    closed = QuestionClosed(question_id="q2", reason="its turn ended")
    await store.append(EventDraft("s1", closed))
    await store.append(EventDraft("s1", closed))
    assert [q.question_id for q in await store.open_questions()] == ["q1"]
    with pytest.raises(UsageError, match="no question"):
        await store.question("q9")
    with pytest.raises(UsageError, match="no question"):
        await store.append(EventDraft("s1", QuestionAnswered(question_id="q9", answer="")))


# --- jobs ----------


async def test_a_job_gets_its_id_and_its_event_in_one_go(store: SqliteStore) -> None:
    seen: list[Event] = []
    store.subscribe(seen.extend)
    first, second = await asyncio.gather(store.create_job(make_job), store.create_job(make_job))
    assert (first.id, second.id) == (1, 2)
    assert [event.msg for event in seen] == [
        JobChanged(job=first, reason="created"),
        JobChanged(job=second, reason="created"),
    ]


async def test_only_the_first_of_two_claims_takes_a_job(store: SqliteStore) -> None:
    job = await store.create_job(make_job)
    running = replace(job, status=JobStatus.RUNNING, running_at=9)
    claims = await asyncio.gather(
        *(
            store.replace_job(running, expect=JobStatus.ACTIVE, reason=f"claim {n}")
            for n in range(3)
        )
    )
    assert claims == [True, False, False]
    events = await store.events(after=0, limit=10)
    assert [e.msg.reason for e in events if isinstance(e.msg, JobChanged)] == [
        "created",
        "claim 0",
    ]


async def test_a_late_result_never_revives_a_stopped_job(store: SqliteStore) -> None:
    job = await store.create_job(make_job)
    running = replace(job, status=JobStatus.RUNNING)
    stopped = replace(job, status=JobStatus.STOPPED)
    assert await store.replace_job(running, expect=JobStatus.ACTIVE, reason="claimed")
    assert await store.replace_job(stopped, expect=JobStatus.RUNNING, reason="stopped")
    late = replace(job, status=JobStatus.ACTIVE, last_result="done")
    assert not await store.replace_job(late, expect=JobStatus.RUNNING, reason="result")
    assert await store.job(job.id) == stopped


async def test_jobs_are_found_by_text_in_any_case_newest_first(store: SqliteStore) -> None:
    await store.create_job(lambda i: make_job(i, title="Straße kehren"))
    await store.create_job(lambda i: make_job(i, prompt="ÄPFEL kaufen"))
    await store.create_job(lambda i: make_job(i, status=JobStatus.PAUSED))
    assert [job.id for job in await store.jobs()] == [3, 2, 1]
    assert [job.id for job in await store.jobs(limit=2)] == [3, 2]
    assert [job.id for job in await store.jobs(query="STRASSE")] == [1]
    assert [job.id for job in await store.jobs(query="äpfel")] == [2]
    assert [job.id for job in await store.jobs(query="PAUSED")] == [3]
    assert [job.id for job in await store.jobs(query="%")] == []


async def test_due_jobs_come_in_order_and_the_next_wake_is_known(store: SqliteStore) -> None:
    assert await store.next_due_ms() is None
    for due in (500, 100, 300, 0, 900):
        await store.create_job(lambda i, due=due: make_job(i, next_run_at=due))
    await store.create_job(lambda i: make_job(i, next_run_at=1, status=JobStatus.STOPPED))
    assert [job.next_run_at for job in await store.due_jobs(500)] == [0, 100, 300]
    assert [job.next_run_at for job in await store.due_jobs(500, limit=9)] == [0, 100, 300, 500]
    assert await store.next_due_ms() == 0


async def test_stale_jobs_are_those_that_run_since_long(store: SqliteStore) -> None:
    for began in (100, 200, 300):
        await store.create_job(
            lambda i, began=began: make_job(i, status=JobStatus.RUNNING, running_at=began)
        )
    assert [job.running_at for job in await store.stale_jobs(200)] == [100, 200]


async def test_an_unknown_job_is_nobody_and_cannot_be_replaced(store: SqliteStore) -> None:
    for job_id in (0, -1, 7, 1 << 70):
        assert await store.job(job_id) is None
    with pytest.raises(UsageError, match="no job 7"):
        await store.replace_job(make_job(7), expect=JobStatus.ACTIVE, reason="")


# --- files ----------


async def test_what_the_store_writes_is_private(store: SqliteStore) -> None:
    await store.append(session_draft("s1"))
    await store.put_blob(b"secret", "text/plain")
    for path in [store.directory, *store.directory.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
