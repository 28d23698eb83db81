"""The job's record at each step of a review: awaited, approved, denied, expired, unknown. Pure.

`agent.loop.acting.action_review` asks, `agent.jobs.reviews` stores. Statuses, phases and result
codes are OpenPhone's (its background-confirmation schema). Invariants: an approval is bound to one
action of one job by its digests; what was approved when a core died is never done again by itself.
"""

from typing import Any
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from agent import records
from agent.errors import WrongStateError
from agent.jobs.schedule import given_up
from agent.safety.review_binding import (
    SUMMARY_LIMIT_CHARS,
    binding_digest,
    is_intact,
    params_digest,
)

CONFIRMATION_REQUIRED = "background.confirmation_required"
TIMEOUT = "background.confirmation_timeout"
DENIED = "background.action_denied"
RESOLVED = "background.review_resolved"
COMMIT_FAILED = "background.review_commit_failed"
ALREADY_RESOLVED = "background.review_already_resolved"
UNREVIEWED = "nobody reviewed it in time"
PHASE_ASKED = "awaiting_review"
PHASE_EXECUTING = "approval_executing"
PHASE_RESUMING = "resuming"
PHASE_UNKNOWN = "review_resolution_unknown"


def awaiting(
    job: records.Job,
    question: records.Question,
    params: dict[str, Any],
    run: records.RunRecord,
    worked_ms: int,
    now_ms: int,
) -> records.Job:
    """Return the record of a job whose run waits for the review of an action.

    Args:
        job: as it is stored.
        question: what the operator is asked; it has a review ticket.
        params: the arguments of the blocked call.
        run: the run that asked.
        worked_ms: how much of its time that run has used up.
        now_ms: the time.
    """
    assert question.review is not None, "a review's question has a ticket"
    ticket = question.review
    unbound = records.Confirmation(
        confirmation_id=ticket.confirmation_id,
        job_id=job.id,
        phone_session_id=f"background-job:{job.id}",
        tool=ticket.tool,
        params=params,
        params_digest=params_digest(ticket.tool, params),
        binding_digest="",
        idempotency_key=f"job:{job.id}:{uuid4()}",
        created_at=question.asked_ms,
        expires_at=question.deadline_ms,
        summary=question.text[:SUMMARY_LIMIT_CHARS],
    )
    checkpoint = records.Checkpoint(
        schema=records.CHECKPOINT_SCHEMA,
        run_id=run.run_id,
        session_id=question.session_id,
        question_id=question.question_id,
        call_id=question.call_id,
        screen_digest=ticket.screen_digest,
        worked_ms=worked_ms,
    )
    return replace(
        job,
        status=records.JobStatus.AWAITING_REVIEW,
        phase=PHASE_ASKED,
        running_at=0,
        next_run_at=0,
        updated_at=now_ms,
        last_event_at=now_ms,
        last_result=f"{CONFIRMATION_REQUIRED}: {ticket.tool} in session {question.session_id}",
        pending_confirmation_id=ticket.confirmation_id,
        pending_tool_request_json=_with(unbound, binding_digest=binding_digest(unbound)),
        checkpoint_json=msgspec.to_builtins(checkpoint),
        resume_token=f"job-resume-{uuid4()}",
    )


def approving(job: records.Job, question: records.Question, now_ms: int) -> records.Job:
    """Return the record of a job whose action has just been approved: claimed, once.

    Raises:
        WrongStateError: it does not wait for this review any more, or it is not what was shown.
    """
    confirmation = asked_of(job, question, now_ms)
    return replace(
        job,
        status=records.JobStatus.WAITING,
        phase=PHASE_EXECUTING,
        updated_at=now_ms,
        last_event_at=now_ms,
        pending_tool_request_json=_with(
            confirmation,
            review_state=records.ReviewState.RESOLVING,
            decision=records.ReviewDecision.APPROVED,
            reviewed_at=now_ms,
        ),
    )


def resuming(job: records.Job, resolution: str, now_ms: int) -> records.Job:
    """Return the record of a job whose reviewed action has come to something: its run is queued."""
    return replace(
        job,
        status=records.JobStatus.QUEUED,
        phase=PHASE_RESUMING,
        updated_at=now_ms,
        last_event_at=now_ms,
        pending_confirmation_id="",
        pending_tool_request_json=_with(
            confirmation_of(job),
            review_state=records.ReviewState.RESOLVED,
            resolution=resolution,
            resolved_at=now_ms,
        ),
    )


def resumed(job: records.Job, now_ms: int) -> records.Job:
    """Return the record of a job whose run has been taken up again."""
    return replace(
        job,
        status=records.JobStatus.RUNNING,
        phase="",
        running_at=now_ms,
        updated_at=now_ms,
        checkpoint_json={},
        resume_token="",
    )


