"""Check a verdict of "met" by what it points at: things that exist, equal values. Pure.

A verifier may be wrong, hasty, or the very model that did the work. Invariant: met is accepted only
where what is pointed at carries every value of the requirement, and where something that is to
change has an effect that stands, or a state as it is wanted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date

from agent.language.fold import folded
from agent.language.numbers import Number, parse_number
from agent.language.tokens import has_phrase, words
from agent.loop.effects.pages import page_key, page_of
from agent.loop.verification.change_values import text_before_change, text_of_change, values_to_show
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.conditions import other_state, touched, unfounded_condition
from agent.loop.verification.decisions import (
    GONE,
    OFF,
    ON,
    has_own_change,
    is_lasting,
    is_turned_around,
    said_states,
    wanted_state,
)
from agent.loop.verification.named_things import (
    beside_thing,
    left_out_thing,
    other_control,
    other_thing,
    page_of_other,
    row_name_of,
    strange_thing,
    told_of_another,
    untouched_in_front,
    untouched_switch,
)
from agent.loop.verification.pointed_answers import unread_answer
from agent.loop.verification.pointers import element_words, text_of
from agent.loop.verification.scopes import Scope, is_detail
from agent.loop.verification.values import Value, ValueKind, is_carried, missing_values, values_of
from agent.records import (
    Element,
    Evidence,
    FieldFate,
    Requirement,
    RequirementKind,
    SeenEffect,
    SeenEffectKind,
)
from agent.text import one_line

NO_POINTER = "The evidence that was pointed at does not exist"
NO_EFFECT = "No lasting effect shows it: there is only a page, or text in a field"
_FEW = 10
_LEAST_NAME = 3
_HEAD_OF_PAGE = 8
_HEAD = 4  # Elements at the top of a screen, where its title stands.


def objection(
    one: Requirement,
    evidence: Sequence[Evidence],
    past: ClaimHistory,
    *,
    answer: str,
    today: date | None,
    scope: Scope | None = None,
    taken: Mapping[int, str] | None = None,
    excused: frozenset[int] = frozenset(),
    is_branch: bool = False,
) -> str:
    """Return what speaks against the verdict that a requirement is met; empty: nothing does.

    Args:
        evidence: what the verdict points at.
        answer: what the agent tells.
        scope: the goal's own words for it.
        taken: the effects that other requirements are shown by, each with their words.
        excused: effects that were taken back as another requirement asks for.
        is_branch: whether another condition was looked at, so that nothing need be done for this.
    """
    if not evidence and one.kind is not RequirementKind.KEEP:
        return NO_POINTER
    said = text_of(evidence, past)
    scope = scope or Scope(one.text)
    match one.kind:
        case RequirementKind.CHANGE | RequirementKind.ANY if _shows_kept_state(
            one, evidence, past, taken or {}
        ):
            # Nobody said whether the operator's own words ask for a change or that there be none.
            return ""
        case RequirementKind.CHANGE | RequirementKind.ANY if one.is_operators and not any(
            map(is_lasting, past.effects)
        ):
            # That shows "nothing is changed"; what their words name has to be so all the same.
            return _unlike(one, evidence, said, past, today) or other_state(one, past)
        case RequirementKind.CHANGE | RequirementKind.ANY:
            unlike = _unlike(one, evidence, said, past, today)
            against = _unshown_change(one, scope, evidence, past, taken or {}, excused) or unlike
            only_yes = not any(_is_own_change(effect) for effect in past.effects)
            if one.kind is RequirementKind.ANY and only_yes:
                against = untouched_in_front(scope, past) or against
            if not against or one.kind is RequirementKind.CHANGE or past.has_effects:
                return against
            # It may have asked for no change.
            if other := told_of_another(scope, answer, past, today, in_words=False):
                return other
            if untouched_in_front(scope, past):
                return against
            opened = _not_in_front(one, evidence, past) or unlike
            told = unread_answer(one, scope, answer, evidence, said, past, today)
            return against if opened and told else ""
        case RequirementKind.OPEN:
            return (
                _not_in_front(one, evidence, past)
                or page_of_other(scope, past)
                or _unlike(one, evidence, said, past, today)
            )
        case RequirementKind.TELL:
            return unread_answer(one, scope, answer, evidence, said, past, today)
        case RequirementKind.CONDITION:
            return unfounded_condition(one, evidence, said, past, is_branch) or strange_thing(
                scope, past
            )
        case RequirementKind.KEEP:
            return _only_a_name(one) or touched(one, past, taken or {}) or other_state(one, past)
        case _:
            return ""


def _shows_kept_state(
    one: Requirement, evidence: Sequence[Evidence], past: ClaimHistory, taken: Mapping[int, str]
) -> bool:
    """Return whether what the operator wrote into the list is about a state that nothing changed.

    Only of words that name a value, such as the time of an alarm, which the element in that state
    shows: other words may be of another language than the phone's, and could be about anything.
    """
    values = values_of(one.text)
    if not (one.is_operators and values) or touched(one, past, taken):
        return False
    changed = "\n".join(e.object for e in past.effects if is_lasting(e))
    if any(is_carried(value, changed) for value in values):
        return False
    for pointer in evidence:
        element = _element(pointer, past)
        shown = element_words(element) if element is not None else ""
        if element is not None and element.checkable and not missing_values(values, shown, None):
            return True
    return False


def _only_a_name(one: Requirement) -> str:
    """Return that a part which is to be kept says no more than a name: what is before it asks."""
    named = frozenset(words(one.object))
    left = [word for word in words(one.text) if word not in named]
    if not named or len(left) != 1 or len(left[0]) > _LEAST_NAME or not named <= {*words(one.text)}:
        return ""
    return f"“{one_line(one.text, 60)}” says no more than a name: list it with the act before it"


# --- changes ----------


def _unshown_change(
    one: Requirement,
    scope: Scope,
    evidence: Sequence[Evidence],
    past: ClaimHistory,
    taken: Mapping[int, str],
    excused: frozenset[int],
) -> str:
    effects = [e for p in evidence if p.effect and (e := past.ledger.numbered(p.effect))]
    standing = [e for e in effects if e in past.effects or e.number in excused]
    lasting = [e for e in standing if is_lasting(e) or e.kind is SeenEffectKind.TOAST]
    lasting = [e for e in lasting if not _led_back(e, past, excused)]
    # What a list left out may be said by the words of a part that it has.
    others = {} if one.kind is RequirementKind.ANY else taken
    own = [e for e in lasting if e.number not in taken or _shares(e, one, others.get(e.number, ""))]
    if not any(map(_is_own_change, past.effects)):
        # A yes alone may be one to look around.
        own = [e for e in own if e.kind is not SeenEffectKind.APPROVED or _shares(e, one, "")]
    if folded(one.value).strip() == GONE:
        # What was written or changed in a form is not gone by that.
        own = [e for e in own if e.kind is not SeenEffectKind.FIELD and not _was_typed(e, past)]
    if own:
        return (
            _wrong_state(one, own)
            or _wrong_value(scope, own, past)
            or other_thing(scope, own, past)
            or other_control(scope, own, past)
            or left_out_thing(scope, past)
            or untouched_switch(scope, past)
            or beside_thing(past)
            or _cut_short(one, past)
        )
    if lasting and is_detail(one):
        # Its value is looked for where the others are; see `_unlike`.
        return ""
    if lasting:
        return f"Effect {lasting[0].number} shows another requirement, not this one"
    if undone := [e for e in effects if e.undone_by]:
        return f"Effect {undone[0].number} was undone by effect {undone[0].undone_by}"
    if any(p.region for p in evidence) and past.may_have_changed:
        return ""
    if any(_is_reply(p) for p in evidence):
        return ""
    return _unshown_state(one, evidence, past)


def _came_to_nothing(effect: SeenEffect, past: ClaimHistory, excused: frozenset[int]) -> bool:
    """Return whether a yes, or a toast, is of an act that opened a dialog, or was taken back."""
    if effect.kind not in {SeenEffectKind.APPROVED, SeenEffectKind.TOAST}:
        return False
    same = [e for e in past.own_effects if e.step == effect.step and e is not effect]
    lasting = [e for e in same if is_lasting(e) and e.kind is not SeenEffectKind.APPROVED]
    if lasting:
        return all(e.undone_by and e.number not in excused for e in lasting)
    return any(e.kind is SeenEffectKind.DIALOG_OPENED for e in same)


def _led_back(effect: SeenEffect, past: ClaimHistory, excused: frozenset[int]) -> bool:
    """Return whether an effect turned something back to what it was, or approved that, and no
    other requirement asks for both.
    """
    if _came_to_nothing(effect, past, excused):
        return True
    for one in past.own_effects:
        if not one.undone_by or one.number in excused:
            continue
        turning = past.ledger.numbered(one.undone_by)
        if turning is None:
            continue
        is_approval = effect.kind is SeenEffectKind.APPROVED and effect.step == turning.step
        if is_approval or (effect.number == turning.number and turning.after == one.before):
            return True
    return False


def _is_own_change(effect: SeenEffect) -> bool:
    """Return whether an effect was seen to last, and is not only a yes to an act."""
    return is_lasting(effect) and effect.kind is not SeenEffectKind.APPROVED


def _is_reply(pointer: Evidence) -> bool:
    return bool(pointer.step) and not pointer.element and not pointer.effect and not pointer.region


def _cut_short(one: Requirement, past: ClaimHistory) -> str:
    """Return that a text ends before the operator's does, which begins behind a colon."""
    for effect in past.effects:
        text = effect.after.strip()
        if effect.kind is not SeenEffectKind.SENT and effect.saved is FieldFate.NONE:
            continue
        at = one.text.find(text) if any(map(str.isalpha, text)) else -1
        before, behind = one.text[:at].rstrip(), one.text[at + len(text) :]
        goes_on = behind[:1].isspace() and behind.strip()[:1].isalnum()
        if at > 0 and before.endswith((":", "\uff1a")) and goes_on:
            return f"“{one_line(text, 60)}” is not all of what the goal says behind the colon"
    return ""


