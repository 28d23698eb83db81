"""Define the ops on notices."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, Right


class NoticeReply(OpBase, frozen=True, kw_only=True, tag="notice_reply"):
    """Answer a session's question from its notice, which is withdrawn first."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.MORE
    returns: ClassVar[str] = "the id of the session that asked"

    session_id: str
    token: str
    text: str


class NoticeDone(OpBase, frozen=True, kw_only=True, tag="notice_done"):
    """Mark a session's notice as read; closes a home session's detached app."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str


class NoticeSend(OpBase, frozen=True, kw_only=True, tag="notice_send"):
    """Continue from a session's result: a home session as a new one, an agent session in its next
    generation; the reply names the session."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the session that goes on"

    session_id: str
    text: str


AnyNoticeOp: TypeAlias = NoticeReply | NoticeDone | NoticeSend
