"""Store why sessions wait for a phone, whenever that is another reason than before.

Not the reasons (`agent.placement.reasons`). Invariants: a session that has begun its turn is told
nothing about; what changes again and again is stored once in a while, as it then is.
"""

import asyncio
import logging

from agent.errors import StoreError, UsageError
from agent.protocol import SessionWaits
from agent.sessions.registry.services import Services

_BETWEEN_S = 1.0  # Phones come and go in bursts: so long is waited before the next look.
_log = logging.getLogger(__name__)


class WaitReasons:
    """The news of one core's queue."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts
        self._changed = asyncio.Event()
        parts.assignment.on_reasons = self._changed.set

    async def run(self) -> None:
        """Tell of changes, for ever."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                for session_id, reason in self._parts.assignment.reasons().items():
                    await self._tell(session_id, reason)
            except StoreError as error:
                # It is told once the store takes it.
                _log.info("Why sessions wait cannot be stored yet: %s", error)
                self._changed.set()
            await asyncio.sleep(_BETWEEN_S)

    async def _tell(self, session_id: str, reason: str) -> None:
        try:
            live = await self._parts.registry.get(session_id)
        except UsageError:
            return  # It was deleted meanwhile.
        if live.record.waits_for == reason:
            return
        async with live.lock:
            waits = live.turn is not None and not (live.turn.started or live.turn.over.is_set())
            if waits and self._parts.assignment.reasons().get(session_id) == reason:
                await self._parts.registry.append(*live.drafts(SessionWaits(reason=reason)))
