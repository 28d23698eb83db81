"""Decide single requirements by structure: by what was seen to change, and by equal values. Pure.

Structure says met only where the requirement's own words name the thing, so that a wrong reading of
the goal decides nothing; what it cannot decide is left to the verifier. Invariants: an effect that
was taken back, or that a later one of the same thing replaced, shows nothing; a "no" names its
reason and remedy.
"""

from collections.abc import Iterable, Sequence
from datetime import date

from agent.language.fold import folded
from agent.language.tokens import has_phrase, tokens, words
from agent.loop.verification.answers import decide_told
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.pointers import element_evidence, evidence_of, text_of
from agent.loop.verification.values import ValueKind, missing_values, values_of
from agent.records import (
    Element,
    Evidence,
    FieldFate,
    GoalVerdict,
    Observation,
    Requirement,
    RequirementKind,
    RequirementVerdict,
    SeenEffect,
    SeenEffectKind,
    VerifiedBy,
)
from agent.safety.effects.lexicon import Meaning, read
from agent.text import one_line

ON, OFF, GONE = "on", "off", "gone"
_STATES = {
    ON: ON,
    OFF: OFF,
    "checked": ON,
    "unchecked": OFF,
    "enabled": ON,
    "disabled": OFF,
    "true": ON,
    "false": OFF,
}
"""What a wanted state may be called where the schema says on and off."""
_MOST_UNEXPLAINED = 2
"""Words of a requirement that an effect need not say: what is done, and what joins."""
_KIND_WORD = 1
"""One more where a text is quoted, or a page is to be opened: what kind of thing that is."""
_WAYS = frozenset({"tab", "nav-btn"})
"""Lead to a list, and are no row of it."""
_LEAST_VERB = 3
_MOST_OF_REST = 4
"""So few words say that all the rest is to stay: and nothing else."""
_LASTING = frozenset(
    {
        SeenEffectKind.STATE,
        SeenEffectKind.ITEM_ADDED,
        SeenEffectKind.ITEM_REMOVED,
        SeenEffectKind.SENT,
        SeenEffectKind.DEVICE,
        SeenEffectKind.APPROVED,
        SeenEffectKind.NOTIFICATION,
    }
)


def is_lasting(effect: SeenEffect) -> bool:
    """Return whether an effect says that something is otherwise now, beyond a field or a dialog."""
    return effect.kind in _LASTING or effect.saved in {FieldFate.SAVED, FieldFate.SUBMITTED}


def is_search(effect: SeenEffect) -> bool:
    """Return whether a text was typed to look for something, which changes nothing."""
    typed = effect.kind is SeenEffectKind.FIELD and effect.saved is FieldFate.TYPED
    return typed and Meaning.SEARCH in read(effect.object).found


def has_own_change(past: ClaimHistory) -> bool:
    """Return whether something stands that lasts, or a text in a field that does not search."""
    return any(
        is_lasting(one)
        or (
            one.kind is SeenEffectKind.FIELD
            and bool(one.after)
            and one.saved is not FieldFate.ABANDONED
            and not is_search(one)
        )
        for one in past.effects
    )


def decided(
    one: Requirement,
    listed: Sequence[Requirement],
    past: ClaimHistory,
    answer: str,
    today: date | None,
) -> RequirementVerdict | None:
    """Return the verdict on a requirement; None: structure cannot tell.

    Args:
        listed: all requirements: what one wants back is no failure of another.
        answer: what the agent tells.
        today: the phone's date when the work began.
    """
    match one.kind:
        case RequirementKind.CHANGE | RequirementKind.ANY:
            return (
                _sent(one, past, today)
                or _state(one, listed, past, today)
                or _written(one, past, today)
            )
        case RequirementKind.TELL:
            return decide_told(one, past, answer)
        case RequirementKind.OPEN:
            return _opened(one, past, today)
        case _:
            return None


def nothing_else_changed(
    one: Requirement, others: Iterable[RequirementVerdict], past: ClaimHistory
) -> RequirementVerdict | None:
    """Return that what was to be kept is as it was, where each effect serves another one.

    Only where it is about all the rest: what it names may be to change all the same.
    """
    if not _names_nothing(one):
        return None
    used = {pointer.effect for other in others for pointer in other.evidence}
    places = {effect.place for effect in past.own_effects if effect.number in used}
    spare = [e for e in past.effects if is_lasting(e) and e.number not in used]
    if any(effect.place not in places for effect in spare) or past.operator_acted:
        return None
    if any(effect.kind is not SeenEffectKind.APPROVED for effect in spare):
        return None
    reason = "Nothing else was seen to change"
    return _verdict(one, GoalVerdict.MET, reason, ())


