"""Define reviewed actions of background jobs: the question and the decision.

The field names of `Confirmation` are those of OpenPhone's `background-confirmation.schema.json`,
those of `Checkpoint` ours. Digests and checks are in `agent.safety.review_binding`.
"""

from enum import StrEnum
from typing import Any

import msgspec

from agent.records.record import Record

CONFIRMATION_SCHEMA = "openphone.background_confirmation.v1"
CHECKPOINT_SCHEMA = "openphone.background_checkpoint.v1"


class ReviewState(StrEnum):
    """Where a review stands."""

    PENDING = "pending"
    RESOLVING = "resolving"  # Claimed by one answer, which is being carried out.
    RESOLVED = "resolved"


class ReviewDecision(StrEnum):
    """What a review came to."""

    APPROVED = "approved"
    DENIED = "denied"


class ReviewTicket(Record, frozen=True, kw_only=True):
    """What binds a question to the one action of a job that its answer lets pass."""

    confirmation_id: str
    job_id: int
    tool: str
    params_digest: str
    """sha256 of the tool and its canonical arguments, in hex."""
    screen_digest: str
    """What the action depends on of the screen; another one makes the answer void."""


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewed background action, as it is kept in its job's `pending_tool_request_json`."""

    schema: str = CONFIRMATION_SCHEMA
    confirmation_id: str  # With the prefix `job-confirm-`.
    job_id: int
    runtime: str = "builtin"
    phone_session_id: str  # `background-job:` and the job's id.
    tool: str
    params: dict[str, Any]
    params_digest: str
    binding_digest: str
    idempotency_key: str
    created_at: int
    expires_at: int
    review_state: ReviewState = ReviewState.PENDING
    summary: str = ""
    decision: ReviewDecision | None = None
    reviewed_at: int = 0
    resolution: str = ""
    resolved_at: int = 0


class Checkpoint(Record, frozen=True, kw_only=True):
    """Where a job's run goes on after a review, as it is kept in its `checkpoint_json`."""

    schema: str = ""
    run_id: str = ""
    session_id: str = ""
    question_id: str = ""
    call_id: str = ""
    screen_digest: str = ""
    worked_ms: int = 0
    """How much of its time the run has used up; waiting for the review does not count."""
