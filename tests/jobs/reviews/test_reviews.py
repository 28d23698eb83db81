"""Reviewed background actions: asked once, answered once, done once."""

import asyncio

import pytest

from agent import protocol, records
from agent.audit.audit_writer import REVIEW_REQUESTED, REVIEW_RESOLVED, AuditWriter
from agent.errors import SwitchboardError, WrongStateError
from agent.safety.review_binding import is_intact
from agent.state.reducer import attention, from_overview
from tests.jobs.reviewing import (
    PROMPT,
    Act,
    confirmation_of,
    ring,
    runs_of,
    say,
    sessions_of,
    settled,
    waiting_job,
)
from tests.stage import Stage, of_type

ACTIVE, STOPPED, FAILED = (
    records.JobStatus.ACTIVE,
    records.JobStatus.STOPPED,
    records.JobStatus.FAILED,
)
AWAITING, COMPLETED = records.JobStatus.AWAITING_REVIEW, records.JobStatus.COMPLETED


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
        assert asked.review_state is records.ReviewState.PENDING and len(asked.binding_digest) == 64
        assert "decision" not in job.pending_tool_request_json
        assert job.resume_token.startswith("job-resume-")
        assert job.checkpoint_json["schema"] == "openphone.background_checkpoint.v1"
        assert "background.confirmation_required: click_element" in job.last_result
        [session] = await sessions_of(stage, job.id)
        assert session.state is records.SessionState.WAITING_FOR_USER and not session.turn_id
        # The phone is free for others meanwhile.
        assert stage.fleet.infos["phone-1"].driver == ""
        [run] = await runs_of(stage, job.id)
        assert (run.status, run.reviews, run.steps) == (records.RunStatus.AWAITING_REVIEW, 1, 1)
        waits = attention(from_overview(await stage.core.overview()))
        assert [(a.kind.value, a.until_ms) for a in waits] == [("approval", question.deadline_ms)]
        await ring(stage, after_ms=120_000)
        assert (await stage.store.job(job.id)) == job
    assert act.done == []


async def test_an_approval_lets_the_same_session_do_that_one_action_and_go_on(stage: Stage) -> None:
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        stage.now_ms += 5_000  # type: ignore[operator]
        await say(stage, question, "Approve")
        job = await settled(stage, job.id, COMPLETED)
        [session] = await sessions_of(stage, job.id)
        assert act.done == ["c1"] and job.last_result == "sent"
        assert session.state is records.SessionState.COMPLETED
        asked = confirmation_of(job)
        assert asked.decision is records.ReviewDecision.APPROVED
        assert (asked.review_state, asked.resolution) == (
            records.ReviewState.RESOLVED,
            "background.review_resolved",
        )
        assert (job.pending_confirmation_id, job.resume_token, job.phase) == ("", "", "")
        changes = [
            e.msg for e in await stage.all_events() if isinstance(e.msg, protocol.JobChanged)
        ]
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
            records.RunOutcome.FINISHED,
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

        async def again() -> records.Job | None:
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
        [refused] = of_type(await stage.msgs(session.session_id), protocol.ToolCallFinished)
    assert act.done == [] and session.state is records.SessionState.CANCELLED
    assert "background.action_denied" in job.last_result
    assert confirmation_of(job).decision is records.ReviewDecision.DENIED
    assert (run.outcome, refused.outcome) == (
        records.RunOutcome.DENIED,
        records.ActionOutcome.FAILED,
    )


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
        op = protocol.UserInputAnswer(question_id=question.question_id, answer="Approve")
        said = await asyncio.gather(
            *(stage.core.request(op) for _ in range(5)), return_exceptions=True
        )
        await settled(stage, job.id, COMPLETED)
    assert sum(isinstance(one, SwitchboardError) for one in said) == 4
    assert act.done == ["c1"]


async def test_the_audit_has_the_digests_of_a_review_and_nothing_of_the_screen(
    stage: Stage,
) -> None:
    stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
        await say(stage, question, "Deny")
        await settled(stage, job.id, FAILED)
        facts = AuditWriter()
        told = [line for e in await stage.all_events() if (line := facts.fact(e))]
    [asked] = [line for line in told if line["event_type"] == REVIEW_REQUESTED]
    [done] = [line for line in told if line["event_type"] == REVIEW_RESOLVED]
    ticket = question.review
    assert ticket is not None
    assert asked["params_sha256"] == ticket.params_digest
    assert "Send" not in str(asked) and done["decision"] == "denied"
