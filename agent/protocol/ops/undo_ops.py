"""Define the op that takes back an effect on the phone."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, Right


class UndoEffect(OpBase, frozen=True, kw_only=True, tag="undo_effect"):
    """Take back on the phone what a session did there, by one act of the operator.

    Refused with the reason while the session is at work, and where the act cannot be reached any
    more: the page is not in front, the app's button is gone, it was taken back already.
    """

    waits_for_phone: ClassVar[bool] = True
    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    allows_more_by: ClassVar[tuple[str, ...]] = ("approved",)
    brief: ClassVar[str] = "Take back on the phone what a step of a session did."
    returns: ClassVar[str] = "the id of the session"

    session_id: str
    step: int = 0
    """The step whose effect it is; 0: the newest that can be taken back."""
    approved: bool = False
    """Whether it is done although the act itself needs approval; the refusal without it says what
    it would do."""


AnyUndoOp: TypeAlias = UndoEffect
