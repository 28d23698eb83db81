"""Define the ops that verify a session and edit what it is verified by."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, GoalVerdict, Right, VerifiedBy


class SessionVerify(OpBase, frozen=True, kw_only=True, tag="session_verify"):
    """Record whether a completed session met its goal; the newest verdict counts."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.WORDS

    session_id: str
    verdict: GoalVerdict = GoalVerdict.MET
    """met or not_met."""
    verified_by: VerifiedBy = VerifiedBy.OPERATOR
    """operator, or checker for a program that looked at the phone's true state."""
    reason: str = ""


class EditRequirements(OpBase, frozen=True, kw_only=True, tag="edit_requirements"):
    """Add requirements to a session, or withdraw some; a running session is told.

    Without both, nothing changes, and the reply names the session.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.MORE
    returns: ClassVar[str] = "the id of the session"

    session_id: str
    add: tuple[str, ...] = ()
    """In the operator's words."""
    withdraw: tuple[int, ...] = ()
    """Numbers of requirements that are not wanted any more."""
    person: bool = False
    """Only a person can judge those that are added: the operator is asked at the end."""


AnyVerificationOp: TypeAlias = SessionVerify | EditRequirements
