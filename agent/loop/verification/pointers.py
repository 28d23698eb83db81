"""Find what a pointer means: an effect, an element of a stored screen, a region. Pure.

A verifier writes `E3`, `S7[2]` and `P7(0.1,0.2,0.4,0.3)`; what it writes in words is looked for on
the screens. Invariant: a pointer that means nothing is none.
"""

import re
from collections.abc import Iterable, Sequence

from agent.language.tokens import has_phrase, words
from agent.loop.screen.elements import UNLABELED
from agent.loop.screen.screen_text import states_of
from agent.loop.verification.claim_history import ClaimHistory
from agent.records import Bounds, Element, Evidence, Observation, SeenEffect
from agent.state.effect_text import effect_line
from agent.text import one_line

_QUOTE_CHARS = 200
_EFFECT = re.compile(r"(?<![A-Za-z])(?:E|effect)\s*[:#]?\s*(\d{1,6})\b", re.IGNORECASE)
_ELEMENT = re.compile(r"(?<![A-Za-z])(?:S|step)\s*[:#]?\s*(\d{1,6})\s*\[(\d{1,5})\]", re.IGNORECASE)
_REGION = re.compile(
    r"(?<![A-Za-z])P\s*(\d{1,6})\s*\(\s*([\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*\)"
)
_BARE = re.compile(r"\[(\d{1,5})\]")


def element_words(element: Element) -> str:
    """Return what an element says: label, value, states and the rest."""
    label = "" if element.label == UNLABELED else element.label
    hidden = f"{element.length} hidden characters" if element.length else ""
    return " ".join(filter(None, (label, element.value, element.more, hidden, *states_of(element))))


def row_words(element: Element, seen: Observation) -> str:
    """Return what an element says together with its row: what it lies in, and what lies in it."""
    near = [
        other
        for other in seen.elements
        if other is element
        or other.number == element.parent
        or other.parent == element.number
        or (element.parent and other.parent == element.parent and _beside(other, element))
    ]
    return "\n".join(map(element_words, near))


def _beside(one: Element, other: Element) -> bool:
    """Return whether two elements stand in one row."""
    top, bottom = max(one.bounds.top, other.bounds.top), min(one.bounds.bottom, other.bounds.bottom)
    return bottom > top


def pointed(said: str, past: ClaimHistory) -> tuple[Evidence, ...]:
    """Return what a pointer means; empty: nothing."""
    if (match := _REGION.search(said)) is not None:
        return _region(match, past)
    if (match := _ELEMENT.search(said)) is not None:
        return _element(int(match[1]), int(match[2]), past)
    if (match := _EFFECT.search(said)) is not None:
        effect = past.ledger.numbered(int(match[1]))
        return () if effect is None else (evidence_of(effect),)
    if (match := _BARE.match(said.strip())) is not None and past.last is not None:
        return _element(past.last[0], int(match[1]), past)
    return _worded(said, past)


def evidence_of(effect: SeenEffect) -> Evidence:
    """Return an effect as evidence."""
    said = one_line(effect_line(effect), _QUOTE_CHARS)
    return Evidence(quote=said, effect=effect.number, step=effect.seen_step)


def element_evidence(step: int, element: Element, seen: Observation) -> Evidence:
    """Return an element of a stored screen as evidence."""
    digest = seen.tree_digest or (seen.frame.digest if seen.frame is not None else "")
    said = one_line(element_words(element), _QUOTE_CHARS)
    return Evidence(quote=said, step=step, digest=digest, element=element.number)


def _element(step: int, number: int, past: ClaimHistory) -> tuple[Evidence, ...]:
    seen = past.screen_of(step)
    if seen is None:
        return ()
    found = next((e for e in seen.elements if e.number == number), None)
    return () if found is None else (element_evidence(step, found, seen),)


def _region(match: re.Match[str], past: ClaimHistory) -> tuple[Evidence, ...]:
    step = int(match[1])
    seen = past.screen_of(step)
    if seen is None or seen.frame is None:
        return ()
    try:
        left, top, right, bottom = (min(max(float(match[at]), 0.0), 1.0) for at in range(2, 6))
    except ValueError:
        return ()
    if left >= right or top >= bottom:
        return ()
    region = Bounds(left=left, top=top, right=right, bottom=bottom)
    quote = "a region of the picture"
    return (Evidence(quote=quote, step=step, digest=seen.frame.digest, region=region),)


def _worded(said: str, past: ClaimHistory) -> tuple[Evidence, ...]:
    """Find words on the screens since the goal, the newest first, else among the effects."""
    wanted = words(said)
    if not wanted:
        return ()
    for step, seen in reversed(past.seen):
        for element in seen.elements:
            if has_phrase(words(element_words(element)), wanted):
                return (element_evidence(step, element, seen),)
    for effect in reversed(past.effects):
        if has_phrase(words(effect_line(effect)), wanted):
            return (evidence_of(effect),)
    return ()


def all_pointed(said: Iterable[str], past: ClaimHistory, most: int) -> tuple[Evidence, ...]:
    """Return what several pointers mean, each once."""
    found = (one for text in said for one in pointed(text, past))
    return tuple(dict.fromkeys(found))[:most]


def text_of(evidence: Sequence[Evidence], past: ClaimHistory) -> str:
    """Return all that pointed things say: effects with their places, elements with their rows."""
    said: list[str] = []
    for one in evidence:
        effect = past.ledger.numbered(one.effect) if one.effect else None
        if effect is not None:
            said += [effect.object, effect.before, effect.after, effect.page]
            seen = past.screen_of(effect.element_step or effect.seen_step)
            number = effect.element
        else:
            seen, number = past.screen_of(one.step), one.element
        element = None
        if seen is not None and number:
            element = next((e for e in seen.elements if e.number == number), None)
        if element is not None and seen is not None:
            said.append(row_words(element, seen))
        said.append(one.quote if effect is None else "")
    return "\n".join(filter(None, said))
