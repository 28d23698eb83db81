"""Compare what was done, or told, with what the operator's words name among the rows seen. Pure.

Rows of one list are alternatives: where the words name one, another is not meant. Invariants: a row
is named by all of its name; only rows of the app that the effect is in are compared; an effect that
says the named thing anywhere, or on whose page it stands, is never called another thing's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent.language.numbers import Number, numbers_in
from agent.language.tokens import has_phrase, words
from agent.loop.effects.pages import groups_of, in_band, row_name
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import is_lasting
from agent.loop.verification.pointers import element_words
from agent.records import Element, Observation, Requirement, SeenEffect, SeenEffectKind
from agent.text import one_line

_LEAST_LETTERS = 3
_ENUMERATED = 2
"""So many rows of one list that were both named and dealt with make an enumeration."""
_HEAD = 6  # Elements at the top of a page, where it says whose it is.
_NAME_CHARS = 60

Rows = frozenset[str]


def other_thing(one: Requirement, effects: Sequence[SeenEffect], past: ClaimHistory) -> str:
    """Return that all effects are on other rows than the one that a requirement names."""
    text = words(one.text)
    steps = {effect.step for effect in effects}
    effects = [e for e in past.effects if e in effects or (e.step in steps and is_lasting(e))]
    for app in dict.fromkeys(effect.app for effect in effects):
        for rows in _lists(past, app):
            named = _named(rows, text)
            about = [_about(effect, rows, past) for effect in effects if effect.app == app]
            if not named or any(has_phrase(words(said), words(n)) for said in about for n in named):
                continue
            done = [row for row in rows if any(row in said.split("\n") for said in about)]
            if done:
                return f"It was done to {_quoted(done[0])}, and the goal names {_quoted(named[0])}"
    return ""


def left_out_thing(one: Requirement, past: ClaimHistory) -> str:
    """Return the row that a requirement names beside others, and that nothing was done with."""
    text = frozenset(words(one.text))
    said = frozenset(
        word for effect in past.effects for word in words(f"{effect.object} {effect.after}")
    )
    for rows in _lists(past):
        own = {row: found & text for row, found in _distinctive(rows).items() if found & text}
        done = [row for row, found in own.items() if found & said]
        left = [row for row, found in own.items() if not found & said]
        if len(done) >= _ENUMERATED and left:
            return f"Nothing was done with {_quoted(left[0])}"
        named = _named(rows, words(one.text))
        mentioned = {name for name in named if frozenset(words(name)) <= said}
        for name in named:
            if name not in mentioned and any(_are_joined(name, m, one.text) for m in mentioned):
                return f"Nothing was done with {_quoted(name)}"
    return ""


def _are_joined(one: str, other: str, text: str) -> bool:
    """Return whether a text names two rows side by side, with a comma or one word in between."""
    said = words(text)
    for first, second in ((words(one), words(other)), (words(other), words(one))):
        for at in range(len(said)):
            behind = at + len(first)
            if said[at:behind] != first:
                continue
            if said[behind + 1 : behind + 1 + len(second)] == second:
                return True
            if said[behind : behind + len(second)] == second and "," in text:
                return True
    return False


def beside_thing(past: ClaimHistory) -> str:
    """Return that something new was made beside a row that the goal names, and that is as it was.

    To be renamed, moved or filled it would have changed, or it would be the page.
    """
    said = "\n".join(f"{e.object}\n{e.after}\n{e.page}" for e in past.effects)
    for effect in past.effects:
        seen = past.screen_of(effect.seen_step)
        if effect.kind is not SeenEffectKind.ITEM_ADDED or seen is None:
            continue
        for rows in groups_of(seen.elements).values():
            names = [row_name(row) for row in rows]
            if row_name_of(effect) not in names:
                continue
            others = _named(frozenset(names), words(past.goal))
            kept = [name for name in others if not has_phrase(words(said), words(name))]
            if kept:
                new = _quoted(row_name_of(effect))
                return f"{new} was made beside {_quoted(kept[0])}, which the goal names"
    return ""


def told_of_another(one: Requirement, numbers: Sequence[Number], past: ClaimHistory) -> str:
    """Return that the numbers of an answer stand only beside another row than the named one."""
    text = words(one.text)
    other = ""
    for _, seen in past.seen:
        for element in seen.elements:
            shown = numbers_in(element_words(element))
            if not any(number.may_be(n.value) for n in shown for number in numbers):
                continue
            found = _whose(element, seen, text, past)
            if not found:
                return ""
            other = found
    return other


def row_name_of(effect: SeenEffect) -> str:
    return effect.object.partition(" | ")[0]


def _whose(element: Element, seen: Observation, text: tuple[str, ...], past: ClaimHistory) -> str:
    """Return the other row that an element belongs to; empty: to the named one, or to none."""
    for rows in _lists(past, seen.foreground.package):
        named = _named(rows, text)
        if not named:
            continue
        band = [e for e in seen.elements if e is element or in_band(e, element)]
        head = seen.elements[:_HEAD]
        for near in (band, head):
            said = "\n".join(map(element_words, near))
            if any(has_phrase(words(said), words(name)) for name in named):
                return ""
            beside = [row_name(e) for e in near if row_name(e) in rows]
            if beside:
                return (
                    f"It stands beside {_quoted(beside[0])}, and {_quoted(named[0])} is asked for"
                )
    return ""


def _lists(past: ClaimHistory, app: str = "") -> Iterator[Rows]:
    """Yield the names of the rows of each list that was seen, each list with all its rows."""
    found: dict[tuple[object, ...], set[str]] = {}
    for _, seen in past.seen:
        if app and seen.foreground.package != app:
            continue
        for group, rows in groups_of(seen.elements).items():
            key = (seen.foreground.package, seen.foreground.activity, group)
            found.setdefault(key, set()).update(map(row_name, rows))
    yield from (frozenset(rows) for rows in found.values() if len(rows) > 1)


def _named(rows: Rows, text: tuple[str, ...]) -> list[str]:
    """Return the rows that a text names, as a name is written; of two in one the longer."""
    found = [
        row
        for row in sorted(rows)
        if any(map(str.isalpha, row))
        and not row[:1].islower()
        and words(row)
        and has_phrase(text, words(row))
    ]
    return [r for r in found if not any(r != o and has_phrase(words(o), words(r)) for o in found)]


def _about(effect: SeenEffect, rows: Rows, past: ClaimHistory) -> str:
    """Return what an effect says, and all of its page where it is of no row of a list."""
    said = [effect.object, row_name_of(effect), effect.after, effect.page]
    seen = past.screen_of(effect.element_step or effect.seen_step)
    if seen is not None and effect.kind is SeenEffectKind.STATE and said[1] not in rows:
        said += [text for e in seen.elements for text in (row_name(e), e.value) if text]
    return "\n".join(said)


def _distinctive(rows: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the words of each row that no other row has."""
    said = {name: {w for w in words(name) if len(w) >= _LEAST_LETTERS} for name in rows}
    count = Counter(word for own in said.values() for word in own)
    return {name: frozenset(w for w in own if count[w] == 1) for name, own in said.items()}


def _quoted(name: str) -> str:
    return f"“{one_line(name, _NAME_CHARS)}”"
