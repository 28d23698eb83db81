"""What the judge says of one act."""

from enum import StrEnum

import msgspec

from agent.records import Effect
from agent.safety.capabilities import Capability, Decision


class Risk(StrEnum):
    """What makes an act one that cannot be undone."""

    NONE = ""
    FINANCIAL = "financial"
    DESTRUCTIVE = "destructive"
    OUTGOING = "outgoing"
    INSTALL = "install"
    PERMISSION = "permission"
    SETTING = "setting"
    ACCOUNT = "account"
    SECRET = "secret"
    LENGTH = "length"
    DISGUISED = "disguised"  # A label that mixes alphabets to look like another word.
    UNSEEN = "unseen"  # The screen cannot be read, so what it would do is unknown.


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement; the reason is a clause for people."""

    decision: Decision
    risk: Risk = Risk.NONE
    reason: str = ""
    rule: str = ""
    """The rule that decided; empty where none matched."""
    also: tuple[str, ...] = ()
    """The rules that matched too."""
    capability: Capability = Capability.PERFORM
    effect: Effect | None = None
    """What the act would do; None where it does nothing beyond the phone's own view."""

    @property
    def is_allowed(self) -> bool:
        """Return whether it may be done without a person."""
        return self.decision is Decision.ALLOW


ALLOWED = Verdict(decision=Decision.ALLOW)