def _shares(effect: SeenEffect, one: Requirement, other: str) -> bool:
    """Return whether an effect says something of a requirement, so that it may serve it too.

    Args:
        other: the words of those that it serves already, which prove nothing.
    """
    said = f"{effect.object} {effect.after}"
    if words(effect.page) and has_phrase(words(one.text), words(effect.page)):
        said += f" {effect.page}"
    wanted = {w for w in words(f"{one.object} {one.recipient} {one.text}") if len(w) >= _LEAST_NAME}
    about = frozenset(words(one.object))
    wanted -= set(words(other))
    values = values_of(one.text)
    is_wanted = bool(effect.after) and effect.after == wanted_state(one)
    if is_wanted and not about.isdisjoint(words(said)):
        # Of two that turn one thing on and off, each has its own effect.
        return True
    return not wanted.isdisjoint(words(said)) or any(
        not missing_values((value,), said) for value in values
    )


def _wrong_state(one: Requirement, effects: Sequence[SeenEffect]) -> str:
    """Return that a switch is in the other state, where all that is pointed at are switches."""
    wanted = wanted_state(one)
    states = {e.after for e in effects if e.kind is SeenEffectKind.STATE and e.after in {ON, OFF}}
    if wanted in states and is_turned_around(one) and OFF in said_states(one):
        return f"It shows the state {wanted}, and the goal says {OFF}"
    if not wanted or not states or wanted in states:
        return ""
    return f"It shows the state {states.pop()}, and {wanted} is wanted"


