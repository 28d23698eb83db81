"""Check a store on any database.

Damage is only reported. Invariant: nothing is changed.
"""

import msgspec

from agent.errors import StoreError
from agent.store.changes.row_codec import as_int, as_text, event_of
from agent.store.rows import Connection

MOST_FINDINGS = 100


class IntegrityReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check."""

    events: int
    sessions: int
    blobs: int
    size_bytes: int
    findings: tuple[str, ...] = ()  # What is wrong, in sentences; the first `MOST_FINDINGS`.

    @property
    def is_sound(self) -> bool:
        """Return whether nothing was found."""
        return not self.findings


async def unreadable(database: Connection) -> list[str]:
    """Decode every event; return the failures in sentences. Raises StoreError."""
    found: list[str] = []
    last = 0
    sql = (
        "SELECT id, session_id, seq, ts_ms, submission_id, body FROM event WHERE id > ? "
        "ORDER BY id LIMIT 500"
    )
    while rows := await database.rows(sql, (last,)):
        for row in rows:
            try:
                event_of(row)
            except StoreError as error:
                found.append(error.message)
        last = as_int(rows[-1][0])
    return found


async def gaps(database: Connection) -> list[str]:
    """List sessions whose events are not numbered from 1 without gaps. Raises StoreError."""
    rows = await database.rows(
        "SELECT session.session_id, last_seq, count(event.id), coalesce(max(seq), 0) FROM session "
        "LEFT JOIN event ON event.session_id = session.session_id "
        "GROUP BY session.session_id, last_seq "
        "HAVING count(event.id) <> last_seq OR coalesce(max(seq), 0) <> last_seq"
    )
    told = [(as_text(name), as_int(last), as_int(count)) for name, last, count, _ in rows]
    return [f"Session {name} should have {last} events and has {n}." for name, last, n in told]
