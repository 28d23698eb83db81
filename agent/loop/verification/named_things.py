"""Compare what was done, or told, with what the operator's words name among the rows seen. Pure.

Rows of one list are alternatives: where the words name one, another is not meant. A row is named by
all of its name, by a longer part of it, or by the time or the number that only it has. Invariants:
only rows of the app that the effect is in are compared; an effect that says the named thing
anywhere, or on whose page it stands, is never called another thing's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from agent.language.dates import dates_in
from agent.language.numbers import numbers_in
from agent.language.times import times_in
from agent.language.tokens import has_phrase, is_unspaced, words
from agent.loop.effects.pages import JOINT, groups_of, in_band, page_key, page_of, row_name
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.decisions import is_lasting
from agent.loop.verification.pointers import element_words
from agent.loop.verification.scopes import Scope
from agent.loop.verification.values import Value, ValueKind, is_carried, values_of
from agent.records import Element, Observation, SeenEffect, SeenEffectKind
from agent.text import one_line

_LEAST_LETTERS = 3
_LEAST_NUMBER = 10
_SHORT_LINE = 2
_ENUMERATED = 2
"""So many rows of one list that were both named and dealt with make an enumeration."""
_LONG_PART = 3  # Words of a part that tells its row from the others.
_NAMING_PART = 2
"""Words of a part by which its row may be named, such as a subject."""
_FRONT = 8
_HEAD = 6  # Elements at the top of a page, where it says whose it is.
_MOST_JOINING, _JOINING_LETTERS = 2, 4
"""Words between two names that only join them: and, und von, y a."""
_NAME_CHARS = 60
_ENDING = 3
"""Letters by which the forms of a name differ at its end."""

Parts = dict[str, frozenset[str]]
"""The rows of a list by their names, each with all its texts."""


def other_thing(scope: Scope, effects: Sequence[SeenEffect], past: ClaimHistory) -> str:
    """Return that all effects are on other rows than the one that a requirement names."""
    steps = {effect.step for effect in effects}
    effects = [e for e in past.effects if e in effects or (e.step in steps and is_lasting(e))]
    made = {row_name_of(e) for e in past.effects if e.kind is SeenEffectKind.ITEM_ADDED}
    for app in dict.fromkeys(effect.app for effect in effects):
        for parts in _lists_with_parts(past, app):
            named = [name for name in _named_in(parts, scope) if name not in made]
            about = [_about(effect, frozenset(parts), past) for effect in effects]
            if not named or any(has_phrase(words(said), words(n)) for said in about for n in named):
                continue
            other = next(filter(None, (_row_in(said, parts, named) for said in about)), "")
            if other and not _is_all_but(named, parts, past):
                return (
                    f"It was done to {_quoted(other)}, and the goal names {_quoted(named[0])} "
                    "(what is to be left alone is of kind keep)"
                )
    return ""


def strange_thing(scope: Scope, past: ClaimHistory) -> str:
    """Return that all was done to rows that the goal names nowhere, where this part names one."""
    effects = [effect for effect in past.effects if is_lasting(effect)]
    return other_thing(Scope(f"{scope.own}\n{past.goal}"), effects, past)


def page_of_other(scope: Scope, past: ClaimHistory) -> str:
    """Return that the page in front is another row's than the one that a requirement names."""
    if past.last is None:
        return ""
    seen = past.last[1]
    front = "\n".join(element_words(element) for element in seen.elements[:_FRONT])
    for parts in _lists_with_parts(past, seen.foreground.package):
        named = _named_in(parts, scope)
        if not named or any(has_phrase(words(front), words(name)) for name in named):
            continue
        if other := _row_in(front, parts, named):
            return f"{_quoted(other)} is in front, and the goal names {_quoted(named[0])}"
    return ""


def _is_all_but(named: Sequence[str], parts: Parts, past: ClaimHistory) -> bool:
    """Return whether something was done to every row of a list but the named ones.

    So it is where what is named is what to leave: all notes except one.
    """
    changed = {row_name_of(effect) for effect in past.effects if is_lasting(effect)}
    others = {*parts} - {*named}
    return len(others) > 1 and changed.isdisjoint(named) and others <= changed


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


