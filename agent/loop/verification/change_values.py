"""Say which values have to be shown, and what may show those of a change. Pure.

A screen in front is full of numbers, days and names that nobody set: a month has every day.
Invariant: a value counts from an effect that stands, from the form that the change was made in,
from rows that name its thing, or from few elements that are pointed at, never from all of a screen.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from agent.language.tokens import has_phrase, words
from agent.loop.effects.pages import JOINT, page_of
from agent.loop.screen.cell_rows import cell_rows
from agent.loop.screen.windows import STATUS_BAR
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import is_search
from agent.loop.verification.pointers import element_words, row_words
from agent.loop.verification.values import Value, ValueKind, values_of
from agent.records import (
    Element,
    Evidence,
    FieldFate,
    Observation,
    Requirement,
    RequirementKind,
    SeenEffect,
    SeenEffectKind,
)

_MOST_POINTED = 8
"""So few elements are pointed at because of what they say; more are all there is."""
_HEAD = 4  # Elements at the top of a screen, where its title stands.
_MOST_NAME_WORDS = 6
_PLACE_WORDS = 4
_NAMES_THINGS = frozenset(
    {SeenEffectKind.STATE, SeenEffectKind.ITEM_ADDED, SeenEffectKind.SENT, SeenEffectKind.DEVICE}
)


def text_of_change(one: Requirement, evidence: Sequence[Evidence], past: ClaimHistory) -> str:
    """Return all that may carry a value of a requirement that asks for a change."""
    done = [text for effect in past.effects for text in _texts_of(effect)]
    done += [
        act.approved.replace(past.goal, "")
        for act in past.actions
        if act.approved and act.took_effect and act.tool != "type_text"
    ]
    done += [act.result for act in past.actions if act.result.startswith("{")]
    shown = (*_pointed(evidence, past), *_forms(past), *_beside_names(one, past))
    return "\n".join(filter(None, (*done, *shown)))


def text_before_change(past: ClaimHistory) -> str:
    """Return how things were that were changed: what one of two values may say."""
    return "\n".join(effect.before for effect in past.own_effects)


def _texts_of(effect: SeenEffect) -> tuple[str, ...]:
    if effect.saved is FieldFate.ABANDONED or is_search(effect):
        return ()
    if effect.kind in {SeenEffectKind.DIALOG_OPENED, SeenEffectKind.DIALOG_CLOSED}:
        return ()
    if effect.kind is SeenEffectKind.APPROVED:
        # What a person was asked may quote the goal.
        return effect.object, effect.page
    return effect.object, effect.after, effect.page


def _pointed(evidence: Sequence[Evidence], past: ClaimHistory) -> Iterator[str]:
    """Yield the rows of what is pointed at, where that is little; of more only what is chosen."""
    pointers = {(p.step, p.element) for p in evidence if p.element and not p.effect}
    for step, number in pointers:
        seen = past.screen_of(step)
        element = next((e for e in seen.elements if e.number == number), None) if seen else None
        if seen is None or element is None:
            continue
        if len(pointers) <= _MOST_POINTED or element.selected:
            yield row_words(element, seen)
    yield from (p.quote for p in evidence if p.step and not (p.element or p.effect or p.region))


def _forms(past: ClaimHistory) -> Iterator[str]:
    """Yield what the newest screen of each form shows that a standing text was typed into."""
    told: set[int] = set()
    for effect in past.effects:
        if effect.kind is not SeenEffectKind.FIELD or not effect.after:
            continue
        if effect.saved is FieldFate.ABANDONED or is_search(effect):
            continue
        for step, seen in reversed(past.seen):
            if any(e.editable and e.value == effect.after for e in seen.elements):
                if step not in told:
                    told.add(step)
                    yield from _without_cells(seen)
                break


def _without_cells(seen: Observation) -> Iterator[str]:
    cells = {id(cell) for row in cell_rows(seen.elements) for cell in row}
    for element in seen.elements:
        if element.kind != STATUS_BAR and (id(element) not in cells or element.selected):
            yield element_words(element)


def _beside_names(one: Requirement, past: ClaimHistory) -> Iterator[str]:
    """Yield rows of the last screen that name the thing, each with the heading above it."""
    if past.last is None:
        return
    seen = past.last[1]
    names = tuple(_names(one, past.effects))
    heading = ""
    for at, element in enumerate(seen.elements):
        if element.kind == STATUS_BAR or element.editable:
            continue
        said = words(element_words(element))
        if any(has_phrase(said, name) for name in names):
            if at < _HEAD and not element.clickable:
                # All of the page is about it.
                yield from _without_cells(seen)
                return
            yield row_words(element, seen)
            yield heading
        if _is_heading(element):
            heading = element.label


def _is_heading(element: Element) -> bool:
    return not element.clickable and not element.checkable and any(map(str.isalpha, element.label))


def _names(one: Requirement, effects: Iterable[SeenEffect]) -> Iterator[tuple[str, ...]]:
    """Yield what the thing that was changed is called, each as words."""
    said = [one.object, *(v.text for v in values_of(one.text) if v.kind is ValueKind.QUOTE)]
    for effect in effects:
        if effect.kind in _NAMES_THINGS:
            said.append(effect.object.partition(JOINT)[0])
        elif effect.kind is SeenEffectKind.FIELD and effect.saved is not FieldFate.ABANDONED:
            said.append(effect.after)
    for text in said:
        name = words(text)
        if 0 < len(name) <= _MOST_NAME_WORDS and any(map(str.isalpha, text)):
            yield name


# --- what has to be shown ----------


def values_to_show(
    one: Requirement, past: ClaimHistory, today: date | None = None
) -> tuple[Value, ...]:
    """Return the values of a requirement that stand somewhere when it is met: not the name of a
    place, or of a switch, that the phone says in another language.
    """
    values = values_of(one.text, today)
    quotes = [value for value in values if value.kind is ValueKind.QUOTE]
    name = words(one.object)
    if len(quotes) != 1 or not name or name == words(quotes[0].text):
        return values
    if len(words(quotes[0].text)) > _PLACE_WORDS or not _is_place(one, name, past):
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
