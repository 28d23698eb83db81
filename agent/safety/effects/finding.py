"""What one act would do, before it is stated for people."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent.records import EffectVerb, Element
from agent.safety.effects.verbs import RULES
from agent.safety.effects.verdict import Risk


@dataclass(frozen=True, slots=True)
class Finding:
    """A verb and why it is thought; the reason is a clause for people."""

    verb: EffectVerb
    reason: str
    element: Element | None = None  # What would be pressed, or the field that would be changed.
    risk: Risk = Risk.NONE  # Where it is another than the verb's.


def worst(found: Iterable[Finding | None]) -> Finding | None:
    """Return the weightiest finding; None when there is none."""
    return max(
        (one for one in found if one is not None),
        key=lambda one: RULES[one.verb].weight,
        default=None,
    )
