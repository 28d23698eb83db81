"""Define the events of notices, which appear beside the screens and in no transcript."""

from enum import StrEnum
from typing import ClassVar, TypeAlias

from agent.protocol.base import EventBase
from agent.records import Notice


class WithdrawReason(StrEnum):
    """Why a notice went."""

    SUPPRESSED = "suppressed"  # It was answered: it goes before the answer counts.
    REMOVED = "removed"  # It was done with, or what it told is not so any more.
    REPLACED = "replaced"  # A newer one of the same session took its place.


class NoticePosted(EventBase, frozen=True, kw_only=True, tag="notice_posted"):
    """A notice that a session waits or has ended."""

    of_no_session: ClassVar[bool] = True

    notice: Notice


class NoticeWithdrawn(EventBase, frozen=True, kw_only=True, tag="notice_withdrawn"):
    """A notice is not shown any more; its token is retired."""

    of_no_session: ClassVar[bool] = True

    notice_of: str  # The session.
    token: str
    reason: WithdrawReason


AnyNoticeEvent: TypeAlias = NoticePosted | NoticeWithdrawn
