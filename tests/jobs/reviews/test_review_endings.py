"""Reviews that end without a yes that counts: expired, stopped, overtaken, changed, too late."""

import dataclasses

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.records import ActionOutcome, JobStatus, NoticeKind, Question, RunOutcome, SessionState
from tests.jobs.reviewing import (
    PROMPT,
    Act,
    confirmation_of,
    create,
    ring,
    runs_of,
    say,
    sessions_of,
    settled,
    waiting_job,
)
from tests.stage import Cue, Stage, of_type

ACTIVE, STOPPED, FAILED = JobStatus.ACTIVE, JobStatus.STOPPED, JobStatus.FAILED
AWAITING, COMPLETED = JobStatus.AWAITING_REVIEW, JobStatus.COMPLETED


async def expire(stage: Stage, question: Question) -> None:
    """Let a question's time pass without an answer."""
    stage.now_ms = question.deadline_ms
    await stage.do(
        protocol.UserInputAnswer(question_id=question.question_id, answer="", expired=True)
    )


async def test_a_run_whose_review_expires_goes_on_without_the_action_and_may_finish(
    stage: Stage,
) -> None:
    act = Act()
    seen: list[protocol.ToolCallFinished] = []

    async def part(context: TaskContext) -> TurnEnd | str:
        seen[:] = [e.msg for e in context.history if isinstance(e.msg, protocol.ToolCallFinished)]
        return "two messages read, nothing sent" if seen else await act(context)

    stage.parts[PROMPT] = part
    async with stage.play():
        job, question = await waiting_job(stage)
        await expire(stage, question)
        job = await settled(stage, job.id, COMPLETED)
        [session] = await sessions_of(stage, job.id)
        [run] = await runs_of(stage, job.id)
        changes = [
            e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.JobChanged)
        ]
    assert (job.last_result, run.result) == ("two messages read, nothing sent",) * 2
    assert (session.state, run.outcome) == (SessionState.COMPLETED, RunOutcome.FINISHED)
    [told] = seen
    assert told.outcome is ActionOutcome.FAILED
    assert told.text.startswith("BLOCKED: click_element was not done: nobody reviewed it in time")
    assert [(c.job.status.value, c.job.phase) for c in changes[2:]] == [
        ("awaiting_review", "awaiting_review"),
        ("queued", "resuming"),
        ("running", ""),
        ("completed", ""),
    ]
    queued = changes[3].job
    assert queued.last_result.startswith("background.confirmation_timeout: click_element")
    assert confirmation_of(queued).resolution == "background.confirmation_timeout"
    assert (confirmation_of(queued).decision, act.done) == (None, [])


async def test_what_a_run_does_not_finish_without_its_action_is_not_tried_again_at_once(
    stage: Stage,
) -> None:
    act = Act()

    async def part(context: TaskContext) -> TurnEnd | str:
        if any(isinstance(e.msg, protocol.ToolCallFinished) for e in context.history):
            return TurnEnd(completed=False, message="It cannot be done without sending.")
        return await act(context)

    stage.parts[PROMPT] = part
    async with stage.play():
        job, question = await waiting_job(stage, interval_ms=60_000)
        await expire(stage, question)
        job = await settled(stage, job.id, ACTIVE)
        [run] = await runs_of(stage, job.id)
    assert (run.outcome, job.failure_count) == (RunOutcome.EXPIRED, 0)
    assert job.next_run_at == stage.clock() + 60_000
    assert job.last_result.startswith("background.confirmation_timeout: It cannot be done")


async def test_a_run_that_is_cancelled_after_its_review_expired_was_cancelled(stage: Stage) -> None:
    act, cue = Act(), Cue()

    async def part(context: TaskContext) -> TurnEnd | str:
        if any(isinstance(e.msg, protocol.ToolCallFinished) for e in context.history):
            await cue.wait()
        return await act(context)

    stage.parts[PROMPT] = part
    async with stage.play():
        job, question = await waiting_job(stage)
        await expire(stage, question)
        await cue.there()
        await stage.do(protocol.SessionCancel(session_id=question.session_id))
        job = await settled(stage, job.id, ACTIVE)
        [run] = await runs_of(stage, job.id)
    assert (run.outcome, job.failure_count, act.done) == (RunOutcome.CANCELLED, 1, [])


