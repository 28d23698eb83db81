"""Notify subscribers that a resource has changed.

Not what the resources are. Invariants: a subscriber that reads slowly gets fewer notices, and
nobody waits for it; nothing is followed while nobody subscribes; a client hears of what its own
connection to the core sees, and of nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.subscriptions import ServerEvent

from agent.core import Core
from agent.errors import SwitchboardError, UsageError
from console.mcp.resources import changed_by

MAX_SUBSCRIPTIONS = 64  # Of one client.


class Updates:
    """What one client is told, however often it subscribes; implements the SDK's SubscriptionBus.

    Args:
        core: the client's own connection, followed from the first subscription on.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._bus = InMemorySubscriptionBus()
        self._following: asyncio.Task[None] | None = None
        self.listen = ListenHandler(self, max_subscriptions=MAX_SUBSCRIPTIONS)

    async def publish(self, event: ServerEvent) -> None:
        """Notify every listener."""
        await self._bus.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Notify a listener from now on; returns what ends it."""
        if self._following is None or self._following.done():
            self._following = asyncio.create_task(self._follow(), name="updates of resources")
        return self._bus.subscribe(listener)

    def close(self) -> None:
        """Notify no listener any more."""
        self.listen.close()
        if self._following is not None:
            self._following.cancel()

    async def _follow(self) -> None:
        with suppress(SwitchboardError):
            async with self._core.events() as events:
                async for event in events:
                    for uri in changed_by(event):
                        await self.publish(ResourceUpdated(uri=uri))


class Subscriber:
    """One client's subscriptions to resources (protocols before 2026-07-28).

    Args:
        updates: where changes are heard of.
        send: notifies the client of one.
    """

    def __init__(self, updates: Updates, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._uris: set[str] = set()
        self._changed: dict[str, None] = {}
        self._some = asyncio.Event()
        self._unsubscribe = updates.subscribe(self._take)
        self._sending = asyncio.create_task(self._send_each(), name="notices to a subscriber")

    def add(self, uri: str) -> None:
        """Notify of a resource's changes. Raises UsageError where it is one too many."""
        if len(self._uris) >= MAX_SUBSCRIPTIONS and uri not in self._uris:
            raise UsageError(
                f"You have {MAX_SUBSCRIPTIONS} subscriptions.", "Unsubscribe from some first."
            )
        self._uris.add(uri)

    def remove(self, uri: str) -> None:
        """Notify of a resource's changes no more."""
        self._uris.discard(uri)
        self._changed.pop(uri, None)

    def close(self) -> None:
        """Notify of nothing any more."""
        self._unsubscribe()
        self._sending.cancel()

    def _take(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated) and event.uri in self._uris:
            # Several changes before the client has read are one.
            self._changed[event.uri] = None
            self._some.set()

    async def _send_each(self) -> None:
        while True:
            await self._some.wait()
            self._some.clear()
            while self._changed:
                uri = next(iter(self._changed))
                del self._changed[uri]
                await self._send(uri)
