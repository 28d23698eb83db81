"""Find what the app's card says that a control does.

Not the card (`agent.knowledge.card`). Invariant: a card only adds findings.
"""

from collections.abc import Mapping, Sequence

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding, worst
from agent.safety.words import id_words, words

_VERBS = {verb.value: verb for verb in EffectVerb}


def find_by_card(element: Element, commits: Mapping[str, Sequence[str]]) -> Finding | None:
    """Return what the card says of a control, by its title or its resource id; None: nothing."""
    if not commits:
        return None
    names = {words(element.label.split(" | ", 1)[0]), id_words(element.resource_id)} - {()}
    return worst(
        Finding(
            _VERBS[verb],
            f'the card of the app says that "{element.label[:60]}" does this',
            element=element,
        )
        for verb, controls in commits.items()
        if verb in _VERBS and not names.isdisjoint(_names(controls))
    )


def _names(controls: Sequence[str]) -> set[tuple[str, ...]]:
    return {said for control in controls for said in (words(control), id_words(control))}