def left_out_thing(scope: Scope, past: ClaimHistory) -> str:
    """Return the row that a requirement names beside others, and that nothing was done with."""
    text = frozenset(words(scope.own))
    said = frozenset(
        word
        for effect in past.effects
        if effect.kind is not SeenEffectKind.APPROVED
        for word in words(f"{effect.object} {effect.after}")
    )
    for parts in _lists_with_parts(past, ""):
        own = {row: found & text for row, found in _distinctive(parts).items() if found & text}
        done = [row for row, found in own.items() if found & said]
        left = [row for row, found in own.items() if not found & said]
        if len(done) >= _ENUMERATED and left:
            return f"Nothing was done with {_quoted(left[0])}"
        named = _named(parts, scope.own)
        mentioned = {name for name in named if frozenset(words(name)) <= said}
        for name in named:
            if name not in mentioned and any(_are_joined(name, m, scope.own) for m in mentioned):
                return f"Nothing was done with {_quoted(name)}"
    return ""


def untouched_switch(scope: Scope, past: ClaimHistory) -> str:
    """Return the switch that a requirement names beside one that was turned, and that was not."""
    states = [e for e in past.effects if e.kind is SeenEffectKind.STATE]
    # A choice is said by what it changed: "Screen timeout" is "2 minutes" now.
    turned = {words(text) for e in states for text in (e.object, e.after)}
    said = words(scope.own)
    if not any({*name} & {*said} for name in turned):
        return ""
    for _, seen in past.seen:
        for element in seen.elements:
            name = words(row_name(element))
            is_named = element.checkable and bool(name) and has_phrase(said, name)
            if is_named and not any(has_phrase(o, name) or has_phrase(name, o) for o in turned):
                return (
                    f"{_quoted(row_name(element))} was not turned: list it by itself, with the "
                    "state that is wanted"
                )
    return ""


def untouched_in_front(scope: Scope, past: ClaimHistory) -> str:
    """Return the switch in front that a requirement names, where it may ask to turn it."""
    if past.last is None:
        return ""
    switches = {row_name(e): e for e in past.last[1].elements if e.checkable}
    for name in _named(dict.fromkeys(switches, frozenset()), scope.own):
        return (
            f"[{switches[name].number}] {_quoted(name)} was not touched: list whether it is to be "
            "on or off"
        )
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
            others = _named(dict.fromkeys(names, frozenset()), past.goal)
            kept = [name for name in others if not has_phrase(words(said), words(name))]
            if kept:
                new = _quoted(row_name_of(effect))
                return f"{new} was made beside {_quoted(kept[0])}, which the goal names"
    return ""


def other_control(scope: Scope, effects: Iterable[SeenEffect], past: ClaimHistory) -> str:
    """Return that something went by another button than the one beside it that the goal names."""
    said = words(scope.own)
    for effect in effects:
        if effect.kind is not SeenEffectKind.ITEM_REMOVED:
            continue
        for act in past.actions:
            seen = past.screen_of(act.step) if act.step <= effect.step else None
            pressed = words(act.label)
            if seen is None or not (pressed and act.took_effect) or {*pressed} & {*said}:
                continue
            if not any(e.label == act.label and e.kind in _BUTTONS for e in seen.elements):
                continue
            for element in seen.elements:
                label = words(element.label)
                if element.kind in _BUTTONS and label and label == said[: len(label)]:
                    return (
                        f"{_quoted(act.label)} was pressed, and the goal says "
                        f"{_quoted(element.label)}"
                    )
    return ""


_BUTTONS = frozenset({"btn", "icon-btn"})


# --- what is told ----------


