"""Leave out of what has to be shown a name that the phone says in another language. Pure.

Invariant: only a name of what was opened or switched, never a text that was to be written.
"""

from datetime import date

from agent.language.tokens import words
from agent.loop.effects.pages import page_of
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.values import Value, ValueKind, values_of
from agent.records import FieldFate, Requirement, RequirementKind, SeenEffectKind

_NAME_WORDS = 4


def values_to_show(
    one: Requirement, past: ClaimHistory, today: date | None = None
) -> tuple[Value, ...]:
    """Return the values of a requirement that stand somewhere when it is met."""
    values = values_of(one.text, today)
    quotes = [value for value in values if value.kind is ValueKind.QUOTE]
    name = words(one.object)
    if len(quotes) != 1 or not name or name == words(quotes[0].text):
        return values
    if len(words(quotes[0].text)) > _NAME_WORDS or not _is_place(one, name, past):
        return values
    return tuple(value for value in values if value is not quotes[0])


def _is_place(one: Requirement, name: tuple[str, ...], past: ClaimHistory) -> bool:
    """Return whether the phone's name is of what was opened, or of the switch that was turned."""
    typed = [e.after for e in past.effects if e.saved is not FieldFate.NONE]
    if one.kind is not RequirementKind.OPEN:
        states = [e for e in past.effects if e.kind is SeenEffectKind.STATE]
        return not typed and any(words(effect.object) == name for effect in states)
    goal = frozenset(words(past.goal))
    if any(not goal.issuperset(words(text)) for text in typed):
        # It may be what should have been written.
        return False
    titles = {words(page_of(seen.foreground, seen.elements).title) for _, seen in past.seen}
    return name in titles | {words(act.label) for act in past.actions}
