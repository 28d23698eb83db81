"""Define the ops on warrants."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, Clause, Correction, Right


class WarrantDraft(OpBase, frozen=True, kw_only=True, tag="warrant_draft"):
    """Draft a warrant of an operator's words; it allows nothing until it is signed.

    The reply carries it with ten borderline cases, and with what its words leave open.
    """

    waits_for_phone: ClassVar[bool] = True
    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    brief: ClassVar[str] = "Draft a warrant: what is allowed, in words."
    returns: ClassVar[str] = "the draft, its borderline cases and its gaps"

    words: str
    clauses: tuple[Clause, ...] = ()
    """As the operator fills them in; empty: a model reads them from the words."""
    expires_ms: int = 0
    """0: at the end of the day or at the time that the words name; of today if they name none."""
    session_id: str = ""
    """The one session that it is for."""


class WarrantCorrect(OpBase, frozen=True, kw_only=True, tag="warrant_correct"):
    """Correct the verdicts that a draft gives on its borderline cases, within its words."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the draft as it is now"

    warrant_id: str
    corrections: tuple[Correction, ...]


class WarrantSign(OpBase, frozen=True, kw_only=True, tag="warrant_sign"):
    """Sign a draft: from now on it allows what its clauses say. Only a person may.

    Refused while its words leave something open.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.APPROVE,)
    allows: ClassVar[Allows] = Allows.MORE
    persons_only: ClassVar[bool] = True
    returns: ClassVar[str] = "the signed warrant"

    warrant_id: str
    clauses: tuple[Clause, ...]
    """As the operator saw them: a draft that was changed meanwhile is not signed."""
    expires_ms: int
    """As the operator saw it."""


class WarrantRevoke(OpBase, frozen=True, kw_only=True, tag="warrant_revoke"):
    """Revoke a warrant, or drop a draft, effective at once."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE, Right.APPROVE)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the warrant as it is now"

    warrant_id: str


AnyWarrantOp: TypeAlias = WarrantDraft | WarrantCorrect | WarrantSign | WarrantRevoke
