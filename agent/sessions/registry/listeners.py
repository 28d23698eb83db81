"""Give every listener the facts, none lost and none twice; and the newest words of a model.

Not the store and not a socket. Invariants: a listener's queue is its own and unbounded, so a slow
one holds up nobody; what a listener is given is already stored; deltas are never queued, a newer
one takes the place of the older.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

from agent.core import TextDelta
from agent.errors import RuntimeDiedError
from agent.protocol import Event

PAGE_EVENTS = 1000

ReadEvents = Callable[[int, int], Awaitable[tuple[Event, ...]]]
"""Read stored events: after which event id, at most how many."""


class _End:
    """Nothing more will come; with an error when the core died."""

    def __init__(self, error: RuntimeDiedError | None) -> None:
        self.error = error


class EventListeners:
    """Everybody who follows events."""

    def __init__(self, read: ReadEvents) -> None:
        self._read = read
        self._queues: set[asyncio.Queue[tuple[Event, ...] | _End]] = set()
        self._end: _End | None = None

    def publish(self, events: tuple[Event, ...]) -> None:
        """Hand committed events to every listener."""
        for queue in self._queues:
            queue.put_nowait(events)

    def end(self, error: RuntimeDiedError | None = None) -> None:
        """Let every listener read what it still has, and then stop, or fail with the error."""
        if self._end is None:
            self._end = _End(error)
            for queue in self._queues:
                queue.put_nowait(self._end)

    @asynccontextmanager
    async def follow(self, after: int | None) -> AsyncIterator[AsyncIterator[Event]]:
        """Follow events as `Core.events` says. Raises RuntimeDiedError once the core has ended."""
        if self._end is not None:
            raise self._end.error or RuntimeDiedError("The core has ended.", "Start it again.")
        queue: asyncio.Queue[tuple[Event, ...] | _End] = asyncio.Queue()
        # Listening begins before reading: what commits in between is then in the queue.
        self._queues.add(queue)
        try:
            async with aclosing(self._iterate(queue, after)) as events:
                yield events
        finally:
            self._queues.discard(queue)

    async def _iterate(
        self, queue: asyncio.Queue[tuple[Event, ...] | _End], after: int | None
    ) -> AsyncGenerator[Event, None]:
        last = -1
        if after is not None:
            last = after
            full = True
            while full:
                page = await self._read(last, PAGE_EVENTS)
                full = len(page) == PAGE_EVENTS
                for event in page:
                    last = event.event_id
                    yield event
        while True:
            batch = await queue.get()
            if isinstance(batch, _End):
                if batch.error is not None:
                    raise batch.error
                return
            for event in batch:
                if event.event_id > last:
                    last = event.event_id
                    yield event


class DeltaListeners:
    """Everybody who watches models write."""

    def __init__(self) -> None:
        self._boxes: set[_Box] = set()
        self._ended = False

    def publish(self, delta: TextDelta) -> None:
        """Show the newest text of a session."""
        for box in self._boxes:
            box.waiting[delta.session_id] = delta
            box.filled.set()

    def end(self) -> None:
        """Stop every listener."""
        self._ended = True
        for box in self._boxes:
            box.filled.set()

    @asynccontextmanager
    async def follow(self) -> AsyncIterator[AsyncIterator[TextDelta]]:
        """Follow deltas as `Core.deltas` says."""
        box = _Box()
        self._boxes.add(box)
        try:
            async with aclosing(self._iterate(box)) as deltas:
                yield deltas
        finally:
            self._boxes.discard(box)

    async def _iterate(self, box: _Box) -> AsyncGenerator[TextDelta, None]:
        while not self._ended:
            await box.filled.wait()
            box.filled.clear()
            while box.waiting:
                yield box.waiting.pop(next(iter(box.waiting)))


class _Box:
    """The newest delta of each session that one listener has not read yet."""

    def __init__(self) -> None:
        self.waiting: dict[str, TextDelta] = {}
        self.filled = asyncio.Event()