def denied(job: records.Job, question: records.Question, now_ms: int) -> records.Job:
    """Return the record of a job whose action was refused: its run is over, its schedule goes on.

    Raises:
        WrongStateError: as `approving`.
    """
    confirmation = asked_of(job, question, now_ms)
    resolved = _with(
        confirmation,
        review_state=records.ReviewState.RESOLVED,
        decision=records.ReviewDecision.DENIED,
        reviewed_at=now_ms,
        resolution=DENIED,
        resolved_at=now_ms,
    )
    result = f"{DENIED}: the operator refused {confirmation.tool}"
    return given_up(replace(job, pending_tool_request_json=resolved), result, now_ms)


def has_expired(job: records.Job, now_ms: int) -> bool:
    """Return whether the time is up in which a job's action could be reviewed."""
    return 0 < confirmation_of(job).expires_at <= now_ms


def review_expired(job: records.Job, now_ms: int) -> records.Job:
    """Return the record of a job whose action was not reviewed in time; the run goes on."""
    result = f"{TIMEOUT}: {confirmation_of(job).tool}: {UNREVIEWED}"
    return replace(resuming(job, TIMEOUT, now_ms), last_result=result)


def unanswered(job: records.Job, reason: str, now_ms: int) -> records.Job:
    """Return the record of a job whose review closed without an answer: its run is over."""
    confirmation = confirmation_of(job)
    expired = has_expired(job, now_ms)
    code = TIMEOUT if expired else DENIED
    resolved = _with(
        confirmation, review_state=records.ReviewState.RESOLVED, resolution=code, resolved_at=now_ms
    )
    said = UNREVIEWED if expired else reason
    result = f"{code}: {confirmation.tool}: {said}"
    return given_up(replace(job, pending_tool_request_json=resolved), result, now_ms)


def undone(job: records.Job, now_ms: int) -> records.Job:
    """Return the record of a job whose approved action came to nothing; others stay as they are."""
    if job.status is not records.JobStatus.WAITING:
        return job
    resolved = _with(
        confirmation_of(job),
        review_state=records.ReviewState.RESOLVED,
        resolution=COMMIT_FAILED,
        resolved_at=now_ms,
    )
    return replace(job, pending_tool_request_json=resolved)


def unknown(job: records.Job, now_ms: int, *, began: bool = True) -> records.Job:
    """Return the record of a job whose core ended between the approval and the end of its action.

    It is not done again: the operator looks at the phone, and runs the job again or not.

    Args:
        job: as it is stored.
        now_ms: the time.
        began: whether a turn had begun since the approval; before that nothing can have been done.
    """
    confirmation = confirmation_of(job)
    resolved = _with(
        confirmation,
        review_state=records.ReviewState.RESOLVED,
        resolution=PHASE_UNKNOWN,
        resolved_at=now_ms,
    )
    said = (
        "was approved, and the core ended under it; nobody knows whether it was done, and it is "
        "not done again"
        if began
        else "was approved, and the core ended before it began; it was not done, and is not done "
        "by itself"
    )
    result = f"{PHASE_UNKNOWN}: {confirmation.tool} {said}"
    ended = given_up(replace(job, pending_tool_request_json=resolved), result, now_ms)
    return replace(ended, status=records.JobStatus.FAILED, next_run_at=0, phase=PHASE_UNKNOWN)


def confirmation_of(job: records.Job) -> records.Confirmation:
    """Read what a job asked to be reviewed. Raises WrongStateError when it asked nothing."""
    try:
        return msgspec.convert(job.pending_tool_request_json, records.Confirmation)
    except msgspec.ValidationError as error:
        raise WrongStateError(f"Job {job.id} has no action that could be reviewed.") from error


def checkpoint_of(job: records.Job) -> records.Checkpoint:
    """Read where a job's run goes on; one without a schema when it has none."""
    try:
        return msgspec.convert(job.checkpoint_json, records.Checkpoint)
    except msgspec.ValidationError:
        return records.Checkpoint()


def asked_of(job: records.Job, question: records.Question, now_ms: int) -> records.Confirmation:
    """Return the review that a question is about, if it still stands. Raises WrongStateError."""
    ticket = question.review
    if (
        ticket is None
        or job.status is not records.JobStatus.AWAITING_REVIEW
        or job.pending_confirmation_id != ticket.confirmation_id
    ):
        raise WrongStateError(
            f"{ALREADY_RESOLVED}: job {job.id} is {job.status.value} and does not wait for this.",
            f"See the result: switchboard jobs show {job.id}",
        )
    confirmation = confirmation_of(job)
    if not is_intact(confirmation) or confirmation.params_digest != ticket.params_digest:
        raise WrongStateError(
            f"{COMMIT_FAILED}: what job {job.id} wants to do has changed since you were asked.",
            f"Stop it: switchboard jobs stop {job.id}",
        )
    if has_expired(job, now_ms):
        raise WrongStateError(
            f"background.review_expired: the review of job {job.id} has expired.",
            f"Run it again: switchboard jobs run {job.id}",
        )
    return confirmation


def _with(confirmation: records.Confirmation, **changes: object) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(replace(confirmation, **changes))
    # The schema knows a decision only once there is one.
    return {key: value for key, value in built.items() if value is not None}
