"""Write the statement for a page of the sessions that a filter finds, newest first. Pure.

Each session's row repeats what a filter compares (`agent.protocol.session_filter`), so no record is
decoded to be left out. Invariant: a page goes on where the one before ended, so that all pages
together go through the sessions once.
"""

from agent.protocol.session_filter import SessionFilter, foldable
from agent.store.rows import Value


def filtered(wanted: SessionFilter, *, before: str, limit: int) -> tuple[str, tuple[Value, ...]]:
    """Return the statement and its parameters.

    Args:
        wanted: what the sessions have to have.
        before: the session after which the page begins; empty for the first page.
        limit: how many at most.
    """
    condition, values = condition_of(wanted)
    if before:
        condition += " AND number < (SELECT number FROM session WHERE session_id = ?)"
        values = (*values, before)
    # Two steps: the first reads nothing but an index, whatever is left out.
    return (
        "SELECT record FROM session WHERE number IN (SELECT number FROM session WHERE "
        f"{condition} ORDER BY number DESC LIMIT ?) ORDER BY number DESC"
    ), (*values, limit)


def condition_of(wanted: SessionFilter) -> tuple[str, tuple[Value, ...]]:
    """Return what a row of `session` has to meet, and the parameters."""
    parts = ["1 = 1"]
    values: list[Value] = []
    if wanted.since_ms:
        parts.append("created_ms >= ?")
        values.append(wanted.since_ms)
    if wanted.until_ms:
        parts.append("created_ms < ?")
        values.append(wanted.until_ms)
    for label in wanted.labels:
        parts.append("instr(labels, ?) > 0")
        values.append(label)
    if wanted.phones:
        parts.append(f"({' OR '.join(['instr(place, ?) > 0'] * len(wanted.phones))})")
        values += map(foldable, wanted.phones)
    if wanted.model:
        parts.append("instr(model, ?) > 0")
        values.append(foldable(wanted.model))
    return " AND ".join(parts), tuple(values)
