"""Gate the start of turns: closed while the host drains.

Running turns continue. Invariant: waiting turns start as soon as the gate opens.
"""

import asyncio


class Gate:
    """A gate, open at first."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._opened.set()

    @property
    def is_open(self) -> bool:
        """Return whether turns may start."""
        return self._opened.is_set()

    def set(self, *, is_open: bool) -> None:
        if is_open:
            self._opened.set()
        else:
            self._opened.clear()

    async def passed(self) -> None:
        """Wait until it is open."""
        await self._opened.wait()