async def test_the_second_review_of_a_run_that_expires_ends_it_and_says_so(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, first = await waiting_job(stage)
        stage.now_ms = first.deadline_ms
        with pytest.raises(WrongStateError, match="review_expired"):
            await say(stage, first, "Approve")
        await expire(stage, first)

        async def asked_again() -> Question | None:
            asked = await stage.store.open_questions()
            waits = (await stage.store.job(job.id)).status is AWAITING  # type: ignore[union-attr]
            return asked[0] if asked and waits else None

        second = await stage.until(asked_again, "the second review")
        assert second.question_id != first.question_id
        await expire(stage, second)
        job = await settled(stage, job.id, FAILED)
        assert job.last_result.startswith("background.confirmation_timeout: click_element")
        [session] = await sessions_of(stage, job.id)
        [run] = await runs_of(stage, job.id)
        assert (session.state, run.outcome) == (SessionState.CANCELLED, RunOutcome.EXPIRED)

        async def told() -> bool | None:
            return any(n.job_id == job.id for n in stage.core._notices.shown) or None

        await stage.until(told, "the notice")
        [notice] = [n for n in stage.core._notices.shown if n.job_id == job.id]
    assert notice.kind is NoticeKind.FAILED and "Nobody reviewed" in notice.text
    assert act.done == []


async def test_a_review_that_expires_in_a_core_that_runs_no_jobs_ends_its_run(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        stage.core._job_service.reviews.takes_runs_on = False
        await expire(stage, question)
        job = await settled(stage, job.id, FAILED)
        [run] = await runs_of(stage, job.id)
    assert (run.outcome, act.done) == (RunOutcome.EXPIRED, [])


async def test_an_approval_whose_phone_does_not_come_is_not_kept_for_later(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        checkpoint = {**job.checkpoint_json, "worked_ms": 299_900}
        almost_over = replace(job, checkpoint_json=checkpoint)
        assert await stage.store.replace_job(almost_over, expect=AWAITING, reason="test")
        errand = stage.core._job_service._runs.errand_after(almost_over)
        assert (errand.deadline_s, errand.max_steps) == (15.0, 25)
        async with stage.fleet.lease("phone-1", "operator"):
            stage.core._job_service._runs.errand_after = lambda *_, **__: dataclasses.replace(  # type: ignore[method-assign]
                errand, deadline_s=0.05
            )
            stage.parts[PROMPT] = act
            stage.fleet.unplug("phone-1")
            await say(stage, question, "Approve")
            job = await settled(stage, job.id, ACTIVE)
    assert act.done == [] and job.failure_count == 1
    assert confirmation_of(job).resolution == "background.review_commit_failed"


async def test_stopping_a_job_that_waits_closes_its_review(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        with pytest.raises(UsageError):
            await stage.do(protocol.JobPause(job_id=job.id))
        await stage.do(protocol.JobStop(job_id=job.id))
        [session] = await sessions_of(stage, job.id)
        [run] = await runs_of(stage, job.id)
        assert session.state is SessionState.CANCELLED and run.outcome is RunOutcome.CANCELLED
        assert await stage.store.open_questions() == ()
        with pytest.raises(WrongStateError):
            await say(stage, question, "Approve")
        stopped = await stage.store.job(job.id)
        await ring(stage, after_ms=3_600_000)
        assert await stage.store.job(job.id) == stopped
    assert act.done == []


@pytest.mark.parametrize("how", ["cancel", "delete", "tell"])
async def test_a_session_that_goes_another_way_takes_its_review_along(
    stage: Stage, how: str
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, _ = await waiting_job(stage, interval_ms=60_000)
        [session] = await sessions_of(stage, job.id)
        match how:
            case "cancel":
                await stage.do(protocol.SessionCancel(session_id=session.session_id))
            case "delete":
                await stage.do(protocol.SessionCancel(session_id=session.session_id))
                await settled(stage, job.id, ACTIVE)
                await stage.do(protocol.SessionDelete(session_id=session.session_id))
            case _:
                act.times = 0
                await stage.do(protocol.UserInput(session_id=session.session_id, text="leave it"))
        job = await settled(stage, job.id, ACTIVE)
        assert job.next_run_at == stage.clock() + 60_000
        assert await stage.store.open_questions() == ()
    assert act.done == []


async def test_an_approval_of_a_changed_record_is_refused(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        other = {**job.pending_tool_request_json, "params": {"element": 2}}
        tampered = replace(job, pending_tool_request_json=other)
        assert await stage.store.replace_job(tampered, expect=AWAITING, reason="test")
        with pytest.raises(WrongStateError, match="review_commit_failed"):
            await say(stage, question, "Approve")
    assert act.done == []


async def test_a_job_in_a_persons_session_leaves_it_to_the_person(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()

    async def first(context: TaskContext) -> str:
        return "tidied"

    stage.parts["tidy up"] = first
    async with stage.play():
        session_id = await stage.create("tidy up")
        await stage.reach(session_id, SessionState.COMPLETED)
        stage.parts["tidy up"] = act
        job = await create(stage, session_target=f"session:{session_id}")
        await ring(stage)
        job = await settled(stage, job.id, AWAITING)
        [question] = await stage.store.open_questions()
        await say(stage, question, "Deny")
        await settled(stage, job.id, FAILED)
        session = await stage.store.session(session_id)
        closed = of_type(await stage.msgs(session_id), protocol.QuestionClosed)
    assert session.state is SessionState.WAITING_FOR_USER and closed == []
    assert act.done == []