def _wrong_value(scope: Scope, effects: Sequence[SeenEffect], past: ClaimHistory) -> str:
    """Return that what came has another value than the only one of its kind that the goal names.

    Only of a row that is a time, or of a state that is said with one number.
    """
    wanted = values_of(scope.own)
    steps = {effect.step for effect in effects}
    for effect in (e for e in past.effects if e.step in steps):
        said = effect.after if effect.kind is SeenEffectKind.STATE else row_name_of(effect)
        if effect.kind not in {SeenEffectKind.STATE, SeenEffectKind.ITEM_ADDED}:
            continue
        shown = values_of(said)
        kinds = {value.kind for value in shown}
        if len(shown) != 1 or not kinds <= {ValueKind.TIME, ValueKind.NUMBER}:
            continue
        if effect.kind is SeenEffectKind.ITEM_ADDED and kinds != {ValueKind.TIME}:
            continue
        same = [value for value in wanted if value.kind in kinds]
        if len(same) == 1 and not is_carried(same[0], said):
            return f"It shows {said.strip()}, and the goal says {same[0].text.strip()}"
    return ""


def _was_typed(effect: SeenEffect, past: ClaimHistory) -> bool:
    """Return whether an approval was one to type."""
    tools = {act.tool for act in past.actions if act.step == effect.step}
    return effect.kind is SeenEffectKind.APPROVED and tools == {"type_text"}


