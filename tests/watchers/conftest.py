"""A core whose phones show what a test has them show, and whose clock the test sets."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from agent import records
from agent.devices.facts.fact import known
from agent.devices.facts.notifications import Notification, Shade
from agent.devices.protocols import UiTree
from agent.devices.shell.call_log import Call
from agent.errors import DeviceError
from agent.protocol import CommitmentUpdate, JobChanged, Op, WatcherChanged, WatcherCreate
from tests.fakes import FakeDevice, FakeFleet
from tests.stage import PATIENCE_S, Stage

START_MS = 1_000_000_000
MINUTE_MS = 60_000


class ShowingPhone(FakeDevice):
    """A phone with a shade and a screen that a test fills."""

    def __init__(self, fleet: FakeFleet, serial: str) -> None:
        super().__init__(fleet, serial)
        self.shade: list[Notification] = []
        self.shown: list[str] = []
        self.log: list[Call] = []
        self.looks = 0
        self.refuses = ""
        self.unread = 0

    def post(self, title: str, text: str = "", *, package: str = "com.chat", key: str = "") -> None:
        """Put a notification in the shade, in the place of one with its key."""
        key = key or f"0|{package}|{len(self.shade)}|null|10001"
        self.shade = [one for one in self.shade if one.key != key]
        self.shade.append(Notification(key=key, package=package, title=title, text=text))

    async def notifications(self, *, timeout_s: float = 10.0) -> Shade:
        self.looks += 1
        if self.refuses:
            raise DeviceError(self.refuses)
        there = len(self.shade)
        return Shade(
            notifications=tuple(self.shade),
            listed=known(there + self.unread, "keys"),
            read=there,
            unread=self.unread,
            why="their records are printed in an unknown way" if self.unread else "",
        )

    async def calls(self, *, timeout_s: float = 10.0) -> tuple[Call, ...]:
        self.looks += 1
        return tuple(self.log)

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        self.looks += 1
        box = records.Bounds(left=0, top=0, right=1, bottom=1)
        nodes = tuple(
            records.UiNode(
                text=text, bounds=box, package="com.shop", password=text.startswith("pw:")
            )
            for text in self.shown
        )
        return UiTree(nodes=nodes, xml=b"", started_ms=0, ended_ms=0)


class Lookout:
    """A stage with one phone on it, and what tests of watchers ask of it."""

    def __init__(self, stage: Stage, phone: ShowingPhone) -> None:
        self.stage = stage
        self.phone = phone
        self.reminded: list[records.Notice] = []

    async def watch(self, kind: str, **fields: object) -> records.Watcher:
        """Create a watcher and let it look for the first time."""
        op = msgspec.convert(
            {"type": "watcher_create", "watcher_type": kind, **fields}, WatcherCreate
        )
        reply = await self.stage.do(op)
        assert reply.watcher is not None
        await self.ring(after_ms=0)
        return reply.watcher

    async def ring(self, *, after_ms: int = MINUTE_MS) -> None:
        """Let time pass, the timer ring, and every look that it began end."""
        assert self.stage.now_ms is not None
        self.stage.now_ms += after_ms
        wake = self.stage.core._watches.scheduler
        while True:
            await wake.ring()
            if not wake._looking:
                return

            async with asyncio.timeout(PATIENCE_S):
                while wake._looking:
                    await asyncio.sleep(0)

    async def now(self, watcher: records.Watcher) -> records.Watcher:
        stored = await self.stage.store.watches.watcher(watcher.id)
        assert stored is not None
        return stored

    async def ended(self, watcher: records.Watcher) -> records.Watcher:
        """Wait until a watcher looks no more, by the core's own timer."""

        async def there() -> records.Watcher | None:
            now = await self.now(watcher)
            return None if now.status is records.WatcherStatus.ACTIVE else now

        return await self.stage.until(there, f"watcher {watcher.id} to end")

    async def changes(self, watcher: records.Watcher) -> list[str]:
        """Return why a watcher's record changed, each time."""
        return [
            event.msg.reason
            for event in await self.stage.all_events()
            if isinstance(event.msg, WatcherChanged) and event.msg.watcher.id == watcher.id
        ]

    async def jobs(self) -> list[records.Job]:
        """Return the jobs as they were created, in order."""
        return [
            event.msg.job
            for event in await self.stage.all_events()
            if isinstance(event.msg, JobChanged) and event.msg.reason == "created"
        ]

    async def update(self, number: int, status: str, *, due_at: int = 0) -> records.Commitment:
        op = CommitmentUpdate(
            commitment_id=number, status=records.CommitmentStatus(status), due_at=due_at
        )
        return await self.commitment(op)

    async def commitment(self, op: Op) -> records.Commitment:
        reply = await self.stage.do(op)
        assert reply.commitment is not None
        return reply.commitment


@pytest.fixture
def lookout(tmp_path: Path) -> Lookout:
    fleet = FakeFleet("phone-1")
    phone = ShowingPhone(fleet, "phone-1")
    fleet.adopt(phone)
    stage = Stage(tmp_path / "data", fleet)
    stage.now_ms = START_MS
    return Lookout(stage, phone)
