"""What a store keeps beside the log: sessions, questions and jobs."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent import protocol, records
from agent.errors import UsageError, WrongStateError
from agent.state.reducer import fold_session
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import DATABASES, Opener
from tests.store.conftest import make_job, question_draft, session_draft


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_session_is_found_by_id_and_by_a_unique_prefix(store: Store) -> None:
    await store.append(session_draft("abc1"), session_draft("abc12"), session_draft("abd"))
    assert (await store.session("abd")).session_id == "abd"
    assert (await store.session(" abc12 ")).session_id == "abc12"
    assert (await store.session("abc1")).session_id == "abc1"  # an exact id is never ambiguous
    with pytest.raises(UsageError, match="abc1, abc12"):
        await store.session("abc")
    for unknown in ("x", "", "  ", "%", "_", "\udcff", "abd\x00"):
        with pytest.raises(UsageError, match="no session"):
            await store.session(unknown)


async def test_sessions_are_listed_newest_first_and_children_oldest_first(store: Store) -> None:
    await store.append(session_draft("p"), session_draft("c1", parent_id="p"))
    await store.append(session_draft("c2", parent_id="p"))
    done = protocol.SessionStateChanged(state=records.SessionState.COMPLETED)
    await store.append(EventDraft("c1", done))
    assert [s.session_id for s in await store.sessions()] == ["c2", "c1", "p"]
    assert [s.session_id for s in await store.sessions(limit=1)] == ["c2"]
    assert [s.session_id for s in await store.sessions(active_only=True)] == ["c2", "p"]
    assert [s.session_id for s in await store.children("p")] == ["c1", "c2"]
    assert await store.children("") == ()


FACTS: st.SearchStrategy[protocol.EventMsg] = st.one_of(
    st.builds(protocol.SessionStateChanged, state=st.sampled_from(records.SessionState)),
    st.builds(
        protocol.SessionFlagsChanged, paused=st.booleans(), held=st.booleans(), lost=st.booleans()
    ),
    st.builds(protocol.TaskStarted, turn_id=st.text(max_size=5)),
    st.builds(protocol.TaskComplete, turn_id=st.text(max_size=5)),
    st.builds(
        protocol.StepCompleted,
        step=st.integers(1, 9),
        time=st.builds(records.TimeSplit, observe_ms=st.integers(0, 99)),
        usage=st.builds(records.Usage, input_tokens=st.integers(0, 99), calls=st.just(1)),
        counted=st.booleans(),
    ),
    st.builds(
        protocol.PlanUpdate, plan=st.lists(st.builds(records.PlanItem, step=st.text())).map(tuple)
    ),
    st.builds(protocol.ResultPublished, text=st.text()),
    st.builds(protocol.ErrorEvent, message=st.text()),
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from("abc"), FACTS), max_size=20))
async def test_the_session_rows_are_what_folding_the_log_gives(
    fresh: Callable[[], Opener], facts: list[tuple[str, protocol.EventMsg]]
) -> None:
    opener = fresh()
    async with opener() as store:
        await store.append(*(session_draft(name) for name in "abc"))
        await asyncio.gather(*(store.append(EventDraft(name, msg)) for name, msg in facts))
    async with opener() as store:
        for name in "abc":
            folded: records.Session | None = None
            for event in await store.session_events(name):
                folded = fold_session(folded, event)
            assert await store.session(name) == folded


async def test_the_first_answer_wins_even_when_two_come_at_once(store: Store) -> None:
    await store.append(session_draft("s1"), question_draft("q1"))
    answers = await asyncio.gather(
        *(
            store.append(
                EventDraft("s1", protocol.QuestionAnswered(question_id="q1", answer=answer))
            )
            for answer in ("left", "right", "up")
        ),
        return_exceptions=True,
    )
    assert [isinstance(answer, WrongStateError) for answer in answers] == [False, True, True]
    question, is_open = await store.question("q1")
    assert (question.text, is_open) == ("Which one?", False)
    assert await store.open_questions() == ()
    stored = [e.msg for e in await store.session_events("s1")]
    assert [m.answer for m in stored if isinstance(m, protocol.QuestionAnswered)] == ["left"]


async def test_open_questions_are_listed_oldest_first_until_closed(store: Store) -> None:
    await store.append(session_draft("s1"), question_draft("q2"), question_draft("q1"))
    assert [q.question_id for q in await store.open_questions()] == ["q2", "q1"]
    closed = protocol.QuestionClosed(question_id="q2", reason="its turn ended")
    await store.append(EventDraft("s1", closed))
    await store.append(EventDraft("s1", closed))
    assert [q.question_id for q in await store.open_questions()] == ["q1"]
    with pytest.raises(UsageError, match="no question"):
        await store.question("q9")
    with pytest.raises(UsageError, match="no question"):
        await store.append(EventDraft("s1", protocol.QuestionAnswered(question_id="q9", answer="")))


async def test_a_job_gets_its_id_and_its_event_in_one_go(store: Store) -> None:
    seen: list[protocol.Event] = []
    store.subscribe(lambda commit: seen.extend(commit.events))
    first, second = await asyncio.gather(store.create_job(make_job), store.create_job(make_job))
    assert (first.id, second.id) == (1, 2)
    assert [event.msg for event in seen] == [
        protocol.JobChanged(job=first, reason="created"),
        protocol.JobChanged(job=second, reason="created"),
    ]


async def test_only_the_first_of_two_claims_takes_a_job(store: Store) -> None:
    job = await store.create_job(make_job)
    running = replace(job, status=records.JobStatus.RUNNING, running_at=9)
    claims = await asyncio.gather(
        *(
            store.replace_job(running, expect=records.JobStatus.ACTIVE, reason=f"claim {n}")
            for n in range(3)
        )
    )
    assert claims == [True, False, False]
    events = await store.events(after=0, limit=10)
    assert [e.msg.reason for e in events if isinstance(e.msg, protocol.JobChanged)] == [
        "created",
        "claim 0",
    ]


async def test_a_late_result_never_revives_a_stopped_job(store: Store) -> None:
    job = await store.create_job(make_job)
    running = replace(job, status=records.JobStatus.RUNNING)
    stopped = replace(job, status=records.JobStatus.STOPPED)
    assert await store.replace_job(running, expect=records.JobStatus.ACTIVE, reason="claimed")
    assert await store.replace_job(stopped, expect=records.JobStatus.RUNNING, reason="stopped")
    late = replace(job, status=records.JobStatus.ACTIVE, last_result="done")
    assert not await store.replace_job(late, expect=records.JobStatus.RUNNING, reason="result")
    assert await store.job(job.id) == stopped


async def test_jobs_are_found_by_text_in_any_case_newest_first(store: Store) -> None:
    await store.create_job(lambda i: make_job(i, title="Straße kehren"))
    await store.create_job(lambda i: make_job(i, prompt="ÄPFEL kaufen"))
    await store.create_job(lambda i: make_job(i, status=records.JobStatus.PAUSED))
    assert [job.id for job in await store.jobs()] == [3, 2, 1]
    assert [job.id for job in await store.jobs(limit=2)] == [3, 2]
    assert [job.id for job in await store.jobs(query="STRASSE")] == [1]
    assert [job.id for job in await store.jobs(query="äpfel")] == [2]
    assert [job.id for job in await store.jobs(query="PAUSED")] == [3]
    assert [job.id for job in await store.jobs(query="%")] == []


async def test_due_jobs_come_in_order_and_the_next_wake_is_known(store: Store) -> None:
    assert await store.next_due_ms() is None
    for due in (500, 100, 300, 0, 900):
        await store.create_job(lambda i, due=due: make_job(i, next_run_at=due))
    await store.create_job(lambda i: make_job(i, next_run_at=1, status=records.JobStatus.STOPPED))
    assert [job.next_run_at for job in await store.due_jobs(500)] == [0, 100, 300]
    assert [job.next_run_at for job in await store.due_jobs(500, limit=9)] == [0, 100, 300, 500]
    assert await store.next_due_ms() == 0


async def test_stale_jobs_are_those_that_run_since_long(store: Store) -> None:
    for began in (100, 200, 300):
        await store.create_job(
            lambda i, began=began: make_job(i, status=records.JobStatus.RUNNING, running_at=began)
        )
    assert [job.running_at for job in await store.stale_jobs(200)] == [100, 200]


async def test_an_unknown_job_is_nobody_and_cannot_be_replaced(store: Store) -> None:
    for job_id in (0, -1, 7, 1 << 70):
        assert await store.job(job_id) is None
    with pytest.raises(UsageError, match="no job 7"):
        await store.replace_job(make_job(7), expect=records.JobStatus.ACTIVE, reason="")