def _unshown_state(one: Requirement, evidence: Sequence[Evidence], past: ClaimHistory) -> str:
    """Return that no element shows what is wanted, where no effect does."""
    newest = past.last[0] if past.last is not None else 0
    wanted = wanted_state(one)
    if folded(one.value).strip() == GONE:
        # What still names it is the contrary.
        return NO_EFFECT
    for pointer in evidence:
        element = _element(pointer, past)
        if element is None or element.editable:
            continue
        if element.checkable or element.selected:
            state = ON if element.checked or element.selected else OFF
            if wanted == state and not is_turned_around(one):
                return ""
            continue
        if wanted:
            continue
        if pointer.step == newest and _carries_all(one, element):
            return ""
        if pointer.step == newest and _came_in_place(element, past):
            return ""
        if has_own_change(past) and _is_about(one, element) and not _was_there(element, past):
            return ""
    return NO_EFFECT


def _came_in_place(element: Element, past: ClaimHistory) -> bool:
    """Return whether a text came on the page that was in front before the newest act as well."""
    if len(past.seen) < 2 or element.clickable or not past.may_have_changed:
        return False
    (_, before), (_, now) = past.seen[-2:]
    pages = {page_key(page_of(seen.foreground, seen.elements)) for seen in (before, now)}
    said = words(element_words(element))
    return len(pages) == 1 and all(words(element_words(e)) != said for e in before.elements)


def _carries_all(one: Requirement, element: Element) -> bool:
    """Return whether an element shows all values of a requirement, and its wanted one."""
    said = element_words(element)
    values = values_of(one.text)
    wanted = words(one.value)
    has_wanted = bool(wanted) and has_phrase(words(said), wanted)
    return (has_wanted or bool(values)) and not missing_values(values, said)


def _is_about(one: Requirement, element: Element) -> bool:
    """Return whether an element says something of a requirement's thing, where that has a name."""
    said = element_words(element)
    names = [word for word in words(one.object) if len(word) >= _LEAST_NAME]
    values = values_of(one.text)
    if any(name in folded(said) for name in names):
        return True
    return not (names or values) or any(is_carried(value, said) for value in values)


def _was_there(element: Element, past: ClaimHistory) -> bool:
    """Return whether an element of that text stood on a screen from before anything was done."""
    said = words(element_words(element))
    until = past.before[0] if past.before is not None else 0
    return any(
        words(element_words(other)) == said
        for step, seen in past.seen
        if step <= until
        for other in seen.elements
    )


def _element(pointer: Evidence, past: ClaimHistory) -> Element | None:
    seen = past.screen_of(pointer.step)
    if seen is None or not pointer.element or pointer.effect:
        return None
    return next((e for e in seen.elements if e.number == pointer.element), None)


# --- values ----------


def _unlike(
    one: Requirement,
    evidence: Sequence[Evidence],
    said: str,
    past: ClaimHistory,
    today: date | None,
) -> str:
    """Return which values of a requirement are shown neither there nor by what stands."""
    values = values_to_show(one, past, today)
    if any(pointer.region for pointer in evidence):
        return ""
    shown = f"{said}\n{_standing_text(past)}"
    if one.kind in {RequirementKind.CHANGE, RequirementKind.ANY} and past.has_effects:
        shown = text_of_change(one, evidence, past)
        if unseen := _unseen_thing(one, shown, past):
            return unseen
    missing = _without_former(missing_values(values, shown, today), values, past, today)
    if not missing and parse_number(one.value.strip()) is not None:
        missing = tuple(v for v in values_of(one.value) if not is_carried(v, shown))
    counts = _counts(one, evidence, past)
    missing = tuple(
        value
        for value in missing
        if value.kind is not ValueKind.NUMBER or not _is_count(value.number, counts, said)
    )
    if missing:
        shown = ", ".join(f'"{one_line(value.text, 60)}"' for value in missing[:4])
        return f"Nothing that was done, and nothing on the last screen, shows {shown}"
    return _wrong_name(one, said, past)


def _without_former(
    missing: tuple[Value, ...], values: tuple[Value, ...], past: ClaimHistory, today: date | None
) -> tuple[Value, ...]:
    """Leave out the value that something had before, as "from 2 to 3" names both."""
    former = text_before_change(past)
    lacking = [value.kind for value in missing]
    return tuple(
        value
        for value in missing
        if lacking.count(value.kind) == [one.kind for one in values].count(value.kind)
        or not is_carried(value, former, today)
    )


