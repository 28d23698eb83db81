"""Which sessions are marked, in the order of the list. Pure.

Invariant: what is not listed any more is not marked, so that an act never meets what is not seen.
"""

from collections.abc import Iterable, Sequence


class Marks:
    """The marked sessions, and where a range begins."""

    def __init__(self) -> None:
        self._ids: frozenset[str] = frozenset()
        self._from = ""

    @property
    def ids(self) -> frozenset[str]:
        return self._ids

    def in_order(self, listed: Iterable[str]) -> tuple[str, ...]:
        return tuple(one for one in listed if one in self._ids) if self._ids else ()

    def toggle(self, session_id: str) -> None:
        """Mark a session, or take its mark away; a range begins there."""
        if session_id:
            self._ids ^= {session_id}
            self._from = session_id

    def span(self, session_id: str, listed: Sequence[str], since: str = "") -> None:
        """Mark all from `since`, or the last mark, to here; only this where there is neither."""
        if session_id not in listed:
            return
        to = listed.index(session_id)
        begin = since or self._from
        start = listed.index(begin) if begin in listed else to
        first, last = sorted((start, to))
        self._ids |= set(listed[first : last + 1])
        self._from = session_id

    def mark_all(self, listed: Iterable[str]) -> None:
        """Mark all that are listed, or none where all of them are marked."""
        whole = frozenset(listed)
        self._ids = frozenset() if whole <= self._ids else whole

    def keep(self, listed: Iterable[str]) -> None:
        """Take the marks away from what is not listed."""
        if self._ids:
            self._ids &= frozenset(listed)

    def clear(self) -> None:
        self._ids, self._from = frozenset(), ""
