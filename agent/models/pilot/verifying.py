"""Judge by rules whether a goal is met: each intent by what the stored screens show. Pure.

Invariants: what is not understood, or not shown, is `cannot_tell`; every verdict quotes words of a
screen.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from agent.models.pilot.goal import parse
from agent.models.pilot.intents import (
    Choose,
    Delete,
    Intent,
    Note,
    Open,
    Press,
    Search,
    Send,
    Toggle,
    Type,
    Unclear,
)
from agent.models.pilot.match import EXACT, GOOD, has_words, key_tokens, score, starts_alike
from agent.models.pilot.reading import App
from agent.models.verifying import Judged, SeenScreen, switch_state, without_states
from agent.records import GoalVerdict

_GENERIC = frozenset({"on", "off", "use"})
"""What the one switch of a page about one thing may be called."""
_DELETES = frozenset({"delete", "remove", "erase", "trash", "discard"})


def judged(
    goal: str,
    hints: Sequence[str],
    *,
    apps: Sequence[tuple[str, str]],
    screens: Sequence[SeenScreen],
    pressed: Sequence[str],
    before: int = 0,
) -> Judged:
    """Judge a goal; see `agent.models.verifying.Rules`."""
    known = tuple(App(package, label) for package, label in apps)
    intents = parse(goal, known)
    for hint in hints:
        further = parse(hint, known)
        if further and not any(isinstance(intent, Unclear) for intent in further):
            # What was said later stands where it is the opposite of what was said first.
            kept = tuple(one for one in intents if not _reversed(one, further))
            intents = (*kept, *further)
    steps = _stages(intents, screens[before:])
    found = [steps.get(at) or _judge(intent, screens, pressed) for at, intent in enumerate(intents)]
    quotes = tuple(quote for one in found for quote in one.quotes)
    for verdict in (GoalVerdict.NOT_MET, GoalVerdict.CANNOT_TELL):
        wrong = [
            f"“{intent}”: {one.reason}"
            for intent, one in zip(intents, found, strict=True)
            if one.verdict is verdict
        ]
        if wrong:
            return Judged(verdict, quotes, "; ".join(wrong))
    if not found:
        return Judged(GoalVerdict.CANNOT_TELL, (), "The rules do not understand the goal.")
    return Judged(GoalVerdict.MET, quotes)


def _judge(intent: Intent, screens: Sequence[SeenScreen], pressed: Sequence[str]) -> Judged:
    match intent:
        case Toggle():
            return _toggle(intent, screens)
        case Choose():
            return _met(_chosen(intent, screens), "no screen shows this value")
        case Open():
            return _met(_opened(intent, screens, pressed), "no screen shows it in front")
        case Note(text=text, title=title):
            return _met(_listed((title, text), screens), "no list shows the note")
        case Send(text=text):
            return _met(_listed((text,), screens), "no conversation shows the message")
        case Delete():
            return _met(
                _evidence_of_delete(intent, screens, pressed), "no list shows that it is gone"
            )
        case Press(verb=verb):
            wanted = [label for label in reversed(pressed) if _calls(verb, label)]
            return _met(next(iter(wanted), ""), "it was not pressed")
        case Search(text=text) | Type(text=text):
            held = (f for s in reversed(screens) for f in s.fields if starts_alike(text, f))
            return _met(next(held, ""), "no field holds it")
        case Unclear():
            return Judged(GoalVerdict.CANNOT_TELL, (), "the rules do not understand this")
        case _:
            assert_never(intent)


def _met(quote: str, otherwise: str) -> Judged:
    if quote:
        return Judged(GoalVerdict.MET, (quote,))
    return Judged(GoalVerdict.CANNOT_TELL, (), otherwise)


def _toggle(intent: Toggle, screens: Sequence[SeenScreen]) -> Judged:
    """Find the newest state of the switch: of the very name first, then of one like it."""
    for least in (EXACT, GOOD):
        for screen in reversed(screens):
            line = _switch(intent.name, screen, least)
            if line:
                is_met = switch_state(line) is intent.on
                verdict = GoalVerdict.MET if is_met else GoalVerdict.NOT_MET
                return Judged(verdict, (line,), "" if is_met else f"it shows “{line}”")
    return Judged(GoalVerdict.CANNOT_TELL, (), "no screen shows the switch")


def _reversed(intent: Intent, later: Sequence[Intent]) -> bool:
    return isinstance(intent, Toggle) and any(
        isinstance(other, Toggle)
        and key_tokens(other.name) == key_tokens(intent.name)
        and other.on != intent.on
        for other in later
    )


def _stages(intents: Sequence[Intent], screens: Sequence[SeenScreen]) -> dict[int, Judged]:
    """Judge what a later part of the goal turns back, by when it was so: one after the other.

    Returns:
        The verdicts by the place of their intents; without the last state that is asked for, which
        has to be the newest.
    """
    said: dict[int, Judged] = {}
    reached: dict[tuple[str, ...], int] = {}
    for at, intent in enumerate(intents):
        if not isinstance(intent, Toggle) or not _reversed(intent, intents[at + 1 :]):
            continue
        name = key_tokens(intent.name)
        first = reached.get(name, 0)
        shown = ((number, _state(intent, screens[number])) for number in range(first, len(screens)))
        number, line = next(
            ((number, line) for number, line in shown if line and switch_state(line) is intent.on),
            (len(screens), ""),
        )
        reached[name] = number
        said[at] = _met(line, f"no screen shows it {'on' if intent.on else 'off'} in its turn")
    return said


def _state(intent: Toggle, screen: SeenScreen) -> str:
    return _switch(intent.name, screen, EXACT) or _switch(intent.name, screen, GOOD)


def _switch(name: str, screen: SeenScreen, least: int) -> str:
    switches = [line for line in screen.lines if switch_state(line) is not None]
    ranked = sorted(switches, key=lambda line: score(name, _title(line)), reverse=True)
    if ranked and score(name, _title(ranked[0])) >= least:
        return ranked[0]
    about = any(score(name, _title(line)) >= EXACT for line in screen.lines[:4])
    if len(switches) == 1 and about and key_tokens(_title(switches[0]))[:1] in _generic():
        return switches[0]
    return ""


def _generic() -> Iterable[tuple[str, ...]]:
    return {(word,) for word in _GENERIC}


def _chosen(intent: Choose, screens: Sequence[SeenScreen]) -> str:
    for screen in reversed(screens):
        for line in screen.lines:
            if score(intent.name, _title(line)) >= GOOD and has_words(intent.value, line):
                return line
            if switch_state(line) and score(intent.value, _title(line)) >= EXACT:
                return line
    return ""


def _opened(intent: Open, screens: Sequence[SeenScreen], pressed: Sequence[str]) -> str:
    fitting = [s for s in screens if not intent.package or s.package == intent.package]
    if not fitting:
        return ""
    ends = key_tokens(intent.package.rsplit(".", 1)[-1])
    if intent.package and (set(key_tokens(intent.name)) & set(ends) or not pressed):
        return intent.package
    for screen in reversed(fitting):
        heading = next((x for x in screen.lines[:4] if score(intent.name, _title(x)) >= EXACT), "")
        if heading:
            return heading
    went = (label for label in reversed(pressed) if score(intent.name, _title(label)) >= GOOD)
    return next(went, intent.package)


def _listed(texts: Sequence[str], screens: Sequence[SeenScreen]) -> str:
    """Find a text that was written where it stands outside of any field."""
    wanted = [text for text in texts if text]
    for screen in reversed(screens):
        for text in wanted:
            if any(starts_alike(text, held) for held in screen.fields):
                continue
            line = next((line for line in screen.lines if starts_alike(text, line)), "")
            if line:
                return line
    return ""


def _evidence_of_delete(
    intent: Delete, screens: Sequence[SeenScreen], pressed: Sequence[str]
) -> str:
    """Find where a thing stood that the newest screen of its app does not show any more."""
    if not any(_DELETES & set(key_tokens(label)) for label in pressed):
        return ""
    ours = [screen for screen in screens if screen.package == intent.package]
    if not ours or not ours[-1].lines:
        return ""
    for least in (EXACT, GOOD):
        before = [
            line
            for screen in ours[:-1]
            for line in screen.lines
            if score(intent.name, _title(line)) >= least
        ]
        left = [line for line in ours[-1].lines if score(intent.name, _title(line)) >= least]
        if before:
            return "" if len(left) >= before.count(before[-1]) and left else before[-1]
    return ""


def _calls(verb: str, label: str) -> bool:
    return set(key_tokens(verb)) <= set(key_tokens(_title(label)))


def _title(line: str) -> str:
    return without_states(line).split(" | ", 1)[0]
