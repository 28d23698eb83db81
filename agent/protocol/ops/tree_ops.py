"""Define further ops on sessions: hints, reviews, compaction, the app's display."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, Right, TargetAction


class SteerEdit(OpBase, frozen=True, kw_only=True, tag="steer_edit"):
    """Change a hint that no step has applied yet."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.MORE

    session_id: str
    message_id: str
    text: str
    let_through: bool = False
    """Whether what looks like a secret in the text is not redacted in this session."""


class SteerWithdraw(OpBase, frozen=True, kw_only=True, tag="steer_withdraw"):
    """Withdraw a hint that no step has applied yet."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str
    message_id: str


class SessionReview(OpBase, frozen=True, kw_only=True, tag="session_review"):
    """Review a finished session; the review arrives as an event of the session."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the id of the session"

    session_id: str
    request: str = ""  # What to look at in particular.


class SessionCompact(OpBase, frozen=True, kw_only=True, tag="session_compact"):
    """Replace what the model remembers by a summary; replaces a running turn."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the id of the session"

    session_id: str


class TargetControl(OpBase, frozen=True, kw_only=True, tag="target_control"):
    """Show, hide, attach, capture or close the app of a session; the reply has the outcome."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "what came of it: status, runtime, display"
    waits_for_phone: ClassVar[bool] = True

    session_id: str
    action: TargetAction


AnyTreeOp: TypeAlias = SteerEdit | SteerWithdraw | SessionReview | SessionCompact | TargetControl
