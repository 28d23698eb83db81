"""How a phone is before anything on it is touched: awake, locked, and which app is in front.

Invariant: what the phone does not say is unknown, and an unknown lock counts as locked.
"""

from dataclasses import dataclass

from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.passport.passport import Area, Outcome, Row
from agent.devices.qualify.harmless_place import Before

_UNASKED = Unknown(reason="the phone did not say in time")


@dataclass
class Conditions:
    """What was read so far; unknown until its probe has answered."""

    awake: Fact[bool] = _UNASKED
    locked: Fact[bool] = _UNASKED
    front: Fact[str] = _UNASKED

    def why_not_touch(self) -> str:
        """Return why nothing may be touched on the phone; empty when it may."""
        match self.locked:
            case Unknown(reason=reason):
                return f"whether it is locked is unknown: {reason}"
            case Known(value=True):
                return "the lock screen shows; `switchboard devices unlock` may open it"
        for fact, what in ((self.awake, "whether it is awake"), (self.front, "which app it shows")):
            if isinstance(fact, Unknown):
                return f"{what} is unknown: {fact.reason}"
        return ""

    def before(self) -> Before:
        """Return what `HarmlessPlace.leave` goes back to; what is unknown is left as it is."""
        front = self.front.value if isinstance(self.front, Known) else ""
        awake = self.awake.value if isinstance(self.awake, Known) else True
        return Before(package=front, awake=awake)


def fact_row(area: Area, name: str, fact: Fact[str]) -> Row:
    """Make the row of a fact that is told as it is."""
    match fact:
        case Known(value=value, line=line):
            return Row(area=area, name=name, outcome=Outcome.WORKS, detail=value, line=line)
        case Unknown(reason=reason):
            return Row(area=area, name=name, outcome=Outcome.UNKNOWN, detail=reason)
