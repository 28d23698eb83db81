"""Define every look-up: its name, its parameters and its answer.

A method marked with `@answers` (`agent.runtime.handlers.answers`) answers each. The socket, its
client, HTTP, OpenAPI and docs/protocol.md read this table. Invariant: a look-up changes nothing.
"""

import typing
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec

from agent.protocol.session_filter import STATES, SessionFilter, split_words
from agent.records import HostInfo, Right, SearchHit, Session, Spending, UndoOffer, WarrantView

Answer = TypeVar("Answer")

Number = Annotated[int, msgspec.Meta(ge=-1, le=(1 << 63) - 1)]
"""What a database column holds; −1 is before everything."""


class LookUp(
    msgspec.Struct, Generic[Answer], frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Base of every look-up; `Answer` is the type of its answer."""

    method: ClassVar[str]
    """Its name on the socket and over HTTP."""
    returns: ClassVar[str]
    """What comes back, for the reference."""
    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    """The rights of which an operator needs one, on the phones that the answer tells of."""


class _OfSessions(LookUp[Answer], Generic[Answer], frozen=True, kw_only=True, omit_defaults=True):
    """Base of the look-ups among sessions that have all the facts that are given."""

    states: str = ""
    """Words such as `failed`, `open` or `kept`, with commas between them; each must apply."""
    tags: str = ""
    """Tags, with commas between them; it must have each."""
    phones: str = ""
    """Parts of host and phone, as `rack-3/`, with commas between them; one must occur."""
    model: str = ""
    """A part of the model's name."""
    since_ms: Number = 0
    """Created at or after this moment."""
    until_ms: Number = 0
    """Created before this moment; 0 for no end."""

    @property
    def wanted(self) -> SessionFilter:
        """Return the facts that are asked for. Raises UsageError for a state that is none."""
        return SessionFilter(
            states=split_words(self.states, STATES),
            tags=split_words(self.tags),
            phones=split_words(self.phones),
            model=self.model,
            since_ms=self.since_ms,
            until_ms=self.until_ms,
        )


class ListSessions(_OfSessions[tuple[Session, ...]], frozen=True, kw_only=True):
    """List sessions, newest first; only those older than the session `before`, if given, and only
    those that have all the other facts that are given.
    """

    method: ClassVar[str] = "sessions"
    returns: ClassVar[str] = "session records, newest first"

    limit: int = 200
    before: str = ""


class FindSession(LookUp[Session], frozen=True, kw_only=True):
    """Look a session up by its id or a unique prefix of it."""

    method: ClassVar[str] = "session"
    returns: ClassVar[str] = "one session record, by id or unique prefix"

    session_id: str


class SearchEvents(_OfSessions[tuple[SearchHit, ...]], frozen=True, kw_only=True):
    """Find events by words, the newest first: all words must occur, `"two words"` together,
    `wor*` begins so, `-word` must not occur. Only in sessions that have all the facts that are
    given.
    """

    method: ClassVar[str] = "search"
    returns: ClassVar[str] = "hits, best first"

    query: str
    limit: int = 50


class SumSpending(LookUp[Spending], frozen=True, kw_only=True):
    """Add up what the sessions used that began at or after a moment, by the day."""

    method: ClassVar[str] = "spending"
    returns: ClassVar[str] = "a row for each day with sessions, and the most expensive sessions"

    since_ms: Number


class PhoneInUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A phone that somebody drives or waits for."""

    serial: str
    name: str = ""  # What the operator calls it.
    driver: str = ""  # Who holds the lease: a session id, "operator", another program, or empty.
    title: str = ""  # The session's, where a session drives.
    waiting: tuple[str, ...] = ()  # The sessions that are queued for it, oldest first.


class ListPhonesInUse(LookUp[tuple[PhoneInUse, ...]], frozen=True, kw_only=True):
    """List the phones that somebody drives or waits for, in the order of the devices."""

    method: ClassVar[str] = "phones_in_use"
    returns: ClassVar[str] = "a row for each phone in use or waited for"


class ListHosts(LookUp[tuple[HostInfo, ...]], frozen=True, kw_only=True):
    """List the hosts of the fleet, by name: state, and how long they take to answer."""

    method: ClassVar[str] = "hosts"
    returns: ClassVar[str] = "a row for each host; none outside a fleet"


class ListUndoOffers(LookUp[tuple[UndoOffer, ...]], frozen=True, kw_only=True):
    """List what of a session's effects can be taken back, by the newest screen that it has seen."""

    method: ClassVar[str] = "undo_offers"
    returns: ClassVar[str] = "what can be taken back with `undo_effect`, the newest first"

    session_id: str


class ListWarrants(LookUp[tuple[WarrantView, ...]], frozen=True, kw_only=True):
    """List warrants and drafts, the newest first, with what was used of each."""

    method: ClassVar[str] = "warrants"
    returns: ClassVar[str] = "warrants with their uses, and why one allows nothing"

    warrant_id: str = ""
    """Only this one, by its id or a unique prefix."""
    limit: int = 50


AnyLookUp: TypeAlias = (
    ListSessions
    | FindSession
    | SearchEvents
    | SumSpending
    | ListPhonesInUse
    | ListHosts
    | ListUndoOffers
    | ListWarrants
)
"""Every look-up; one that is missing here does not exist."""

LOOK_UPS: Mapping[str, type[LookUp[Any]]] = {
    kind.method: kind for kind in typing.get_args(AnyLookUp)
}
"""Every look-up by its name."""


def answer_type(kind: type[LookUp[Answer]]) -> Any:
    """Return the type of a look-up's answer, from its `LookUp[...]`."""
    return typing.get_args(kind.__orig_bases__[0])[0]  # type: ignore[attr-defined]
