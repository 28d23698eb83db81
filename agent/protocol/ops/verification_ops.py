"""Define the op that verifies a session."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import GoalVerdict, Right, VerifiedBy


class SessionVerify(OpBase, frozen=True, kw_only=True, tag="session_verify"):
    """Record whether a completed session met its goal; the newest verdict counts."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)

    session_id: str
    verdict: GoalVerdict = GoalVerdict.MET
    """met or not_met."""
    verified_by: VerifiedBy = VerifiedBy.OPERATOR
    """operator, or checker for a program that looked at the phone's true state."""
    reason: str = ""


AnyVerificationOp: TypeAlias = SessionVerify
