"""How a commitment is written down, comes due and is done with: pure.

Not the timer that looks for what is due (`agent.watchers.watcher_scheduler`). Every function is
told the time in milliseconds since the epoch. Invariant: what is completed or dismissed stays so
until somebody takes it up again.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from agent.errors import UsageError, WrongStateError
from agent.protocol import CommitmentCreate, CommitmentUpdate
from agent.records import Commitment, CommitmentStatus, TriggerType
from agent.safety.redacting.redaction import redact, redact_secrets
from agent.schedules import check_moment
from agent.sessions.rules.answers import checked_text
from agent.sessions.rules.creation import requested_id
from agent.text import clean, one_line

SNOOZE_MS = 3_600_000  # An hour, as in OpenPhone.
USUAL_CONFIDENCE = 0.8
CONFIDENCE_IN_A_NOTIFICATION = 0.75  # OpenPhone's figures.
EXPIRED = "expired"
_TITLE_LIMIT_CHARS = 200
_DESCRIPTION_LIMIT_CHARS = 4000
_EVIDENCE_LIMIT_BYTES = 8000
_WAITING = frozenset({CommitmentStatus.ACTIVE, CommitmentStatus.SNOOZED})


def planned_commitment(op: CommitmentCreate, *, now_ms: int) -> Callable[[int], Commitment]:
    """Check a request and give what makes its record once the id is known. Raises UsageError."""
    title = checked_text(op.title, "The title", limit=_TITLE_LIMIT_CHARS).strip()
    description = redact_secrets(clean(op.description, _DESCRIPTION_LIMIT_CHARS))
    for name, at_ms in (("due_at", op.due_at), ("expires_at", op.expires_at)):
        check_moment(name, at_ms)
    if op.expires_at and op.expires_at <= max(now_ms, op.due_at):
        raise UsageError(
            "The commitment would expire before it is due.", "Give a later `expires_at`."
        )
    confidence = op.confidence
    if confidence is None:
        confidence = USUAL_CONFIDENCE if op.origin is None else CONFIDENCE_IN_A_NOTIFICATION
    if not 0 <= confidence <= 1:
        raise UsageError(f"confidence is {confidence}.", "Use 0 to 1.")
    if len(msgspec.json.encode(op.evidence)) > _EVIDENCE_LIMIT_BYTES:
        raise UsageError("The evidence is too long.", f"Use at most {_EVIDENCE_LIMIT_BYTES} bytes.")
    evidence = {
        one_line(name, 60): redact(clean(value, _DESCRIPTION_LIMIT_CHARS))
        if isinstance(value, str)
        else value
        for name, value in op.evidence.items()
    }
    trigger = TriggerType.TIME if op.due_at else TriggerType.MANUAL
    spec: dict[str, Any] = {"at": op.due_at} if op.due_at else {}

    def build(commitment_id: int) -> Commitment:
        return Commitment(
            id=commitment_id,
            title=title,
            description=description,
            trigger_type=trigger,
            trigger_spec_json=spec,
            due_at=op.due_at,
            expires_at=op.expires_at,
            status=CommitmentStatus.ACTIVE if op.due_at else CommitmentStatus.PENDING,
            confidence=confidence,
            evidence_json=evidence,
            created_at=now_ms,
            updated_at=now_ms,
            request=requested_id(op.request_id),
        )

    return build


def updated(stored: Commitment, op: CommitmentUpdate, now_ms: int) -> Commitment | None:
    """Return the record as somebody wants it; None when it is so already.

    Raises:
        WrongStateError: nobody can want that of it.
        UsageError: a time that cannot be used.
    """
    check_moment("due_at", op.due_at)
    match op.status:
        case CommitmentStatus.COMPLETED | CommitmentStatus.DISMISSED:
            if stored.status is op.status:
                return None
            return replace(stored, status=op.status, updated_at=now_ms)
        case CommitmentStatus.SNOOZED:
            if stored.status.is_over:
                raise WrongStateError(
                    f"Commitment {stored.id} is {stored.status}.", "Reopen it first: active."
                )
            return _due(stored, op.status, op.due_at or now_ms + SNOOZE_MS, now_ms)
        case CommitmentStatus.ACTIVE if op.due_at:
            return _due(stored, op.status, op.due_at, now_ms)
        case CommitmentStatus.ACTIVE | CommitmentStatus.PENDING:
            return replace(stored, status=CommitmentStatus.PENDING, due_at=0, updated_at=now_ms)
        case CommitmentStatus.FIRED:
            raise WrongStateError("A commitment fires automatically when it is due.")


def come_due(stored: Commitment, now_ms: int) -> Commitment | None:
    """Return the record of a commitment whose time has come, or that has expired; None before."""
    if stored.status.is_over:
        return None
    if 0 < stored.expires_at <= now_ms:
        return replace(stored, status=CommitmentStatus.DISMISSED, updated_at=now_ms)
    if stored.status in _WAITING and 0 < stored.due_at <= now_ms:
        return replace(stored, status=CommitmentStatus.FIRED, updated_at=now_ms)
    return None


def wakes_at_ms(stored: Commitment) -> int:
    """Return when something comes of a commitment by itself; 0 for never."""
    times = [stored.expires_at] if stored.expires_at else []
    if stored.status in _WAITING and stored.due_at:
        times.append(stored.due_at)
    return min(times, default=0)


def _due(stored: Commitment, status: CommitmentStatus, at_ms: int, now_ms: int) -> Commitment:
    expires_at = stored.expires_at if stored.expires_at > at_ms else 0
    return replace(stored, status=status, due_at=at_ms, expires_at=expires_at, updated_at=now_ms)
