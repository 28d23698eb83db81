"""The Deck's list as it was made last: what changes nothing that it is ordered by moves no entry.

With thousands of sessions nearly every event is a step of one of them, which neither its place nor
any other row depends on. Invariant: an entry that is kept is the one that listing everything again
would give.
"""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from agent.records import Session
from agent.state.reducer import State
from widgets.lists.session_order import Group, Listed, Sort


class Listing(NamedTuple):
    """What is listed, with what the rows need to know of all of it."""

    entries: Sequence[Listed]
    lines: int
    """How many lines its rows take where each live session has two."""
    serials: frozenset[str]
    shared: frozenset[str]
    """The titles that tell nothing, since several sessions have them."""

    @classmethod
    def of(cls, entries: Sequence[Listed]) -> "Listing":
        """Count what the rows need to know."""
        sessions = [entry.view.session for entry in entries if entry.view is not None]
        titles = Counter([title_of(one) for one in sessions])
        live = len([one for one in sessions if not one.state.is_terminal])
        return cls(
            entries=entries,
            lines=len(entries) + live,
            serials=frozenset([one.serial for one in sessions if one.serial]),
            shared=frozenset([title for title, count in titles.items() if count > 1]),
        )


class Arrangement(NamedTuple):
    """What a list is ordered, grouped, filtered and folded by."""

    sort: Sort
    group: Group
    folded: AbstractSet[str]
    wanted: str
    second: int = 0
    """The present, where groups go by age; else 0."""

    @property
    def reads_states(self) -> bool:
        """Return whether more of a state counts than whether the session has ended."""
        return bool(self.wanted) or Sort.STATE is self.sort or Group.STATE is self.group


def title_of(session: Session) -> str:
    """Return what a session is listed as."""
    return session.title or session.goal


class KeptListing:
    """The newest listing, and what it was made of."""

    def __init__(self) -> None:
        self._state = State()
        self._arrangement: Arrangement | None = None
        self._listing: Listing | None = None
        self._places: dict[str, int] = {}

    def after(self, state: State, arrangement: Arrangement) -> Listing | None:
        """Return the listing after events that moved no entry; None where all is listed again."""
        listing, before = self._listing, self._state
        if listing is None or arrangement != self._arrangement:
            return None
        if len(state.sessions) != len(before.sessions):
            return None
        if state.devices is not before.devices or state.questions is not before.questions:
            return None
        if state.sessions is before.sessions:
            return listing
        known = before.sessions
        changed = [one for one, view in state.sessions.items() if known.get(one) is not view]
        for one in changed:
            was = known.get(one)
            if was is None:
                return None
            old, new = was.session, state.sessions[one].session
            if _ordered_by(old) != _ordered_by(new):
                return None
            if arrangement.reads_states and old.state is not new.state:
                return None
        entries = list(listing.entries)
        for one in changed:
            at = self._places.get(one)
            if at is not None:
                entries[at] = entries[at]._replace(view=state.sessions[one])
        self._state, self._listing = state, listing._replace(entries=entries)
        return self._listing

    def keep(self, state: State, arrangement: Arrangement, entries: Sequence[Listed]) -> Listing:
        """Keep what was listed."""
        self._state, self._arrangement = state, arrangement
        self._listing = Listing.of(entries)
        self._places = {
            entry.view.session.session_id: at
            for at, entry in enumerate(entries)
            if entry.view is not None
        }
        return self._listing


def _ordered_by(session: Session) -> tuple[object, ...]:
    """Return all that an order, a group, a filter or a row of another session reads of one."""
    return (
        session.parent_id,
        session.state.is_terminal,
        session.paused,
        session.lost,
        session.lost and session.updated_ms,
        session.dismissed,
        session.created_ms,
        session.serial,
        session.host,
        session.title,
        session.goal,
        session.tags,
    )
