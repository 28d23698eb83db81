"""Define the event of a goal's verification."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.records import Verification


class VerificationRecorded(EventBase, frozen=True, kw_only=True, tag="verification_recorded"):
    """A check whether the goal is met; the newest one counts."""

    verification: Verification
    step: int = 0  # The step that claimed it; 0 = after the session's end, or on a parent.


AnyVerificationEvent: TypeAlias = VerificationRecorded
