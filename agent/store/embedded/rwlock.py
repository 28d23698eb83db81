"""A lock with many writers of blobs, or one collector.

Invariant: a collector is alone inside, and later writers cannot starve it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Shared entry for writers of blobs, exclusive entry for their collector."""

    def __init__(self) -> None:
        self._inside = 0
        self._empty = asyncio.Event()
        self._empty.set()
        self._entrance = asyncio.Lock()

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Enter beside other writers."""
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
    async def exclusive(self) -> AsyncIterator[None]:
        """Enter exclusively; later arrivals wait."""
        async with self._entrance:
            await self._empty.wait()
            yield
