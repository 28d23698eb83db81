"""Count how many items of a subscription its client is ready to take.

Not a queue. Invariant: never more than EVENT_CREDIT items are allowed to be on their way.
"""

import asyncio

from agent.rpc.rpc_messages import EVENT_CREDIT


class Credit:
    """How many items a client is ready to take."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._granted = asyncio.Event()
        self.grant(0)

    def grant(self, count: int) -> None:
        """Allow more items; at most EVENT_CREDIT are ever allowed ahead."""
        # Bounded, so that a hostile grant cannot undo the limit on what is under way.
        self._left = min(self._left + max(count, 0), EVENT_CREDIT)
        if self._left > 0:
            self._granted.set()

    @property
    def is_spent(self) -> bool:
        """Whether the client has not asked for more than it was sent."""
        return self._left <= 0

    async def wait(self) -> None:
        """Wait until an item may be sent."""
        await self._granted.wait()

    def take(self) -> None:
        """Count one item that is sent."""
        self._left -= 1
        if self._left <= 0:
            self._granted.clear()
