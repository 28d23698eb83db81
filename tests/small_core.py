"""A small Core on a real store, for tests of what lies between a core and its listeners."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent import protocol
from agent.core import ClientInfo, CoreBase, Overview, TextDelta
from agent.errors import RuntimeDiedError, SwitchboardError
from agent.records import FrameSource, FrameStatus, LiveFrame, Session
from agent.runtime.queries import StoredLookUps
from agent.store.store import EventDraft, Store


class SmallCore(CoreBase):
    """Creates sessions, keeps them in the store, and fails as it is told to."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.failure: Exception | None = None
        self.stuck = asyncio.Event()
        self.followers = 0
        self.frames_made = 0
        self.newest_delta: dict[str, TextDelta] = {}
        self.delta_came = asyncio.Event()
        self.clients: list[ClientInfo] = []
        self.left: list[ClientInfo] = []
        self._created = 0

    @property
    def death(self) -> RuntimeDiedError | None:
        return None

    async def submit(self, op: protocol.Op) -> str:
        return (await self.request(op)).submission_id

    async def request(self, op: protocol.Op) -> protocol.Reply:
        if self.failure is not None:
            raise self.failure
        if isinstance(op, protocol.JobList):
            await self.stuck.wait()
        if isinstance(op, protocol.SessionCreate):
            self._created += 1
            session_id = f"s{self._created}"
            session = Session(session_id=session_id, goal=op.goal, created_ms=1)
            await self.store.append(
                EventDraft(session_id, protocol.SessionConfigured(session=session))
            )
            return protocol.Reply(submission_id=f"op{self._created}", session_id=session_id)
        return protocol.Reply(submission_id="op")

    async def submit_as(self, client: ClientInfo, op: protocol.Op) -> str:
        return await self.submit(op)

    async def request_as(self, client: ClientInfo, op: protocol.Op) -> protocol.Reply:
        self.clients.append(client)
        return await self.request(op)

    async def leave(self, client: ClientInfo) -> None:
        self.left.append(client)

    @asynccontextmanager
    async def events(
        self, *, after: int | None = None
    ) -> AsyncIterator[AsyncIterator[protocol.Event]]:
        queue: asyncio.Queue[protocol.Event] = asyncio.Queue()
        end = self.store.subscribe(lambda commit: [*map(queue.put_nowait, commit.events)])
        self.followers += 1

        async def iterate() -> AsyncIterator[protocol.Event]:
            last = 0
            if after is not None:
                for event in await self.store.events(after=after, limit=1_000_000):
                    last = event.event_id
                    yield event
            while True:
                event = await queue.get()
                if event.event_id > last:
                    yield event

        try:
            yield iterate()
        finally:
            self.followers -= 1
            end()

    @asynccontextmanager
    async def deltas(self, session_id: str = "") -> AsyncIterator[AsyncIterator[TextDelta]]:
        async def iterate() -> AsyncIterator[TextDelta]:
            while True:
                await self.delta_came.wait()
                self.delta_came.clear()
                while self.newest_delta:
                    yield self.newest_delta.pop(next(iter(self.newest_delta)))

        yield iterate()

    def write(self, session_id: str, text: str) -> None:
        self.newest_delta[session_id] = TextDelta(session_id=session_id, turn_id="t", text=text)
        self.delta_came.set()

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        async def iterate() -> AsyncIterator[LiveFrame]:
            while True:
                self.frames_made += 1
                yield LiveFrame(
                    serial=serial,
                    width_px=width_px,
                    height_px=height_px,
                    rgb=bytes([self.frames_made % 256]) * (width_px * height_px * 3),
                    captured_ms=self.frames_made,
                    source=FrameSource.CAPTURE,
                    status=FrameStatus.LIVE,
                )

        if serial == "gone":
            raise RuntimeDiedError("no such phone")
        yield iterate()

    async def overview(self) -> Overview:
        return Overview(
            event_id=await self.store.last_event_id(), sessions=await self.store.sessions()
        )

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[protocol.Event, ...]:
        return await self.store.session_events(
            session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def look_up(self, query: protocol.LookUp[protocol.Answer]) -> protocol.Answer:
        if self.failure is not None:
            raise self.failure
        return await StoredLookUps(self.store).look_up(query)

    async def blob(self, digest: str) -> bytes:
        return await self.store.blobs.read(digest)

    async def close(self) -> None:
        raise SwitchboardError("a client must not close the core")
