"""Rows and statements, as every database of a store takes and gives them. No I/O.

SQL that both databases understand is written once, with `?` where a value goes; what they say
differently is a `agent.store.queries.dialect.Dialect`. Invariant: no module that uses only this
knows on which database it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

Value = str | int | float | bytes | None
Row = tuple[Value, ...]
Statement = tuple[str, Sequence[Sequence[Value]]]
"""SQL, and the rows it is run for, one after the other."""
Rows = Callable[[str, Sequence[Value]], Awaitable[list[Row]]]
"""Run one statement and fetch all it gives. Raises StoreError."""


class Connection(Protocol):
    """What can be asked for rows."""

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and fetch all it gives. Raises StoreError."""