def _unseen_thing(one: Requirement, shown: str, past: ClaimHistory) -> str:
    """Return that the thing, as the operator calls it, is nowhere where something was done."""
    names = [word for word in words(one.object) if len(word) >= _LEAST_NAME]
    if not names or not has_phrase(words(one.text), words(one.object)):
        return ""
    pages = [
        element_words(element)
        for effect in past.effects
        for step in {effect.seen_step, effect.element_step}
        if (seen := past.screen_of(step)) is not None
        for element in seen.elements[:_HEAD_OF_PAGE]
    ]
    apps = [effect.app for effect in past.effects]
    said = folded("\n".join([shown, *pages, *apps]))
    if any(name in said for name in names):
        return ""
    return f"Nothing that was done is about “{one_line(one.object, 60)}”"


def _wrong_name(one: Requirement, said: str, past: ClaimHistory) -> str:
    to = words(one.recipient)
    if to and has_phrase(words(one.text), to):
        shown = set(words(f"{said}\n{_standing_text(past)}"))
        if set(to).isdisjoint(shown):
            return f"Nothing that was done shows the recipient “{one_line(one.recipient, 60)}”"
    return ""


def _standing_text(past: ClaimHistory) -> str:
    """Return what the effects that stand say, and what is on the last screen."""
    effects = (
        f"{effect.object}\n{effect.after}\n{effect.page}"
        for effect in past.effects
        if is_lasting(effect)
    )
    # What was typed may have been typed over: what became of it is an effect.
    acts = (act for act in past.actions if act.took_effect and act.tool != "type_text")
    approved = (act.approved for act in acts if act.approved)
    replies = (act.result for act in past.actions if act.result.startswith("{"))
    last = past.last[1].elements if past.last is not None else ()
    shown = (element_words(element) for element in last if not element.editable)
    return "\n".join((*effects, *approved, *replies, *shown))


def _counts(one: Requirement, evidence: Sequence[Evidence], past: ClaimHistory) -> frozenset[int]:
    """Return how many things are pointed at: effects of one kind on what is named like the thing,
    where any is; without effects, elements. One is never written: an alarm is one.
    """
    numbers = {p.effect for p in evidence if p.effect}
    effects = [e for number in numbers if (e := past.ledger.numbered(number)) is not None]
    about = {word for word in words(f"{one.text} {one.object}") if len(word) >= _LEAST_NAME}
    like = [e for e in effects if not about.isdisjoint(words(f"{e.object} {e.after}"))]
    kinds = Counter(effect.kind for effect in like or effects)
    if kinds:
        return frozenset((1, *kinds.values()))
    return frozenset((1, len({(p.step, p.element) for p in evidence})))


def _is_count(number: Number | None, counts: frozenset[int], said: str) -> bool:
    return number is not None and bool(said) and any(map(number.may_be, counts))


# --- pages ----------


def _not_in_front(one: Requirement, evidence: Sequence[Evidence], past: ClaimHistory) -> str:
    """Return why no page in front is shown, or why to open it may not be what is asked for."""
    if past.last is None:
        return NO_POINTER
    newest, seen = past.last
    launched = [act.arguments for act in past.actions if act.tool == "launch_app"]
    front = [seen.foreground.package, seen.foreground.activity, *launched[-1:]]
    open_texts = {e.after for e in past.effects if e.saved is FieldFate.TYPED}
    front += [element_words(e) for e in seen.elements[:_HEAD] if _may_head(e, open_texts)]
    shown = (_element(p, past) for p in evidence if p.step == newest)
    front += [element_words(e) for e in shown if e is not None and _may_head(e, open_texts)]
    wanted = {word for word in words(one.object or one.text) if len(word) >= _LEAST_NAME}
    if wanted.isdisjoint(words(" ".join(front))):
        return "Nothing in front has that name"
    switches = [element for element in seen.elements if element.checkable]
    titles = {words(e.label) for p in evidence if (e := _element(p, past)) is not None}
    for switch in switches:
        if len(switches) == 1 or any(
            title and has_phrase(words(switch.label), title) for title in titles
        ):
            return f"[{switch.number}] “{one_line(switch.label, 60)}” was not touched"
    return ""


def _may_head(element: Element, open_texts: AbstractSet[str]) -> bool:
    """Return whether an element may say what is in front: no row that leads on, no text typed."""
    stays = element.selected or element.editable
    leads_on = (element.clickable or element.checkable) and not stays
    return not leads_on and element.value not in open_texts - {""}
