"""Compare what was done, or told, with what the operator's words name among the rows seen. Pure.

Rows of one list are alternatives: where the words name one, another is not meant. Invariants: a row
is named by all of its name; only rows of the app that the effect is in are compared; an effect that
says the named thing anywhere, or on whose page it stands, is never called another thing's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent.language.numbers import Number, numbers_in
from agent.language.tokens import has_phrase, words
from agent.loop.effects.pages import JOINT, groups_of, in_band, row_name
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import is_lasting
from agent.loop.verification.pointers import element_words
from agent.records import Element, Observation, Requirement, SeenEffect, SeenEffectKind
from agent.text import one_line

_LEAST_LETTERS = 3
_SHORT_LINE = 2
_ENUMERATED = 2
"""So many rows of one list that were both named and dealt with make an enumeration."""
_LONG_PART = 3  # Words of a part that tells its row from the others.
_FRONT = 8
_HEAD = 6  # Elements at the top of a page, where it says whose it is.
_MOST_JOINING, _JOINING_LETTERS = 2, 4
"""Words between two names that only join them: and, und von, y a."""
_NAME_CHARS = 60

Rows = frozenset[str]
Parts = dict[str, frozenset[str]]
"""The rows of a list by their names, each with all its texts."""


def other_thing(one: Requirement, effects: Sequence[SeenEffect], past: ClaimHistory) -> str:
    """Return that all effects are on other rows than the one that a requirement names."""
    text = words(one.text)
    steps = {effect.step for effect in effects}
    effects = [e for e in past.effects if e in effects or (e.step in steps and is_lasting(e))]
    for app in dict.fromkeys(effect.app for effect in effects):
        for parts in _lists_with_parts(past, app):
            named = _named(frozenset(parts), text)
            about = [_about(effect, frozenset(parts), past) for effect in effects]
            if not named or any(has_phrase(words(said), words(n)) for said in about for n in named):
                continue
            other = next(filter(None, (_row_in(said, parts, named) for said in about)), "")
            if other:
                return f"It was done to {_quoted(other)}, and the goal names {_quoted(named[0])}"
    return ""


def page_of_other(one: Requirement, past: ClaimHistory) -> str:
    """Return that the page in front is another row's than the one that a requirement names."""
    if past.last is None:
        return ""
    seen = past.last[1]
    front = "\n".join(element_words(element) for element in seen.elements[:_FRONT])
    for parts in _lists_with_parts(past, seen.foreground.package):
        named = _named(frozenset(parts), words(one.text))
        if not named or any(has_phrase(words(front), words(name)) for name in named):
            continue
        if other := _row_in(front, parts, named):
            return f"{_quoted(other)} is in front, and the goal names {_quoted(named[0])}"
    return ""


def _row_in(said: str, parts: Parts, named: Sequence[str]) -> str:
    """Return a row, named ones apart, that a text says by its name or by a longer part of it."""
    lines = said.split("\n")
    for row, own in parts.items():
        if row in named:
            continue
        longer = [part for part in own if len(words(part)) >= _LONG_PART]
        if row in lines or any(part in lines for part in longer):
            return row
        name = words(row)
        if any(has_phrase(words(line), name) for line in lines if _is_mostly(line, name)):
            return row
    return ""


def left_out_thing(one: Requirement, past: ClaimHistory) -> str:
    """Return the row that a requirement names beside others, and that nothing was done with."""
    text = frozenset(words(one.text))
    said = frozenset(
        word
        for effect in past.effects
        if effect.kind is not SeenEffectKind.APPROVED
        for word in words(f"{effect.object} {effect.after}")
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
    """Return whether a text names two rows side by side, with a comma or a short word between."""
    said = words(text)
    for first, second in ((words(one), words(other)), (words(other), words(one))):
        for at in range(len(said)):
            behind = at + len(first)
            if said[at:behind] != first:
                continue
            for gap in range(1, _MOST_JOINING + 1):
                joins = said[behind : behind + gap]
                short = all(len(word) <= _JOINING_LETTERS for word in joins)
                if short and said[behind + gap : behind + gap + len(second)] == second:
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
    return effect.object.partition(JOINT)[0]


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


def _is_mostly(line: str, name: tuple[str, ...]) -> bool:
    """Return whether a name of one word is most of a line, as in "Call Dad"."""
    if len(name) != 1:
        return bool(name)
    return len(words(line)) <= _SHORT_LINE and len(name[0]) >= _LEAST_LETTERS


def _lists(past: ClaimHistory, app: str = "") -> Iterator[Rows]:
    """Yield the names of the rows of each list that was seen, each list with all its rows."""
    yield from map(frozenset, _lists_with_parts(past, app))


def _lists_with_parts(past: ClaimHistory, app: str) -> Iterator[Parts]:
    found: dict[tuple[object, ...], Parts] = {}
    for _, seen in past.seen:
        if app and seen.foreground.package != app:
            continue
        for group, rows in groups_of(seen.elements).items():
            key = (seen.foreground.package, seen.foreground.activity, group)
            parts = found.setdefault(key, {})
            for row in rows:
                own = frozenset(row.label.split(JOINT))
                parts[row_name(row)] = parts.get(row_name(row), frozenset()) | own
    yield from (parts for parts in found.values() if len(parts) > 1)


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
    # What a person was asked may quote the goal.
    after = "" if effect.kind is SeenEffectKind.APPROVED else effect.after
    said = [effect.object, row_name_of(effect), after, effect.page]
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
