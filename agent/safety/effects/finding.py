"""What one act would do, before it is stated for people."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
    rule: str = ""  # The name of the rule that found it.
    also: tuple[str, ...] = ()  # The rules that found something too, and weigh less.


def worst(found: Iterable[Finding | None]) -> Finding | None:
    """Return the weightiest finding, which names the rules of the others; None when none is."""
    all_found = [one for one in found if one is not None]
    if not all_found:
        return None
    heaviest = max(all_found, key=lambda one: RULES[one.verb].weight)
    names = (name for one in all_found for name in (one.rule, *one.also) if name)
    also = tuple(name for name in dict.fromkeys(names) if name != heaviest.rule)
    return replace(heaviest, also=also) if also != heaviest.also else heaviest


def named(rule: str, found: Finding | None) -> Finding | None:
    """Return a finding under the name of the rule that made it, unless it has one."""
    return found if found is None or found.rule else replace(found, rule=rule)
