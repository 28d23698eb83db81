"""What reading the clipboard may do. Pure; where addresses lead is `agent.safety.egress`."""

from agent.records import EffectVerb
from agent.safety.effects.finding import Finding
from agent.safety.words import words

_COPYING = frozenset({"clipboard", "copy", "copied", "paste", "pasted"})


def find_reading(goal: str) -> Finding | None:
    """Return what reading the clipboard may do; None where the goal speaks of copying."""
    if _COPYING.intersection(words(goal)):
        return None
    return Finding(
        EffectVerb.CARRY_OUT, "the clipboard may hold what was copied elsewhere, such as a password"
    )
