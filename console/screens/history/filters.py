"""Read a filter of the History: words to search, and facts that a session must have.

Pure. `phone:pixel model:gpt is:failed since:7d rent` finds the word rent in the sessions of the
last seven days that failed on a phone called pixel; `on:yesterday` leaves those of one day,
`@rack-3/` those at a host. The store looks for the facts (`Filter.asked`); names of phones are
known to the console alone.
Invariant: what is no fact of ours is a word; a fact whose value is not understood is an error that
names what would be; the store is asked for no fewer sessions than the filter holds.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from agent.errors import UsageError
from agent.protocol.session_filter import STATES, SessionFilter, facts_of, foldable
from agent.records import Session
from console.cli_support.days import begin_ms, day_named, day_of
from console.cli_support.time_parsing import duration_ms

BUILT_IN = ("on:today", "on:yesterday", "is:failed since:7d", "is:unverified", "is:open", "is:kept")
HINT = "is:failed on:yesterday since:7d phone:NAME model:NAME tag:NAME, then words"
_ANY_DAY = date(2000, 1, 1)
_FACTS = ("is", "on", "phone", "model", "since", "tag")
_NAMES = frozenset({"phone", "model", "tag"})
_MOST_NAMED = 20
"""Of more phones the store is not told the names: most sessions are then of one of them."""


class Filter(NamedTuple):
    """What is wanted."""

    words: str  # What is searched for in what sessions said and did; empty for none.
    facts: tuple[tuple[str, str], ...] = ()

    def holds(self, session: Session, phone: str, now_ms: int) -> bool:
        """Return whether a session has every fact.

        Args:
            session: of the list.
            phone: the name of its phone.
            now_ms: the time of day.
        """
        return all(_holds(fact, value, session, phone, now_ms) for fact, value in self.facts)

    def query(self, names: Mapping[str, str], now_ms: int) -> dict[str, Any]:
        """Return the facts as `ListSessions` and `SearchEvents` have them.

        Args:
            names: of the phones, by serial.
            now_ms: the time of day.
        """
        since_ms = max((_span(*one, now_ms)[0] for one in self.facts), default=0)
        ends = [end for one in self.facts if (end := _span(*one, now_ms)[1])]
        phones = (_parts(value, names) for value in self._values("phone"))
        return {
            "states": ",".join(self._values("is")),
            "tags": ",".join(one for one in self._values("tag") if "," not in one),
            "phones": next(filter(None, phones), ""),
            "model": next(iter(self._values("model")), ""),
            "since_ms": since_ms,
            "until_ms": min(ends, default=0),
        }

    def _values(self, fact: str) -> list[str]:
        return [value for name, value in self.facts if name == fact]


def whole_words(text: str) -> str:
    """Return a filter that is being typed without the fact at its end that is not whole yet.

    A name may go on with every letter; a state, a span or a day is whole once it is one.
    """
    before, _, last = text.rpartition(" ")
    name, colon, _ = last.partition(":")
    if last.startswith("@"):
        # A slash ends the name of a host.
        return text if last.endswith("/") else before
    if not colon or name.casefold() not in _FACTS:
        return text
    if name.casefold() in _NAMES:
        return before
    try:
        parse_filter(last)
    except UsageError:
        return before
    return text


def parse_filter(text: str) -> Filter:
    """Read a filter. Raises UsageError for a fact that cannot be."""
    words: list[str] = []
    facts: list[tuple[str, str]] = []
    for token in text.split():
        if token.startswith("@") and len(token) > 1:
            # As on the Deck: a phone, or a host with a slash behind it.
            token = f"phone:{token[1:]}"
        name, colon, value = token.partition(":")
        fact = name.casefold()
        if not colon or fact not in _FACTS:
            words.append(token)
        elif not value:
            raise UsageError(f"{name}: needs a value.", HINT)
        elif fact == "is" and value.casefold() not in STATES:
            raise UsageError(f"is:{value} is unknown; use one of {', '.join(STATES)}.", HINT)
        else:
            if fact == "since":
                duration_ms(value)
            elif fact == "on":
                day_named(value, _ANY_DAY)
            facts.append((fact, value.casefold()))
    return Filter(" ".join(words), tuple(facts))


def _holds(fact: str, value: str, session: Session, phone: str, now_ms: int) -> bool:
    match fact:
        case "is":
            return SessionFilter(states=(value,)).holds(session)
        case "phone":
            return foldable(value) in facts_of(session).place or value in phone.casefold()
        case "model":
            return SessionFilter(model=value).holds(session)
        case "tag":
            return SessionFilter(tags=(value,)).holds(session)
        case _:
            since_ms, until_ms = _span(fact, value, now_ms)
            return SessionFilter(since_ms=since_ms, until_ms=until_ms).holds(session)


def _span(fact: str, value: str, now_ms: int) -> tuple[int, int]:
    """Return since when, and until when, a session was created; 0 for any time."""
    match fact:
        case "on":
            day = day_named(value, day_of(now_ms))
            return begin_ms(day), begin_ms(day + timedelta(days=1))
        case "since":
            return max(0, now_ms - duration_ms(value)), 0
        case _:
            return 0, 0


def _parts(value: str, names: Mapping[str, str]) -> str:
    """Return the parts of host and phone that a phone's name stands for; empty where the store
    cannot be told.
    """
    called = [serial for serial, name in names.items() if value in name.casefold()]
    others = [one for one in called if foldable(value) not in foldable(one)]
    is_short = len(others) <= _MOST_NAMED
    return ",".join((value, *others)) if is_short and "," not in "".join((value, *others)) else ""
