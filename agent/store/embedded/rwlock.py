"""Let many store blobs at once, and one collect them alone.

Not a lock of the database. Invariant: while a collector is inside nobody else is, and those who
wait for it cannot be overtaken for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Shared entry for writers of blobs, sole entry for their collector."""

    def __init__(self) -> None:
        self._inside = 0
        self._empty = asyncio.Event()
        self._empty.set()
        self._entrance = asyncio.Lock()

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Be inside beside others."""
        async with self._entrance:
            self._inside += 1
            self._empty.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be inside by oneself; who comes later waits at the entrance."""
        async with self._entrance:
            await self._empty.wait()
            yield
