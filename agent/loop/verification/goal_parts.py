"""The parts of a goal that have to be shown one by one: quoted texts, days, times, numbers. Pure.

A verdict is one for all parts, and one that nobody looked at is missing in it. Only what a screen
writes much as the goal does is a part: what limits, compares or depends ("below 40", "if it is
early") is shown by nothing that could be looked for, nor is anything in a script that is not read.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.goals import asks_only_to_look, asks_to_remove
from agent.loop.verification.quotes import normalised
from agent.safety.effects.amounts import amounts

MAX_PARTS = 12


def _words(said: str) -> frozenset[str]:
    return frozenset(said.split())


_DAYS = (
    _words("monday mondays mon montag montags mo lundi lundis lun lunes lunedì segunda maandag"),
    _words("tuesday tuesdays tue tues dienstag dienstags di mardi mardis mar martes martedì terça"),
    _words("wednesday wednesdays wed mittwoch mittwochs mi mercredi mercredis mer miércoles"),
    _words("thursday thursdays thu thur thurs donnerstag donnerstags do jeudi jeudis jueves"),
    _words("friday fridays fri freitag freitags fr vendredi vendredis viernes venerdì sexta"),
    _words("saturday saturdays sat samstag samstags sonnabend sa samedi samedis sábado sabato"),
    _words("sunday sundays sun sonntag sonntags so dimanche dimanches domingo domenica dom"),
    _words("weekdays weekday workdays werktags wochentags monday mon montag mo"),
    _words("weekends weekend saturday sat samstag sa"),
)
"""Names of the days as goals and screens write them; Monday first, groups of days last."""
_ALWAYS = _words(
    "every each only nur jeden jede chaque tous les cada los ogni solo seulement elke alleen"
)
_PLURAL = ("days", "tags", "dis", "mittwochs", "abends", "weekends")
"""Say that a day comes again, before it or at its end; one alone may be shown by its date."""
_DEPENDS = re.compile(
    r"\b(?:if|unless|else|otherwise|whether|either|or|falls|wenn|sonst|oder|si|sinon|ou|sino|se"
    r"|altrimenti|als|anders)\b",
    re.IGNORECASE,
)
_FORBIDS = _words(
    "not no never without except but don't dont ohne nicht kein keine keinen außer sans pas sauf "
    "sin salvo senza non não sem"
)
"""Before what need not, or must not, be shown."""
_BOUNDS = _FORBIDS | _words(
    "below under less than most least more over above before after until till by within about "
    "around between unter über weniger mehr mindestens höchstens vor nach bis moins plus avant "
    "après menos más antes después meno più prima dopo pin code passcode password passwort otp"
)
"""Before a number that need not be shown either."""
_UNITS = re.compile(
    r"\s*(?:%|percent|prozent|s\b|sec|min|hour|std|stunde|h\b|heure|hora|day|tag|jour|día|week|woche"
    r"|month|monat|year|jahr|times|mal\b|fois|veces|px|steps?\b|words|characters|letters|lines)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;!?\n](?:\s|$)|,\s|\s(?:and|then|und|dann|et|puis|y|luego|e|poi)\s")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”“\n]+)[”“]|„([^“”\n]+)[“”]|«([^»\n]+)»")
_LISTED = re.compile(
    r"\b(?:lines|items|entries|zeilen|einträge|lignes|éléments|líneas|elementos|linhas|righe|regels)"
    r":\s+([^.:;\n]+)",
    re.IGNORECASE,
)
_LAST_LISTED = re.compile(r"\s(?:and|then|und|dann|et|puis|y|luego|e|poi)\s")
_TIME = re.compile(
    r"(?<![\w.,:])(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?(?![\d:])(?:\s?(a\.?m\b|p\.?m\b|uhr\b|o['’]clock\b))?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,:@/+-])\d+(?:[.,]\d+)*(?![\w:@/-]|[.,]\d)")
_NEAR_NUMBER = re.compile(r"\d[\s()-]*$")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_HALF_DAY = 12 * 60
_FEW_WORDS = 4
_COUNTS, _MOST_DIGITS = 2, 6
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class Part(NamedTuple):
    """One part of a goal, as it is written there; what is not empty has to be found."""

    text: str
    words: str = ""  # A quoted text.
    days: frozenset[str] = frozenset()  # The names of one day, or of a group.
    minute: int | None = None  # A time, counted from noon or midnight.
    number: float | None = None

    def is_in(self, shown: "Shown") -> bool:
        if self.words:
            return self.words in shown.text
        if self.days:
            return bool(self.days & shown.words)
        return self.minute in shown.minutes or self.number in shown.numbers


class Shown:
    """What some texts show, in the forms that parts are looked for in."""

    def __init__(self, texts: Iterable[str]) -> None:
        kept = tuple(texts)
        self.text = "|".join(map(normalised, kept))
        self.words = frozenset(self.text.replace("|", " ").split())
        self.minutes = {minute for text in kept for _, minute in _times(text)}
        self.numbers = {
            number
            for text in kept
            for token in _DIGITS.findall(text)
            for number in (*_numbers(token), *map(float, re.findall(r"\d+", token)))
        }


def parts_of(past: ClaimHistory) -> tuple[Part, ...]:
    """Return what has to be shown of a goal that changes something, in the order of its words."""
    if asks_only_to_look(past.goal) or any(done.result.startswith("{") for done in past.actions):
        # A job says in its own form what is to be done later.
        return ()
    found: dict[str, Part] = {}
    for said in (past.goal, *past.hints):
        letters = [char for char in said if char.isalpha()]
        if _DEPENDS.search(said) or not all(map(_LATIN.match, letters)):
            return ()
        found |= {part.text: part for part in _parts(said)}
    return tuple(found.values())[:MAX_PARTS]


def nowhere(parts: Iterable[Part], past: ClaimHistory) -> tuple[Part, ...]:
    """Return the parts that nothing shows: no screen since the goal, no act and no answer."""
    acts = [
        text
        for done in past.actions
        if not done.went_wrong
        for text in (done.label, done.arguments, done.result, done.approved)
    ]
    told = [*acts, *(answer for _, answer in past.answers)]
    since = past.screens_since
    every = Shown([*told, *(line for one in since for line in (*one.lines, *one.fields))])
    # A launcher shows today's date before anything is done.
    late = [one for one in since if one.step > past.first_effect or asks_to_remove(past.goal)]
    after = Shown([*told, *(line for one in late for line in (*one.lines, *one.fields))])
    return tuple(part for part in parts if not part.is_in(after if part.days else every))


def names_of(parts: Iterable[Part]) -> str:
    """Return parts as a sentence names them."""
    return ", ".join(f'"{part.text}"' for part in parts)


def _parts(goal: str) -> Iterable[Part]:
    plain = goal
    for match in _QUOTED.finditer(goal):
        quoted = next(filter(None, match.groups())).strip()
        plain = plain.replace(match.group(), " " * len(match.group()))
        words = normalised(quoted)
        # Addresses and numbers of people may have been taken out of what was stored.
        private = "@" in quoted or len(re.sub(r"\D", "", quoted)) > _MOST_DIGITS
        if words.strip() and not (private or _follows(_FORBIDS, goal, match.start())):
            yield Part(quoted, words=words)
    yield from _listed(plain)
    yield from _days(plain)
    for match, minute in _times(plain, is_sure=True):
        plain = plain.replace(match.group(), " " * len(match.group()))
        if not _follows(_BOUNDS, goal, match.start()):
            yield Part(match.group().strip(), minute=minute)
    money = set(_DIGITS.findall(" ".join(amounts(plain))))
    for match in _NUMBER.finditer(plain):
        token = match.group()
        alone = not _NEAR_NUMBER.search(plain[: match.start()])
        alone = alone and not re.match(r"[\s()-]*\d", plain[match.end() :])
        # A small number may be how many.
        tells = _COUNTS < len(re.sub(r"\D", "", token)) <= _MOST_DIGITS or token in money
        limited = _follows(_BOUNDS, goal, match.start()) or _UNITS.match(plain[match.end() :])
        if tells and alone and not limited:
            yield Part(token, number=_numbers(token)[0])


def _listed(goal: str) -> Iterable[Part]:
    """Find the entries that are to be written: "a note with three lines: milk, eggs, bread"."""
    for match in _LISTED.finditer(goal):
        entries = [entry.strip() for entry in match.group(1).split(",")]
        # After "and" may stand another entry, or what to do with them.
        entries[-1] = _LAST_LISTED.split(entries[-1])[0]
        if len(entries) > 1 and all(0 < len(entry.split()) <= _FEW_WORDS for entry in entries):
            yield from (Part(entry, words=normalised(entry)) for entry in entries)


def _days(goal: str) -> Iterable[Part]:
    found = list(_WORD.finditer(goal))
    said = [match.group() for match in found]
    for at, word in enumerate(said):
        names = next((day for day in _DAYS if len(word) > 3 and word.casefold() in day), None)
        before = {one.casefold() for one in said[max(0, at - 2) : at]}
        again = word.casefold().endswith(_PLURAL) or not _ALWAYS.isdisjoint(before)
        if names and again and not _follows(_FORBIDS, goal, found[at].start()):
            # In English two letters of a day are words: so, do.
            english = word.casefold().removesuffix("s").endswith(("day", "weekend"))
            yield Part(word, days=frozenset(d for d in names if not english or len(d) > 2))


def _follows(words: frozenset[str], goal: str, at: int) -> bool:
    """Return whether one of some words is among the few before a place, in its clause."""
    clause = _CLAUSE.split(goal[:at])[-1]
    return not words.isdisjoint(word.casefold() for word in _WORD.findall(clause)[-_FEW_WORDS:])


def _times(text: str, *, is_sure: bool = False) -> Iterable[tuple[re.Match[str], int]]:
    """Find times of the day.

    Args:
        is_sure: leave out what may as well be an amount or a count.
    """
    for match in _TIME.finditer(text):
        hour, minute, named = match.groups()
        if (minute is None and not named) or int(hour) > 24 or int(minute or 0) > 59:
            continue
        if not is_sure or named or ":" in match.group():
            yield match, (int(hour) * 60 + int(minute or 0)) % _HALF_DAY


def _numbers(token: str) -> tuple[float, ...]:
    """Return what a number may mean: 1,500 is fifteen hundred, and in places one and a half."""
    digits = re.sub(r"\D", "", token)
    last = max(token.rfind("."), token.rfind(","), token.rfind(":"))
    if last < 0:
        return (float(digits),)
    cents = token[last + 1 :]
    whole = re.sub(r"\D", "", token[:last])
    parted = float(f"{whole}.{cents}")
    return (float(digits), parted) if len(cents) == 3 else (parted, float(digits))
