"""Whether a host begins turns: closed while it drains.

Not a stop: what runs goes on to its end. Invariant: whoever waits is let through as soon as it is
open.
"""

from __future__ import annotations

import asyncio


class Gate:
    """Open at first."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._opened.set()

    @property
    def is_open(self) -> bool:
        """Whether turns begin."""
        return self._opened.is_set()

    def set(self, *, is_open: bool) -> None:
        """Open or close it."""
        if is_open:
            self._opened.set()
        else:
            self._opened.clear()

    async def passed(self) -> None:
        """Wait until it is open."""
        await self._opened.wait()