def told_of_another(
    scope: Scope, answer: str, past: ClaimHistory, today: date | None = None, *, in_words: bool
) -> str:
    """Return that what an answer tells stands only beside other things than the named one.

    Args:
        in_words: whether an answer without a value is looked for by its words.
    """
    goal = words(past.goal)
    told: list[Value | str] = [
        value
        for value in values_of(answer)
        if not is_carried(value, past.goal)
        and (value.number is None or abs(value.number.value) >= _LEAST_NUMBER)
    ]
    if not told and in_words:
        told = [w for w in words(answer) if len(w) >= _LEAST_LETTERS and w not in goal]
    other = ""
    known: dict[str, bool] = {}
    for _, seen in past.seen:
        for element in seen.elements:
            said = element_words(element)
            if said not in known:
                known[said] = any(_is_said_in(said, one) for one in told)
            if known[said]:
                owner = _other_day(element, seen, scope, today)
                owner = owner or _whose(element, seen, scope, past)
                if owner is None:
                    return ""
                other = owner or other
    return other


def _is_said_in(text: str, told: Value | str) -> bool:
    if isinstance(told, str):
        return told in words(text)
    return is_carried(told, text)


def _whose(element: Element, seen: Observation, scope: Scope, past: ClaimHistory) -> str | None:
    """Return that an element belongs to another thing than the named one.

    None: it belongs to the named one, or to nothing; empty: to a row of another kind of list.
    """
    labelled = [e for e in seen.elements if _is_labelled(e, scope.own)]
    if labelled and not any(e is element or in_band(e, element) for e in labelled):
        return f"{_quoted(row_name(labelled[0]))} is asked for, and it stands elsewhere"
    band = [e for e in seen.elements if e is element or in_band(e, element)]
    shown = [row_name(e) for e in seen.elements]
    in_row = False
    for parts in _lists_with_parts(past, seen.foreground.package):
        named = _named_in(parts, scope)
        # The page of a thing has its name at the top, and none of the others.
        is_page = sum(row in parts for row in shown) == 1
        near = [*band, *seen.elements[:_HEAD]] if is_page else band
        beside = [row_name(e) for e in near if row_name(e) in parts]
        in_row = in_row or bool(beside)
        said = words("\n".join(map(element_words, near)))
        if any(has_phrase(said, words(name)) for name in named):
            return None
        if named and beside:
            return f"It stands beside {_quoted(beside[0])}, and {_quoted(named[0])} is asked for"
    return "" if in_row else None


def _other_day(element: Element, seen: Observation, scope: Scope, today: date | None) -> str | None:
    """Return that an element stands under another day than the only one that is asked about."""
    days = [value for value in values_of(scope.own, today) if value.kind is ValueKind.DATE]
    if len(days) != 1 or is_carried(days[0], element_words(element), today):
        return None
    heading = ""
    for other in seen.elements:
        if other is element:
            break
        if not (other.clickable or other.editable) and dates_in(other.label, today):
            heading = other.label
    if not heading or is_carried(days[0], heading, today):
        return None
    return f"It stands under {_quoted(heading)}, and {_quoted(days[0].text.strip())} is asked for"


def _is_labelled(element: Element, text: str) -> bool:
    """Return whether an element is a value with a name, and a text asks for that name."""
    name, _, rest = element.label.partition(JOINT)
    has_value = any(value.kind is ValueKind.NUMBER for value in values_of(rest))
    said = words(name)
    long = bool(said) and len(said[0]) > _LEAST_LETTERS
    return has_value and long and has_phrase(words(text), said)


# --- rows ----------


def row_name_of(effect: SeenEffect) -> str:
    return effect.object.partition(JOINT)[0]


def _is_mostly(line: str, name: tuple[str, ...]) -> bool:
    """Return whether a name of one word is most of a line, as in "Call Dad"."""
    if len(name) != 1:
        return bool(name)
    return len(words(line)) <= _SHORT_LINE and len(name[0]) >= _LEAST_LETTERS