def verdict_of(
    one: Requirement,
    verdict: GoalVerdict,
    by: VerifiedBy,
    reason: str,
    evidence: Sequence[Evidence] = (),
) -> RequirementVerdict:
    """Return a verdict on a requirement."""
    return RequirementVerdict(
        number=one.number,
        text=one.text,
        verdict=verdict,
        verified_by=by,
        reason=reason,
        evidence=tuple(evidence),
    )


def wanted_state(one: Requirement) -> str:
    """Return `on` or `off` where that is wanted, else nothing."""
    return _STATES.get(folded(one.value).strip(), "")


def is_turned_around(one: Requirement) -> bool:
    """Return whether the operator's words say the other state, and not the one read in them."""
    wanted = wanted_state(one)
    said = said_states(one)
    return bool(wanted and said) and wanted not in said


def said_states(one: Requirement) -> set[str]:
    """Return the states that the operator's own words name as the schema names them."""
    return {_STATES[word] for word in words(one.text) if word in _STATES}


def _names_nothing(one: Requirement) -> bool:
    own = tokens(one.text)
    named = any(token.start > 0 and token.text[:1].isupper() for token in own)
    return len(own) <= _MOST_OF_REST and not (named or one.object or values_of(one.text))


# --- states ----------


def _state(
    one: Requirement, listed: Sequence[Requirement], past: ClaimHistory, today: date | None
) -> RequirementVerdict | None:
    wanted = wanted_state(one)
    if not wanted:
        return None
    states = {SeenEffectKind.STATE, SeenEffectKind.DEVICE}
    ours = [e for e in past.own_effects if e.kind in states and _is_of(e, one)]
    standing = [e for e in ours if e in past.effects]
    if any(_wants_back(one, other) for other in listed):
        # It need not last.
        standing = [e for e in ours if e.after == wanted]
        if not standing:
            return None
    if standing:
        effect = standing[-1]
        if effect.after == wanted:
            if is_turned_around(one) or not _is_literal(one):
                return None
            if not _says_all(_effect_text(effect), one, past, today):
                return None
            return _verdict(one, GoalVerdict.MET, "", (evidence_of(effect),))
        if effect.after in {ON, OFF}:
            reason = f"“{effect.object}” is {effect.after} since step {effect.step}"
            return _verdict(one, GoalVerdict.NOT_MET, reason, (evidence_of(effect),))
        return None
    if ours and (undone := ours[-1]).undone_by:
        reason = f"Effect {undone.undone_by} reversed it"
        return _verdict(one, GoalVerdict.CANNOT_TELL, reason, (evidence_of(undone),))
    for step, seen in reversed(past.seen):
        for element in seen.elements:
            if element.checkable and _names(element.label, one):
                state = ON if element.checked else OFF
                if state == wanted:
                    return None
                shown = element_evidence(step, element, seen)
                reason = f"“{one_line(element.label, 60)}” is {state} on the screen of step {step}"
                return _verdict(one, GoalVerdict.NOT_MET, reason, (shown,))
    return None


def _wants_back(one: Requirement, other: Requirement) -> bool:
    """Return whether another requirement wants the other state of the same thing."""
    states = {wanted_state(one), wanted_state(other)}
    return bool(words(one.object)) and words(one.object) == words(other.object) and len(states) == 2


def _names(name: str, one: Requirement) -> bool:
    """Return whether a thing of the phone is the object of a requirement, by its whole name."""
    said = words(name)
    return bool(said) and said == words(one.object)


def _is_of(effect: SeenEffect, one: Requirement) -> bool:
    """Return whether an effect is on the object of a requirement, or on its page's one switch."""
    if _names(effect.object, one):
        return True
    wanted = words(one.object)
    extra = set(words(effect.object)) - set(wanted)
    return bool(wanted) and words(effect.page) == wanted and len(extra) <= 1


def _is_literal(one: Requirement) -> bool:
    """Return whether the operator's own words name the thing as the phone does."""
    return bool(words(one.object)) and has_phrase(words(one.text), words(one.object))


def _effect_text(effect: SeenEffect) -> str:
    return "\n".join((effect.object, effect.before, effect.after, effect.page, effect.app))


def _says_all(said: str, one: Requirement, past: ClaimHistory, today: date | None) -> bool:
    """Return whether a text carries all values of a requirement, and hardly any word is left."""
    values = values_of(one.text, today)
    known = {*words(said), *words(one.object), *words(one.value)}
    left = sum(word not in known for word in words(one.text))
    is_named = one.kind is RequirementKind.OPEN or any(v.kind is ValueKind.QUOTE for v in values)
    # Where there are other phones, a word may say on how many.
    most = _MOST_UNEXPLAINED + _KIND_WORD * is_named - bool(past.other_phones)
    return left <= most and not missing_values(values, said, today)


# --- texts ----------


