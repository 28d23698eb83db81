"""The facts of a session that a list can be filtered by, and a filter of them. Pure.

The store keeps the facts in columns of their own (`agent.store.queries.session_lists`). Invariant:
a filter finds the same sessions here and in any store.
"""

from typing import NamedTuple

import msgspec

from agent.errors import UsageError
from agent.records import Session, SessionState, host_of

OUTCOMES = ("done", "unverified", "failed", "cancelled", "open")
"""What became of a session; each has one."""
STATES = (*OUTCOMES, "kept")
"""The words of a state that a filter can ask for."""


class SessionFacts(NamedTuple):
    """What is compared with a filter, case-folded."""

    created_ms: int
    place: str  # Its host and its phone, as `rack-3/emulator-5554`.
    model: str
    labels: str  # Its outcome, `kept` and its tags with `#`, one per line.


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a session has to have; the default is met by all."""

    states: tuple[str, ...] = ()  # Every one of these words of `STATES`.
    tags: tuple[str, ...] = ()  # Every one of these tags.
    phones: tuple[str, ...] = ()  # A part of host and phone: one of these.
    model: str = ""  # A part of the model's name.
    since_ms: int = 0
    until_ms: int = 0  # Before this moment; 0 for no end.

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the lines of `SessionFacts.labels` that there have to be."""
        tags = tuple(f"#{tag.removeprefix('#')}" for tag in self.tags)
        return tuple(f"\n{foldable(one)}\n" for one in (*self.states, *tags))

    def holds(self, session: Session) -> bool:
        """Return whether a session has every fact."""
        facts = facts_of(session)
        return (
            self.since_ms <= facts.created_ms < (self.until_ms or facts.created_ms + 1)
            and all(one in facts.labels for one in self.labels)
            and (not self.phones or any(foldable(one) in facts.place for one in self.phones))
            and foldable(self.model) in facts.model
        )


EVERY_SESSION = SessionFilter()


def outcome_of(session: Session) -> str:
    """Return the word of `OUTCOMES` for a session."""
    match session.state:
        case SessionState.COMPLETED:
            return "done" if session.is_verified else "unverified"
        case SessionState.FAILED:
            return "failed"
        case SessionState.CANCELLED:
            return "cancelled"
        case _:
            return "open"


def facts_of(session: Session) -> SessionFacts:
    """Return what a filter compares of a session."""
    host = session.host or host_of(session.serial)
    is_named = not host or session.serial.startswith(f"{host}/")
    labels = [outcome_of(session), *(["kept"] if session.kept else [])]
    labels += [f"#{tag}" for tag in session.tags]
    return SessionFacts(
        created_ms=session.created_ms,
        place=foldable(session.serial if is_named else f"{host}/{session.serial}"),
        model=foldable(session.model),
        labels=foldable("".join(f"\n{one}" for one in labels) + "\n"),
    )


def foldable(text: str) -> str:
    """Return a text in the form used for comparison."""
    # PostgreSQL's texts hold no NUL, and SQLite's functions take it for the end.
    return text.replace("\0", "\ufffd").casefold()


def split_words(text: str, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Split words that commas separate.

    Args:
        known: the words there are; empty for any.

    Raises:
        UsageError: a word is none of them.
    """
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if known and word.casefold() not in known:
            raise UsageError(f"{word[:40]!r} is unknown.", f"There are {', '.join(known)}.")
    return words