def _lists_with_parts(past: ClaimHistory, app: str) -> Iterator[Parts]:
    found: dict[tuple[object, ...], Parts] = {}
    for _, seen in past.seen:
        if app and seen.foreground.package != app:
            continue
        title = page_key(page_of(seen.foreground, seen.elements)).title
        for group, rows in groups_of(seen.elements).items():
            key = (seen.foreground.package, seen.foreground.activity, title, group)
            parts = found.setdefault(key, {})
            for row in rows:
                own = frozenset(row.label.split(JOINT))
                parts[row_name(row)] = parts.get(row_name(row), frozenset()) | own
    yield from (parts for parts in found.values() if len(parts) > 1)


def _named_in(parts: Parts, scope: Scope) -> list[str]:
    """Return the rows that a requirement's own words name, else those that the rest names."""
    return _named(parts, scope.own) or _named(parts, scope.rest)


def _named(parts: Parts, text: str) -> list[str]:
    """Return the rows that a text names, as a name is written; of two in one the longer."""
    said = words(text)
    if not said:
        return []
    found = [row for row in sorted(parts) if _is_name(row) and _is_said(words(row), said)]
    found = [r for r in found if not any(r != o and has_phrase(words(o), words(r)) for o in found)]
    values = values_of(text)
    numbers = [v.number for v in values if v.number and abs(v.number.value) >= _LEAST_NUMBER]
    clocks = [v for v in values if v.kind in {ValueKind.TIME, ValueKind.NUMBER}]
    for row, own in sorted(parts.items()):
        longer = (w for p in own if p != row and (w := words(p)) and len(w) >= _NAMING_PART)
        by_part = any(has_phrase(said, w) for w in longer if all(map(str.isalpha, "".join(w))))
        clock = [time for time in times_in(row) if time.is_sure]
        by_time = bool(clock) and any(is_carried(value, row) for value in clocks)
        has_own = any(map(str.isalpha, row)) and not (clock or dates_in(row))
        shown = numbers_in(row) if has_own else ()
        by_number = any(n.may_be(one.value) for n in shown for one in numbers)
        if (by_part or by_time or by_number) and row not in found:
            found.append(row)
    return found


def _is_said(name: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Return whether words say a name, one of several words also with other endings."""
    span = len(name)
    if span == 1:
        return name[0] in said
    return any(
        all(map(_is_form_of, name, said[at : at + span])) for at in range(len(said) - span + 1)
    )


def _is_form_of(word: str, said: str) -> bool:
    """Return whether a word of a text is a word of a name, but for its ending."""
    stem = max(len(word) - _ENDING, (len(word) + 1) // 2)
    return word == said or (
        word.isalpha() and said[:stem] == word[:stem] and len(said) <= len(word) + _ENDING
    )


def _is_name(row: str) -> bool:
    letters = sum(map(str.isalpha, row))
    is_word = row[:1].islower() and (" " in row or row.isalpha())
    return (letters > 1 or is_unspaced(row)) and not is_word and bool(words(row))


def _about(effect: SeenEffect, rows: frozenset[str], past: ClaimHistory) -> str:
    """Return what an effect says, and all of its page where it is of no row of a list."""
    # What a person was asked may quote the goal.
    after = "" if effect.kind is SeenEffectKind.APPROVED else effect.after
    said = [effect.object, row_name_of(effect), after, effect.page]
    seen = past.screen_of(effect.element_step or effect.seen_step)
    if seen is None:
        return "\n".join(said)
    if effect.kind is SeenEffectKind.STATE and said[1] not in rows:
        said += [text for e in seen.elements for text in (row_name(e), e.value) if text]
    elif effect.kind is SeenEffectKind.ITEM_ADDED:
        said += [e.label for e in seen.elements[:_HEAD] if not (e.editable or e.clickable)]
    return "\n".join(said)


def _distinctive(rows: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the words of each row that no other row has."""
    said = {name: {w for w in words(name) if len(w) >= _LEAST_LETTERS} for name in rows}
    count = Counter(word for own in said.values() for word in own)
    return {name: frozenset(w for w in own if count[w] == 1) for name, own in said.items()}


def _quoted(name: str) -> str:
    return f"“{one_line(name, _NAME_CHARS)}”"
