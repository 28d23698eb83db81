"""Read a filter of the History: words to search, and facts that a session must have.

Pure. `phone:pixel model:gpt is:failed since:7d rent` finds the word rent in the sessions of the
last seven days that failed on a phone called pixel; `on:yesterday` leaves those of one day,
`@rack-3/` those at a host.
Invariant: what is no fact of ours is a word; a fact whose value is not understood is an error that
names what would be.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from agent.errors import UsageError
from agent.records import Session, SessionState
from console.cli_support.days import day_named, day_of
from console.cli_support.time_parsing import duration_ms

STATES: dict[str, Callable[[Session], bool]] = {
    "done": lambda one: one.state is SessionState.COMPLETED and one.is_verified,
    "unverified": lambda one: one.state is SessionState.COMPLETED and not one.is_verified,
    "failed": lambda one: one.state is SessionState.FAILED,
    "cancelled": lambda one: one.state is SessionState.CANCELLED,
    "open": lambda one: not one.state.is_terminal,
    "kept": lambda one: one.kept,
}
"""What may stand behind `is:`."""
BUILT_IN = (
    "on:today",
    "on:yesterday",
    "is:failed since:7d",
    "is:unverified",
    "is:open",
    "is:kept",
)
HINT = "is:failed on:yesterday since:7d phone:NAME model:NAME tag:NAME, then words"
_ANY_DAY = date(2000, 1, 1)
_FACTS = ("is", "on", "phone", "model", "since", "tag")


class Filter(NamedTuple):
    """What is wanted."""

    words: str
    """What is searched for in what sessions said and did; empty for none."""
    facts: tuple[tuple[str, str], ...] = ()

    def holds(self, session: Session, phone: str, now_ms: int, host: str = "") -> bool:
        """Return whether a session has every fact.

        Args:
            session: of the list.
            phone: the name of its phone.
            now_ms: the time of day.
            host: the host of a fleet that it is at.
        """
        named = f"{host}/{phone}" if host else phone
        return all(_holds(fact, value, session, named, now_ms) for fact, value in self.facts)


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
            raise UsageError(f"is:{value} is unknown; there are {', '.join(STATES)}.", HINT)
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
            return STATES[value](session)
        case "phone":
            return value in phone.casefold() or value in session.serial.casefold()
        case "model":
            return value in session.model.casefold()
        case "tag":
            return value.removeprefix("#") in (tag.casefold() for tag in session.tags)
        case "on":
            return day_of(session.created_ms) == day_named(value, day_of(now_ms))
        case _:
            return session.created_ms >= now_ms - duration_ms(value)
