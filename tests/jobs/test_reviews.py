"""Reviewed background actions: asked once, claimed once, done once, never again unasked."""

from __future__ import annotations

import asyncio
import dataclasses

import msgspec
import pytest
from msgspec.structs import replace

from agent.errors import SwitchboardError, UsageError, WrongStateError
from agent.protocol import (
    JobChanged,
    JobPause,
    JobRun,
    JobStop,
    QuestionClosed,
    SessionCancel,
    SessionDelete,
    ToolCallFinished,
    UserInput,
    UserInputAnswer,
)
from agent.records import (
    ActionOutcome,
    Confirmation,
    Job,
    JobStatus,
    NoticeKind,
    ReviewDecision,
    ReviewState,
    RunOutcome,
    RunStatus,
    SessionState,
)
from agent.safety.audit import REVIEW_REQUESTED, REVIEW_RESOLVED, Clerk
from agent.safety.confirmable import is_intact
from agent.state import attention, from_overview
from agent.tasks.task import TaskContext
from tests.jobs.reviewing import (
    PROMPT,
    Act,
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


def confirmation_of(job: Job) -> Confirmation:
    return msgspec.convert(job.pending_tool_request_json, Confirmation)


async def test_a_job_that_wants_to_act_waits_with_a_record_that_binds_the_action(
    stage: Stage,
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage, interval_ms=60_000)
        asked = confirmation_of(job)
        assert asked.schema == "openphone.background_confirmation.v1"
        assert (asked.confirmation_id, asked.job_id) == (job.pending_confirmation_id, job.id)
        assert asked.confirmation_id.startswith("job-confirm-") and is_intact(asked)
        assert asked.phone_session_id == f"background-job:{job.id}"
        assert (asked.tool, asked.params) == ("click_element", {"element": 1})
        assert asked.expires_at - asked.created_at == 900_000
        assert asked.review_state is ReviewState.PENDING and len(asked.binding_digest) == 64
        assert job.resume_token.startswith("job-resume-")
        assert job.checkpoint_json["schema"] == "openphone.background_checkpoint.v1"
        assert "background.confirmation_required: click_element" in job.last_result
        [session] = await sessions_of(stage, job.id)
        assert session.state is SessionState.WAITING_FOR_USER and not session.turn_id
        # The phone is free for others meanwhile.
        assert stage.rack.infos["phone-1"].driver == ""
        [run] = await runs_of(stage, job.id)
        assert (run.status, run.reviews, run.steps) == (RunStatus.AWAITING_REVIEW, 1, 1)
        waits = attention(from_overview(await stage.core.overview()))
        assert [(a.kind.value, a.until_ms) for a in waits] == [("approval", question.deadline_ms)]
        await ring(stage, after_ms=120_000)
        assert (await stage.store.job(job.id)) == job
    assert act.done == []


async def test_an_approval_lets_the_same_session_do_that_one_action_and_go_on(
    stage: Stage,
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        stage.now_ms += 5_000  # type: ignore[operator]
        await say(stage, question, "Approve")
        job = await settled(stage, job.id, COMPLETED)
        [session] = await sessions_of(stage, job.id)
        assert act.done == ["c1"] and job.last_result == "sent"
        assert session.state is SessionState.COMPLETED
        asked = confirmation_of(job)
        assert asked.decision is ReviewDecision.APPROVED
        assert (asked.review_state, asked.resolution) == (
            ReviewState.RESOLVED,
            "background.review_resolved",
        )
        assert (job.pending_confirmation_id, job.resume_token, job.phase) == ("", "", "")
        changes = [e.msg for e in await stage.all_events() if isinstance(e.msg, JobChanged)]
        assert [(c.job.status.value, c.job.phase) for c in changes] == [
            ("active", ""),
            ("running", ""),
            ("awaiting_review", "awaiting_review"),
            ("waiting", "approval_executing"),
            ("queued", "resuming"),
            ("running", ""),
            ("completed", ""),
        ]
        [run] = await runs_of(stage, job.id)
        assert (run.outcome, run.reviewed_ms, run.time.model_ms) == (
            RunOutcome.FINISHED,
            5_000,
            7,
        )
        with pytest.raises(WrongStateError):
            await say(stage, question, "Approve")
    assert act.done == ["c1"]


async def test_each_action_of_a_run_is_reviewed_by_itself(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act(times=2)
    async with stage.play():
        job, question = await waiting_job(stage)
        await say(stage, question, "yes")

        async def again() -> Job | None:
            now = await stage.store.job(job.id)
            other = now and now.pending_confirmation_id not in ("", job.pending_confirmation_id)
            return now if other else None

        await stage.until(again, "the second review")
        assert act.done == ["c1"]
        [question] = await stage.store.open_questions()
        await say(stage, question, "yes")
        await settled(stage, job.id, COMPLETED)
        [run] = await runs_of(stage, job.id)
    assert act.done == ["c1", "c2"] and run.reviews == 2


@pytest.mark.parametrize("answer", ["Deny", "no", "maybe", "approve it later"])
async def test_anything_but_a_plain_yes_ends_the_run_and_nothing_is_done(
    stage: Stage, answer: str
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        await say(stage, question, answer)
        job = await settled(stage, job.id, FAILED)
        [session] = await sessions_of(stage, job.id)
        [run] = await runs_of(stage, job.id)
        [refused] = of_type(await stage.msgs(session.session_id), ToolCallFinished)
    assert act.done == [] and session.state is SessionState.CANCELLED
    assert "background.action_denied" in job.last_result
    assert confirmation_of(job).decision is ReviewDecision.DENIED
    assert (run.outcome, refused.outcome) == (RunOutcome.DENIED, ActionOutcome.FAILED)


async def test_a_recurring_job_that_was_denied_comes_again_at_its_next_time(stage: Stage) -> None:
    stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage, interval_ms=60_000)
        await say(stage, question, "Deny")
        job = await settled(stage, job.id, ACTIVE)
        assert (job.failure_count, job.next_run_at) == (0, stage.clock() + 60_000)


async def test_of_two_answers_at_once_one_counts(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        op = UserInputAnswer(question_id=question.question_id, answer="Approve")
        said = await asyncio.gather(
            *(stage.core.request(op) for _ in range(5)), return_exceptions=True
        )
        await settled(stage, job.id, COMPLETED)
    assert sum(isinstance(one, SwitchboardError) for one in said) == 4
    assert act.done == ["c1"]


async def test_a_review_that_expires_ends_the_run_and_says_so(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        stage.now_ms = question.deadline_ms
        with pytest.raises(WrongStateError, match="review_expired"):
            await say(stage, question, "Approve")
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="", expired=True))
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


async def test_what_was_approved_when_the_core_died_is_not_done_again(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    cue = Cue()

    async def on_the_way(_context: TaskContext) -> None:
        await cue.wait()

    act.before_it = on_the_way
    async with stage.play():
        job, question = await waiting_job(stage, interval_ms=60_000)
        await say(stage, question, "Approve")
        await cue.there()
        assert (await settled(stage, job.id, JobStatus.WAITING)).phase == "approval_executing"
    act.before_it = None
    async with stage.play():
        job = await settled(stage, job.id, FAILED)
        assert job.phase == "review_resolution_unknown"
        assert "nobody knows whether it was done" in job.last_result
        await ring(stage, after_ms=3_600_000)
        assert await stage.store.job(job.id) == job
        [session] = await sessions_of(stage, job.id)
        [run] = await runs_of(stage, job.id)
        assert (session.state, run.outcome) == (SessionState.FAILED, RunOutcome.UNKNOWN)
        assert act.done == []
        # A person may start it over, which asks anew.
        await stage.do(JobRun(job_id=job.id))
        await ring(stage, after_ms=0)
        await settled(stage, job.id, AWAITING)
    assert act.done == []


async def test_what_was_approved_and_had_not_begun_when_the_core_ended_is_said_so(
    stage: Stage,
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        stage.rack.unplug("phone-1")
        await say(stage, question, "Approve")
        await settled(stage, job.id, JobStatus.WAITING)
    stage.rack.plug("phone-1")
    async with stage.play():
        job = await settled(stage, job.id, FAILED)
        [run] = await runs_of(stage, job.id)
    assert job.phase == "review_resolution_unknown"
    assert "before it began; it was not done" in job.last_result
    assert (run.outcome, run.diagnostics) == (
        RunOutcome.UNKNOWN,
        "The core ended before it went on.",
    )
    assert act.done == []


async def test_a_review_outlives_the_core_that_asked(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
    async with stage.play():
        assert (await stage.store.job(job.id)).status is AWAITING  # type: ignore[union-attr]
        await say(stage, question, "Approve")
        job = await settled(stage, job.id, COMPLETED)
    assert act.done == ["c1"]


async def test_a_job_whose_review_was_asked_just_before_the_core_died_waits_for_it(
    stage: Stage,
) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        # The session's end was stored, the job's record not yet.
        running = replace(
            job, status=JobStatus.RUNNING, running_at=stage.clock(), checkpoint_json={}
        )
        assert await stage.store.replace_job(running, expect=AWAITING, reason="test")
    async with stage.play():
        again = await settled(stage, job.id, AWAITING)
        assert again.pending_confirmation_id == job.pending_confirmation_id
        await say(stage, question, "Approve")
        await settled(stage, job.id, COMPLETED)
    assert act.done == ["c1"]


async def test_an_approval_whose_phone_does_not_come_is_not_kept_for_later(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        checkpoint = {**job.checkpoint_json, "worked_ms": 299_900}
        almost_over = replace(job, checkpoint_json=checkpoint)
        assert await stage.store.replace_job(almost_over, expect=AWAITING, reason="test")
        errand = stage.core._desk._runs.errand_after(almost_over)
        assert (errand.deadline_s, errand.max_steps) == (15.0, 25)
        async with stage.rack.lease("phone-1", "operator"):
            stage.core._desk._runs.errand_after = lambda _: dataclasses.replace(  # type: ignore[method-assign]
                errand, deadline_s=0.05
            )
            stage.parts[PROMPT] = act
            stage.rack.unplug("phone-1")
            await say(stage, question, "Approve")
            job = await settled(stage, job.id, ACTIVE)
    assert act.done == [] and job.failure_count == 1
    assert confirmation_of(job).resolution == "background.review_commit_failed"


async def test_the_audit_has_the_digests_of_a_review_and_nothing_of_the_screen(
    stage: Stage,
) -> None:
    stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        await say(stage, question, "Deny")
        await settled(stage, job.id, FAILED)
        clerk = Clerk()
        told = [line for e in await stage.all_events() if (line := clerk.fact(e))]
    [asked] = [line for line in told if line["event_type"] == REVIEW_REQUESTED]
    [done] = [line for line in told if line["event_type"] == REVIEW_RESOLVED]
    ticket = question.review
    assert ticket is not None
    assert asked["params_sha256"] == ticket.params_digest
    assert "Send" not in str(asked) and done["decision"] == "denied"


async def test_stopping_a_job_that_waits_closes_its_review(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        with pytest.raises(UsageError):
            await stage.do(JobPause(job_id=job.id))
        await stage.do(JobStop(job_id=job.id))
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
                await stage.do(SessionCancel(session_id=session.session_id))
            case "delete":
                await stage.do(SessionCancel(session_id=session.session_id))
                await settled(stage, job.id, ACTIVE)
                await stage.do(SessionDelete(session_id=session.session_id))
            case _:
                act.times = 0
                await stage.do(UserInput(session_id=session.session_id, text="leave it"))
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
        closed = of_type(await stage.msgs(session_id), QuestionClosed)
    assert session.state is SessionState.WAITING_FOR_USER and closed == []
    assert act.done == []


async def test_a_job_that_died_in_a_persons_session_never_goes_on_as_the_person(
    stage: Stage,
) -> None:
    cue = Cue()
    background: list[bool] = []

    async def part(context: TaskContext) -> str:
        background.append(context.background)
        if len(background) == 2:
            await cue.wait()
        return "tidied"

    stage.parts["tidy up"] = part
    stage.set(recovery={"auto_resume": True, "retries": 3})
    async with stage.play():
        session_id = await stage.create("tidy up")
        await stage.reach(session_id, SessionState.COMPLETED)
        job = await create(stage, session_target=f"session:{session_id}")
        await ring(stage)
        await cue.there()
    async with stage.play():
        await settled(stage, job.id, ACTIVE)
        session = await stage.store.session(session_id)
        assert session.state is SessionState.FAILED
    assert background == [False, True]
