"""Apply retention whenever a tree has ended, and every hour.

`retention` has the rules, `archive` drops the data. Invariant: a failure is reported and retried
when the next tree ends; no caller waits for it.
"""

import asyncio
import logging
from contextlib import suppress

from agent.errors import StoreError
from agent.protocol import Event, SessionStateChanged
from agent.sessions.lifecycle.archive import Archive

_AT_LEAST_EVERY_S = 3600.0
_log = logging.getLogger(__name__)


class Pruning:
    """Watch for ended trees, and prune."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._wanted = asyncio.Event()
        # What an earlier core left, or a smaller setting now asks for.
        self._wanted.set()

    def on_commit(self, events: tuple[Event, ...]) -> None:
        """Check a commit for ended sessions."""
        for event in events:
            if isinstance(event.msg, SessionStateChanged) and event.msg.state.is_terminal:
                self._wanted.set()

    async def run(self) -> None:
        while True:
            # Days pass also where nothing ends.
            with suppress(TimeoutError):
                async with asyncio.timeout(_AT_LEAST_EVERY_S):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._archive.prune()
            except StoreError as error:
                _log.warning("Retention could not be kept: %s", error)
