"""Read what the operator wrote to a session: redacted, or let through where they said so. Pure.

Not the search (`agent.safety.redacting`) and not the storing. Invariants: what is stored holds no
secret but those that the operator let through for this session; what was taken out is told by its
kind.
"""

from collections.abc import Collection, Iterable

import msgspec

from agent.errors import UsageError
from agent.protocol import EventMsg, TextLetThrough, TextRedacted
from agent.safety.redacting.finding import Kind, secret_values
from agent.safety.redacting.let_through import MOST_TEXTS, letting_through
from agent.safety.redacting.redaction import find_secrets
from agent.sessions.rules.answers import checked_text


class OperatorText(msgspec.Struct, frozen=True, kw_only=True):
    """A text of the operator, as it may be stored."""

    text: str
    events: tuple[EventMsg, ...] = ()
    """What goes into the session before it: what was let through, or taken out."""
    withheld: str = ""
    """The text as it was written, where something was taken out of it."""


def secrets_in(texts: Iterable[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Return what looks like a secret in texts, as it is written there, each once.

    Args:
        known: what the session was let have before.

    Raises:
        UsageError: there is more of it than one session may be let have.
    """
    with letting_through(lambda: known):
        found = dict.fromkeys(value for text in texts for value in secret_values(text))
    if len(known) + len(found) > MOST_TEXTS:
        raise UsageError(
            f"{len(known) + len(found)} texts that look like secrets would be let through.",
            f"A session may have at most {MOST_TEXTS}. Leave some out.",
        )
    return tuple(found)


def kinds_in(text: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the kinds of secrets that a text would lose, in order."""
    with letting_through(lambda: known):
        return tuple(sorted({one.kind.value for one in find_secrets(text)}))


def read_operator_text(
    text: str, name: str, *, known: Collection[str], let_through: bool
) -> OperatorText:
    """Read a text that the operator wrote to a session.

    Args:
        name: the text, as "The message".
        known: what the session was let have before.
        let_through: whether the operator lets through what looks like a secret in it.

    Raises:
        UsageError: as `checked_text`, or there is too much to let through.
    """
    allowed = secrets_in([text], known) if let_through else ()
    kinds = () if let_through else kinds_in(text, known)
    with letting_through(lambda: (*known, *allowed)):
        stored = checked_text(text, name)
    told: tuple[EventMsg, ...] = ()
    if allowed:
        told = (TextLetThrough(texts=allowed),)
    elif kinds:
        told = (redacted(kinds, name),)
    return OperatorText(text=stored, events=told, withheld=text if kinds else "")


def redacted(kinds: Iterable[str], name: str) -> TextRedacted:
    """Make the fact that kinds of secrets were taken out of a text, as "The goal"."""
    return TextRedacted(
        kinds=tuple(Kind(kind).value for kind in kinds),
        where=name.removeprefix("The ").removeprefix("An ").lower(),
    )
