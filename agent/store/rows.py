"""Define rows and statements, common to every database of a store. No I/O.

SQL that both databases understand is written once, with `?` for values; differences are in
`agent.store.queries.dialect.Dialect`. Invariant: a module that uses only this is independent of the
database.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

Value = str | int | float | bytes | None
Row = tuple[Value, ...]
Statement = tuple[str, Sequence[Sequence[Value]]]
"""SQL, and the rows it is run for, one after the other."""
Rows = Callable[[str, Sequence[Value]], Awaitable[list[Row]]]
"""Run one statement and fetch all it gives. Raises StoreError."""


class Connection(Protocol):
    """A source of rows."""

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and fetch all its rows. Raises StoreError."""