def _sent(one: Requirement, past: ClaimHistory, today: date | None) -> RequirementVerdict | None:
    quotes = [v.text for v in values_of(one.text, today) if v.kind is ValueKind.QUOTE]
    for effect in past.effects:
        if effect.kind is not SeenEffectKind.SENT:
            continue
        if not quotes or not all(words(quote) == words(effect.after) for quote in quotes):
            continue
        to = words(one.recipient) or words(one.object)
        thread = words(effect.object)
        is_named = bool(to) and has_phrase(thread, to) and has_phrase(words(one.text), to)
        if is_named and _says_all(f"{_effect_text(effect)}\n{one.recipient}", one, past, today):
            return _verdict(one, GoalVerdict.MET, "", (evidence_of(effect),))
    return None


def _written(one: Requirement, past: ClaimHistory, today: date | None) -> RequirementVerdict | None:
    """Decide what is to be written down, made or removed, by the texts that are quoted for it."""
    values = values_of(one.text, today)
    names = [v.text for v in values if v.kind is ValueKind.QUOTE]
    if folded(one.value).strip() == GONE:
        return _removed(one, names or [one.object], past, today)
    if not names:
        return None
    made = [
        effect
        for effect in past.effects
        if effect.kind is SeenEffectKind.ITEM_ADDED or effect.saved is FieldFate.SAVED
    ]
    ours = [e for e in made if any(_holds(e, name) for name in names)]
    if not ours:
        return None
    shown = [evidence_of(effect) for effect in ours]
    text = text_of(shown, past)
    if not _says_all(text, one, past, today):
        return None
    return _verdict(one, GoalVerdict.MET, "", shown)


def _holds(effect: SeenEffect, text: str) -> bool:
    wanted = words(text)
    return has_phrase(words(effect.object), wanted) or has_phrase(words(effect.after), wanted)


def _removed(
    one: Requirement, names: Sequence[str], past: ClaimHistory, today: date | None
) -> RequirementVerdict | None:
    gone = [
        effect
        for effect in past.effects
        if effect.kind is SeenEffectKind.ITEM_REMOVED
        and any(words(name) and has_phrase(words(effect.object), words(name)) for name in names)
    ]
    if past.last is not None and (left := _listed(names, past.last[1])) is not None:
        reason = f"“{one_line(left.label, 60)}” is still on the screen"
        shown = element_evidence(past.last[0], left, past.last[1])
        return _verdict(one, GoalVerdict.NOT_MET, reason, (shown,))
    # What was archived or moved is gone from its list as well.
    literal = [
        e
        for e in gone
        if any(has_phrase(words(one.text), words(n)) for n in names) and _as_said(e, one, past)
    ]
    if literal and _says_all("\n".join([*map(_effect_text, literal), *names]), one, past, today):
        return _verdict(one, GoalVerdict.MET, "", [evidence_of(effect) for effect in literal])
    return None


def _as_said(effect: SeenEffect, one: Requirement, past: ClaimHistory) -> bool:
    """Return whether what was pressed for an effect is called by a word of the operator's own."""
    said = {word for word in words(one.text) if len(word) >= _LEAST_VERB}
    acts = (act for act in past.actions if act.step == effect.step)
    pressed = [word for act in acts for word in words(act.label)]
    pressed += [
        word
        for other in past.own_effects
        if other.kind is SeenEffectKind.DIALOG_CLOSED and other.seen_step == effect.seen_step
        for word in words(other.after)
    ]
    return not said.isdisjoint(pressed)


def _listed(names: Sequence[str], seen: Observation) -> Element | None:
    """Return the row of a screen that is called as one of some names, by its whole label."""
    wanted = {words(name) for name in names if words(name)}
    for element in seen.elements:
        is_row = element.clickable and not (element.editable or element.selected)
        if is_row and element.kind not in _WAYS and words(element.label) in wanted:
            return element
    return None


def _opened(one: Requirement, past: ClaimHistory, today: date | None) -> RequirementVerdict | None:
    """Decide what is to be in front: a page or an app by the name in the requirement."""
    wanted = words(one.object)
    if past.last is None or not wanted or not has_phrase(words(one.text), wanted):
        return None
    step, seen = past.last
    switches = [element for element in seen.elements if element.checkable]
    if len(switches) == 1 or any(has_phrase(words(e.label), wanted) for e in switches):
        # To open its page may not be what is asked for.
        return None
    title = next((e for e in seen.elements if words(e.label) == wanted and not e.editable), None)
    if (
        title is None
        or seen.elements.index(title) > 3
        or not _says_all(title.label, one, past, today)
    ):
        return None
    return _verdict(one, GoalVerdict.MET, "", (element_evidence(step, title, seen),))


def _verdict(
    one: Requirement, verdict: GoalVerdict, reason: str, evidence: Sequence[Evidence]
) -> RequirementVerdict:
    by = VerifiedBy.NOBODY if verdict is GoalVerdict.CANNOT_TELL else VerifiedBy.EFFECTS
    return verdict_of(one, verdict, by, reason, evidence)
