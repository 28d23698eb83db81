"""Take the word of a person, or of a checking program, on whether a session met its goal.

Not the verifier of a turn (`agent.loop.verification`). Invariants: the session's state stays as it
is; the newest word counts; a model's own word never comes this way.
"""

from agent.errors import UsageError, WrongStateError
from agent.protocol import SessionVerify, VerificationRecorded
from agent.records import GoalVerdict, SessionState, Verification, VerifiedBy
from agent.safety.redacting.redaction import redact_secrets
from agent.sessions.registry.services import Services
from agent.text import one_line

_MAX_REASON_CHARS = 500
_BY = (VerifiedBy.OPERATOR, VerifiedBy.CHECKER)
_VERDICTS = (GoalVerdict.MET, GoalVerdict.NOT_MET)


async def confirm(parts: Services, op: SessionVerify, submission_id: str = "") -> str:
    """Store what somebody says of a session that has ended; returns its whole id.

    Raises:
        UsageError: no such session, or a word that cannot be given.
        WrongStateError: it is not completed, and has no result to speak of.
    """
    if op.verified_by not in _BY:
        raise UsageError(f"verified_by is {op.verified_by.value}.", "Use operator or checker.")
    if op.verdict not in _VERDICTS:
        raise UsageError(f"verdict is {op.verdict.value}.", "Use met or not_met.")
    live = await parts.registry.get(op.session_id)
    async with live.lock:
        state = live.record.state
        if state is not SessionState.COMPLETED:
            raise WrongStateError(
                f"Session {live.session_id} is {state} and claims no result.",
                "Only a completed session can be confirmed or rejected.",
            )
        said = Verification(
            verified_by=op.verified_by,
            verdict=op.verdict,
            reason=redact_secrets(one_line(op.reason, _MAX_REASON_CHARS)),
        )
        msg = VerificationRecorded(verification=said)
        await parts.registry.append(*live.drafts(msg, submission_id=submission_id))
    return live.session_id
