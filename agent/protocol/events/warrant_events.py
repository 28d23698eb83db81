"""Define the events of warrants."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import EventBase
from agent.records import Usage, Warrant, WarrantUse


class WarrantChanged(EventBase, frozen=True, kw_only=True, tag="warrant_changed"):
    """A warrant was drafted, corrected, signed or revoked; carries its full record."""

    of_no_session: ClassVar[bool] = True

    warrant: Warrant
    reason: str = ""
    usage: Usage = Usage()  # What reading its words used of a model.


class WarrantUsed(EventBase, frozen=True, kw_only=True, tag="warrant_used"):
    """An act passes under a warrant; stored before the phone is touched, and counted whatever
    becomes of the act.
    """

    of_no_session: ClassVar[bool] = True

    use: WarrantUse


AnyWarrantEvent: TypeAlias = WarrantChanged | WarrantUsed
