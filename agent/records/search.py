"""Define the hits of a full-text search."""

from agent.records.record import Record


class SearchHit(Record, frozen=True, kw_only=True):
    """One event whose text has what was looked for."""

    session_id: str
    seq: int
    """The event's place in its session."""
    ts_ms: int
    kind: str
    """The event's type, such as agent_message."""
    snippet: str
    """The text around the first match, on one line."""
    matches: tuple[tuple[int, int], ...] = ()
    """Where in the snippet the words are: from and to, in characters."""
