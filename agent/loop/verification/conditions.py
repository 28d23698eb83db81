"""Check what a list calls a condition, or to be kept: a part of the goal that asks for no act.

Pure. Whoever lists a part so exempts it from an effect. Invariant: what can be compared is compared
all the same: a text or a number that is written out, a switch's state, a verb that a button says.
"""

from collections.abc import Collection, Iterator, Sequence

from agent.language.numbers import numbers_in
from agent.language.tokens import has_phrase, words
from agent.loop.effects.pages import JOINT
from agent.loop.verification.change_values import text_of_change
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import OFF, ON, is_lasting, said_states
from agent.loop.verification.values import ValueKind, is_carried, values_of
from agent.records import Evidence, Requirement
from agent.safety.phrasebook import Act, phrases
from agent.text import one_line

_TEXTS = frozenset({ValueKind.QUOTE, ValueKind.ADDRESS, ValueKind.ENTRY, ValueKind.DIALLED})
_FEW = 10
_VERBS = (Act.DELETE, Act.SEND, Act.CALL, Act.INSTALL, Act.SPEND)
_LEAST_STEM = 4
_ENDING = 3
"""Letters by which a verb's forms differ at its end."""


def unfounded_condition(
    one: Requirement,
    evidence: Sequence[Evidence],
    said: str,
    past: ClaimHistory,
    is_branch: bool = False,
) -> str:
    """Return what speaks against a condition that is said to be shown; empty: nothing does.

    Args:
        said: what is pointed at says.
        is_branch: whether it may be the branch that was not taken, of which nothing is to be seen.
    """
    if verb := _asks_for(one, past):
        return f"“{verb}” asks for an act, and is listed as a condition: list it as a change"
    if is_branch:
        return other_state(one, past)
    return _unlike(one, evidence, said, past) or other_state(one, past)


def touched(one: Requirement, past: ClaimHistory, taken: Collection[int]) -> str:
    """Return that something which a part names, and wants kept, was changed for no other part.

    Args:
        taken: the effects that other parts are shown by.
    """
    for effect in past.effects:
        name = words(effect.object.partition(JOINT)[0])
        is_named = any(map(str.isalpha, effect.object)) and bool(name)
        is_spare = is_lasting(effect) and effect.number not in taken
        if is_named and is_spare and has_phrase(words(one.text), name):
            return f"“{one_line(effect.object, 60)}” was changed at step {effect.step}"
    return ""


def other_state(one: Requirement, past: ClaimHistory) -> str:
    """Return that a switch which the operator's words name is not in the state that they say.

    Whatever a part of the goal is listed as, it may ask for that state.
    """
    states = said_states(one)
    if len(states) != 1:
        return ""
    for step, seen in reversed(past.seen):
        for element in seen.elements:
            name = words(element.label)
            if not (element.checkable and name and has_phrase(words(one.text), name)):
                continue
            state = ON if element.checked else OFF
            if state in states:
                return ""
            return f"“{one_line(element.label, 60)}” is {state} on the screen of step {step}"
    return ""


def _unlike(one: Requirement, evidence: Sequence[Evidence], said: str, past: ClaimHistory) -> str:
    """Return which value is not shown, where it has to be, or has nothing to be compared with."""
    if any(pointer.region for pointer in evidence):
        return ""
    values = values_of(one.text)
    done = text_of_change(one, evidence, past)
    carried = [value for value in values if is_carried(value, f"{said}\n{done}")]
    # Where one is as it says, it is no limit, and the others have to be as well.
    is_exact = any(v.kind not in _TEXTS and is_carried(v, done) for v in carried)
    for value in values:
        few = value.number is not None and abs(value.number.value) < _FEW
        shown = value in carried or few
        if value.kind not in _TEXTS and not is_exact:
            shown = shown or bool(numbers_in(said))
        if not shown:
            return f"Nothing that was pointed at shows “{one_line(value.text, 60)}”, or is like it"
    return ""


def _asks_for(one: Requirement, past: ClaimHistory) -> str:
    """Return the verb that a condition begins with, as a button says it; empty: it does not."""
    said = words(one.text)
    if not said:
        return ""
    return said[0] if any(_is_form_of(said[0], verb) for verb in _verbs(past)) else ""


def _verbs(past: ClaimHistory) -> Iterator[str]:
    yield from (phrase[0] for act in _VERBS for phrase in phrases(act) if len(phrase) == 1)
    for act in past.actions:
        yield from words(act.label)[:1]
    for _, seen in past.seen:
        for element in seen.elements:
            if element.clickable and element.kind in {"icon-btn", "btn"}:
                yield from words(element.label)[:1]


def _is_form_of(word: str, verb: str) -> bool:
    """Return whether a word is a form of a verb: all but its ending is the same."""
    stem = max(_LEAST_STEM, len(verb) - _ENDING)
    return len(word) >= stem and len(verb) >= _LEAST_STEM and word[:stem] == verb[:stem]
