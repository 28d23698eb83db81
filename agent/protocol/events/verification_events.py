"""Define the events of a goal's requirements and of their verification."""

from typing import TypeAlias

from agent.protocol.base import EventBase
from agent.records import Requirement, Verification


class VerificationRecorded(EventBase, frozen=True, kw_only=True, tag="verification_recorded"):
    """A check whether the goal is met; the newest one counts."""

    verification: Verification
    step: int = 0  # The step that claimed it; 0 = after the session's end, or on a parent.


class RequirementsUpdate(EventBase, frozen=True, kw_only=True, tag="requirements_update"):
    """What the goal asks for, one by one, as it now is."""

    requirements: tuple[Requirement, ...]
    reason: str = ""


AnyVerificationEvent: TypeAlias = VerificationRecorded | RequirementsUpdate
