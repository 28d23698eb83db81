"""Stand-ins for what needs a phone or a provider: a fleet, a device, a model and a task.

Real in behaviour, small in size: a lease excludes, a lost device raises, a change is told.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from agent import records
from agent.devices.gestures import Gesture
from agent.devices.no_displays import NoDisplays
from agent.devices.protocols import Button, Capture, Displays, Typed, UiTree
from agent.errors import DeviceLostError, UsageError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.models.model import ModelReply, ModelRequest
from agent.protocol import UserMessage


class FakeDevice:
    """A phone with one button on its screen; it notes what is done to it."""

    def __init__(self, fleet: "FakeFleet", serial: str) -> None:
        self._fleet = fleet
        self._serial = serial
        self.done: list[str] = []
        self.copied = ""

    @property
    def serial(self) -> str:
        return self._serial

    @property
    def displays(self) -> Displays:
        return self._fleet.displays.get(self._serial, NoDisplays(self._serial, "it is a stand-in."))

    async def info(self) -> records.DeviceInfo:
        return self._fleet.infos[self._serial]

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        self._check()
        frame = records.Frame(digest="", width_px=108, height_px=240, captured_ms=1)
        return Capture(frame=frame, data=b"")

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        self._check()
        node = records.UiNode(
            text="Go", clickable=True, bounds=records.Bounds(left=0, top=0, right=1, bottom=0.1)
        )
        return UiTree(nodes=(node,), xml=b"<hierarchy/>", started_ms=1, ended_ms=2)

    async def foreground(self, *, timeout_s: float = 5.0) -> records.Foreground:
        self._check()
        return records.Foreground(package="org.example.app")

    async def apps(self, *, timeout_s: float = 10.0) -> tuple[records.AppInfo, ...]:
        self._check()
        return (records.AppInfo(package="org.example.app", label="Example"),)

    async def tap(self, at: records.Point, *, timeout_s: float = 5.0) -> None:
        self._do(f"tap {at.x:g} {at.y:g}")

    async def long_press(self, at: records.Point, *, duration_ms: int = 1000) -> None:
        self._do(f"long press {at.x:g} {at.y:g}")

    async def swipe(
        self, start: records.Point, end: records.Point, *, duration_ms: int = 300
    ) -> None:
        self._do(f"swipe {start.x:g} {start.y:g} {end.x:g} {end.y:g}")

    async def perform(self, gesture: Gesture, *, timeout_s: float = 5.0) -> None:
        self._do(f"{type(gesture).__name__.lower()}")

    async def scroll(
        self, at: records.Point, *, vertical: float, horizontal: float = 0.0, timeout_s: float = 5.0
    ) -> None:
        self._do(f"scroll {vertical:g} {horizontal:g}")

    async def key(self, name: str, *, timeout_s: float = 5.0) -> None:
        self._do(f"key {name}")

    async def clipboard(self, *, timeout_s: float = 10.0) -> str:
        return self.copied

    async def set_clipboard(
        self, text: str, *, paste: bool = False, timeout_s: float = 10.0
    ) -> None:
        self._do(f"{'paste' if paste else 'copy'} {text}")
        self.copied = text

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> Typed:
        self._do(f"type {text}")
        return Typed()

    async def clear_field(self, *, timeout_s: float = 15.0) -> None:
        self._do("clear")

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None:
        self._do(f"press {button}")

    async def launch(self, package: str, *, timeout_s: float = 10.0) -> None:
        self._do(f"launch {package}")

    def _do(self, what: str) -> None:
        self._check()
        self.done.append(what)

    def _check(self) -> None:
        if self._fleet.infos[self._serial].state is not records.DeviceState.ONLINE:
            raise DeviceLostError(f"The device {self._serial} is gone.")


class FakeFleet:
    def __init__(self, *serials: str) -> None:
        self.infos: dict[str, records.DeviceInfo] = {}
        self._devices: dict[str, FakeDevice] = {}
        self._wheels: dict[str, asyncio.Lock] = {}
        self._listeners: list[asyncio.Queue[records.DeviceInfo | None]] = []
        self.drivers: list[tuple[str, str]] = []
        self.displays: dict[str, Displays] = {}
        """By serial; a phone that is not in it can open none."""
        self.closed = False
        self.away: list[records.ServerAway] = []
        self.servers_changed = asyncio.Event()
        for serial in serials:
            self.plug(serial)

    def plug(self, serial: str) -> None:
        self._devices.setdefault(serial, FakeDevice(self, serial))
        self._wheels.setdefault(serial, asyncio.Lock())
        driver = self.infos[serial].driver if serial in self.infos else ""
        self.tell(
            records.DeviceInfo(serial=serial, state=records.DeviceState.ONLINE, driver=driver)
        )

    def adopt(self, device: FakeDevice) -> None:
        """Put another device in the place of the one with its serial."""
        self._devices[device.serial] = device

    def unplug(self, serial: str) -> None:
        self.tell(replace(self.infos[serial], state=records.DeviceState.GONE))

    def tell(self, info: records.DeviceInfo) -> None:
        self.infos[info.serial] = info
        for queue in self._listeners:
            queue.put_nowait(info)

    async def start(self) -> None:
        return

    async def close(self) -> None:
        self.closed = True
        for queue in self._listeners:
            queue.put_nowait(None)

    def devices(self) -> tuple[records.DeviceInfo, ...]:
        return tuple(self.infos.values())

    def servers_away(self) -> tuple[records.ServerAway, ...]:
        return tuple(self.away)

    def lose_server(self, address: str, why: str) -> None:
        self.away.append(records.ServerAway(address=address, why=why))
        self._tell_servers()

    def find_servers(self) -> None:
        self.away.clear()
        self._tell_servers()

    def _tell_servers(self) -> None:
        self.servers_changed.set()
        self.servers_changed = asyncio.Event()

    def changes(self) -> AsyncIterator[records.DeviceInfo]:
        queue: asyncio.Queue[records.DeviceInfo | None] = asyncio.Queue()
        self._listeners.append(queue)
        return self._follow(queue)

    async def _follow(
        self, queue: asyncio.Queue[records.DeviceInfo | None]
    ) -> AsyncIterator[records.DeviceInfo]:
        while (info := await queue.get()) is not None:
            yield info

    async def device(self, serial: str) -> FakeDevice:
        if serial not in self.infos:
            raise UsageError(f"No device {serial!r} is known.")
        if self.infos[serial].state is not records.DeviceState.ONLINE:
            raise DeviceLostError(f"The device {serial} is gone.", "Plug it in again.")
        return self._devices[serial]

    async def wait_for(self, serial: str, *, timeout_s: float) -> FakeDevice:
        try:
            async with asyncio.timeout(timeout_s):
                changes = self.changes()
                while self.infos[serial].state is not records.DeviceState.ONLINE:
                    await anext(changes)
        except TimeoutError:
            pass
        return await self.device(serial)

    @asynccontextmanager
    async def lease(self, serial: str, driver: str) -> AsyncIterator[FakeDevice]:
        async with self._wheels[serial]:
            device = await self.device(serial)
            assert self.infos[serial].driver == "", "two drivers on one phone"
            self.tell(replace(self.infos[serial], driver=driver))
            self.drivers.append((serial, driver))
            try:
                yield device
            finally:
                self.tell(replace(self.infos[serial], driver=""))

    def hand(self, serial: str, driver: str) -> None:
        self.tell(replace(self.infos[serial], driver=driver))

    def label(
        self, serial: str, *, name: str, tags: Iterable[str], notes: str
    ) -> records.DeviceInfo:
        self.tell(replace(self.infos[serial], name=name, tags=tuple(tags), notes=notes))
        return self.infos[serial]

    def dismiss(self, serial: str, *, dismissed: bool) -> None:
        self.tell(replace(self.infos[serial], dismissed=dismissed))

    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[records.LiveFrame]:
        yield records.LiveFrame(
            serial=serial,
            width_px=1,
            height_px=1,
            rgb=b"\0\0\0",
            captured_ms=1,
            source=records.FrameSource.CAPTURE,
            status=records.FrameStatus.LIVE,
        )


class FakeModel:
    """A model that says nothing; it notes whether it was closed."""

    sees = False
    notice = ""

    def __init__(self, name: str = "fake") -> None:
        self.name = name
        self.closed = False

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        return ModelReply()

    async def close(self) -> None:
        self.closed = True


Part = Callable[[TaskContext], Awaitable[TurnEnd | str]]


class PlayedTask:
    """A task that plays the part written for its session's goal; a text is its result."""

    def __init__(self, parts: dict[str, Part]) -> None:
        self._parts = parts

    @property
    def kind(self) -> str:
        return "regular"

    async def run(self, context: TaskContext) -> TurnEnd:
        part = self._parts.get(context.session.goal, done_at_once)
        end = await part(context)
        return TurnEnd(completed=True, message=end) if isinstance(end, str) else end

    async def abort(self, context: TaskContext) -> None:
        """Nothing is held."""


def asked_of(context: TaskContext) -> str:
    told = [e.msg for e in context.history if isinstance(e.msg, UserMessage) and not e.msg.steer]
    return context.session.goal if context.asks_goal else told[-1].text


async def done_at_once(context: TaskContext) -> str:
    """Meet the goal without doing anything."""
    return f"done: {asked_of(context)}"
