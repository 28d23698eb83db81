"""Define a fact: what a phone said, with the line it was read from, or why it is unknown.

Not a reader: the modules beside this one read. Invariants: a value always has its evidence; what a
phone does not say is Unknown, never "no", an empty list or 0. The two are separate types so that
nobody can use a value without asking whether there is one.
"""

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from agent.records.record import Record
from agent.text import one_line

_LINE_LIMIT = 300

T = TypeVar("T")
U = TypeVar("U")


class Known(Record, Generic[T], frozen=True, kw_only=True, tag="known"):
    """A value that a phone gave.

    Attributes:
        value: what was read.
        line: the line of output it was read from, cleaned, at most 300 characters.
    """

    value: T
    line: str

    def map(self, change: Callable[[T], U]) -> "Known[U]":
        """Return the fact of another value that follows from this one, with the same evidence."""
        return Known(value=change(self.value), line=self.line)


class Unknown(Record, frozen=True, kw_only=True, tag="unknown"):
    """What a phone did not say.

    Attributes:
        reason: why it is unknown, as a sentence without its full stop.
    """

    reason: str


Fact: TypeAlias = Known[T] | Unknown


def known(value: T, line: str) -> Known[T]:
    """Return a fact with its line, made safe to show: the line is foreign text."""
    return Known(value=value, line=one_line(line.strip(), _LINE_LIMIT))


def value_or_none(fact: Fact[T]) -> T | None:
    """Return the value; None where it is unknown, for a caller that then asks in another way."""
    return fact.value if isinstance(fact, Known) else None


def first_known(*facts: Fact[T]) -> Fact[T]:
    """Return the first fact that is known; Unknown with every reason if none is."""
    reasons: list[str] = []
    for fact in facts:
        match fact:
            case Known():
                return fact
            case Unknown(reason=reason):
                if reason not in reasons:
                    reasons.append(reason)
    return Unknown(reason="; ".join(reasons) or "nothing was asked")
