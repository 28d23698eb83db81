"""Sum the spending of stored sessions and watchers by day, and list the most expensive sessions.

`agent.records.Budget` has the limits. Invariants: those of the reader that lends its connection;
the database reads every session once; a fork's inherited past counts only for the original.
"""

from typing import Protocol

from msgspec.structs import replace

from agent.records import DaySpent, SessionSpent, Spending, Usage
from agent.store.changes.row_codec import as_int, as_text, decode_session
from agent.store.queries.dialect import Dialect
from agent.store.rows import Row, Rows

DEAREST = 8  # How many sessions are named.


class SpendingRecords(Protocol):
    """The look-up of spending. Every call raises StoreError."""

    async def since(self, since_ms: int) -> Spending:
        """Add up what the sessions used that began at or after a moment, and watchers since."""


class Spendings:
    """Queries on a store's reading connection; implements `SpendingRecords`."""

    def __init__(self, rows: Rows, dialect: Dialect) -> None:
        self._rows = rows
        self._dialect = dialect

    async def since(self, since_ms: int) -> Spending:
        """Add up what the sessions used that began at or after a moment, and watchers since."""
        days: dict[str, DaySpent] = {}
        dearest: list[SessionSpent] = []
        for row in await self._rows(self._dialect.spending, (since_ms,)):
            usage = _usage(row[6:])
            if row[1]:
                dearest.append(SessionSpent(session=decode_session(row[1]), usage=usage))
            else:
                count, completed, failed, steps = (as_int(value) for value in row[2:6])
                days[as_text(row[0])] = DaySpent(
                    day=as_text(row[0]),
                    sessions=count,
                    completed=completed,
                    failed=failed,
                    steps=steps,
                    usage=usage,
                )
        for row in await self._rows(self._dialect.watched, (since_ms,)):
            name, judging = as_text(row[0]), _usage(row[1:])
            day = days.get(name, DaySpent(day=name))
            days[name] = replace(day, usage=day.usage.plus(judging), watchers=judging)
        in_order = tuple(days[name] for name in sorted(days))
        return Spending(days=in_order, dearest=tuple(dearest))


def _usage(row: Row) -> Usage:
    given, cached, made, cost, calls = row
    return Usage(
        input_tokens=as_int(given),
        cached_input_tokens=as_int(cached),
        output_tokens=as_int(made),
        cost_usd=float(cost) if isinstance(cost, int | float) else 0.0,
        calls=as_int(calls),
    )
