"""Facts for every listener, none lost and none twice, and the newest words of a model.

Not the store and not a socket. Invariants: a listener's queue is its own and unbounded, so a slow
one holds up nobody; what a listener is given is already stored; deltas are never queued, a newer
one takes the place of the older.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

from agent.core import TextDelta
from agent.errors import RuntimeDiedError
from agent.protocol import Event
from agent.state.commit import Commit

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
        self._queues: set[asyncio.Queue[Commit | _End]] = set()
        self._end: _End | None = None

    def publish(self, commit: Commit) -> None:
        """Hand what was committed to every listener."""
        for queue in self._queues:
            queue.put_nowait(commit)

    def end(self, error: RuntimeDiedError | None = None) -> None:
        """Let every listener read what it still has, and then stop, or fail with the error."""
        if self._end is None:
            self._end = _End(error)
            for queue in self._queues:
                queue.put_nowait(self._end)

    @asynccontextmanager
    async def follow(self, after: int | None) -> AsyncIterator[AsyncIterator[Event]]:
        """Follow events as `Core.events` says. Raises RuntimeDiedError once the core has ended."""
        async with self.follow_commits(after) as commits, aclosing(_each(commits)) as events:
            yield events

    @asynccontextmanager
    async def follow_commits(self, after: int | None) -> AsyncIterator[AsyncIterator[Commit]]:
        """Follow commits as `Core.commits` says. Raises as `follow` does."""
        if self._end is not None:
            raise self._end.error or RuntimeDiedError("The core has ended.", "Start it again.")
        queue: asyncio.Queue[Commit | _End] = asyncio.Queue()
        # Listening begins before reading: what commits in between is then in the queue.
        self._queues.add(queue)
        try:
            async with aclosing(self._iterate(queue, after)) as commits:
                yield commits
        finally:
            self._queues.discard(queue)

    async def _iterate(
        self, queue: asyncio.Queue[Commit | _End], after: int | None
    ) -> AsyncGenerator[Commit, None]:
        last = -1
        if after is not None:
            last = after
            full = True
            while full:
                page = await self._read(last, PAGE_EVENTS)
                full = len(page) == PAGE_EVENTS
                if page:
                    last = page[-1].event_id
                    yield Commit(page)
        while True:
            commit = await queue.get()
            if isinstance(commit, _End):
                if commit.error is not None:
                    raise commit.error
                return
            if commit.events[0].event_id <= last:
                # Read above already, or a part of it.
                newer = tuple(event for event in commit.events if event.event_id > last)
                if not newer:
                    continue
                commit = Commit(newer, commit.sessions)
            last = commit.events[-1].event_id
            yield commit


async def _each(commits: AsyncIterator[Commit]) -> AsyncGenerator[Event, None]:
    async for commit in commits:
        for event in commit.events:
            yield event


class DeltaListeners:
    """Everybody who watches models write."""

    def __init__(self) -> None:
        self._boxes: set[_Box] = set()
        self._ended = False

    def publish(self, delta: TextDelta) -> None:
        """Show the newest text of a session."""
        for box in self._boxes:
            if box.session_id in ("", delta.session_id):
                box.waiting[delta.session_id] = delta
                box.filled.set()

    def end(self) -> None:
        """Stop every listener."""
        self._ended = True
        for box in self._boxes:
            box.filled.set()

    @asynccontextmanager
    async def follow(self, session_id: str = "") -> AsyncIterator[AsyncIterator[TextDelta]]:
        """Follow the deltas of one session, or of all."""
        box = _Box(session_id)
        self._boxes.add(box)
        try:
            async with aclosing(self._iterate(box)) as deltas:
                yield deltas
        finally:
            self._boxes.discard(box)

    async def _iterate(self, box: "_Box") -> AsyncGenerator[TextDelta, None]:
        while not self._ended:
            await box.filled.wait()
            box.filled.clear()
            while box.waiting:
                yield box.waiting.pop(next(iter(box.waiting)))


class _Box:
    """The newest delta of each session that one listener has not read yet."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        """Whose they are; empty for every session's."""
        self.waiting: dict[str, TextDelta] = {}
        self.filled = asyncio.Event()
