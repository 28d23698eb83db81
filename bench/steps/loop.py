"""What the loop itself costs a step, and how it waits for screens that change late.

`python -m bench loop`. No phone and no model delay: a scripted model and a device that answers at
once, the real task, core and SQLite store around them. The waiting is measured on a clock of its
own, so 500 steps with screens that change 50–1500 ms after each tap take seconds, not minutes.
"""

import asyncio
import io
import itertools
import json
import random
import statistics
import struct
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw

from agent.devices.protocols import Capture, Fleet, UiTree
from agent.models.model import Model, ModelReply, ModelRequest, ToolCall
from agent.protocol import ObservationRecorded, SessionCreate, SessionStateChanged, StepStarted
from agent.records import Bounds, Foreground, Frame, Point, SessionState, UiNode
from agent.runtime.runtime import Runtime
from agent.settings import RunSettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from tests.fakes import FakeDevice, FakeFleet
from tests.tasks.context import MemoryContext

STEPS = 95
RUNS = 3
SETTLE_STEPS = 500
ELEMENTS = 60
FIXED_SLEEP_S = 1.0
BOUND_S = 120.0
LATE_S = (0.05, 1.5)


def main() -> None:
    """Print both tables."""
    asyncio.run(_overhead())
    asyncio.run(_settling())


# --- the device and the model ----------


def screen(version: int) -> tuple[UiNode, ...]:
    rows = [
        UiNode(
            text=f"{version}: entry {row}",
            resource_id=f"org.example:id/row_{row}",
            class_name="android.widget.TextView",
            package="org.example.app",
            clickable=row % 2 == 0,
            bounds=Bounds(left=0.05, top=row / 64, right=0.95, bottom=(row + 1) / 64),
        )
        for row in range(ELEMENTS)
    ]
    return tuple(rows)


def dump(nodes: Sequence[UiNode]) -> bytes:
    """Write a screen as `uiautomator dump` would."""
    lines = [
        f'<node index="{at}" text="{n.text}" resource-id="{n.resource_id}" class="{n.class_name}" '
        f'package="{n.package}" content-desc="" checkable="false" checked="false" '
        f'clickable="{str(n.clickable).lower()}" enabled="true" focusable="false" focused="false" '
        'scrollable="false" long-clickable="false" password="false" selected="false" '
        f'bounds="[54,{round(n.bounds.top * 2400)}][1026,{round(n.bounds.bottom * 2400)}]" />'
        for at, n in enumerate(nodes)
    ]
    return f'<hierarchy rotation="0">{"".join(lines)}</hierarchy>'.encode()


class BenchDevice(FakeDevice):
    """A phone whose every tap leads to the next version of its screen, at once or later."""

    def __init__(
        self,
        fleet: FakeFleet,
        serial: str,
        *,
        seconds: Callable[[], float] = time.monotonic,
        late_s: Callable[[], float] = lambda: 0.0,
        sees: bool = False,
    ) -> None:
        super().__init__(fleet, serial)
        self.version = 0
        self._seconds = seconds
        self._late_s = late_s
        self._changes_at = float("inf")
        self._sees = sees
        self._tree: tuple[int, UiTree] | None = None

    def shown(self) -> int:
        """Return the version that is on the screen now."""
        if self._seconds() >= self._changes_at:
            self.version += 1
            self._changes_at = float("inf")
        return self.version

    async def tap(self, at: Point, *, timeout_s: float = 5.0) -> None:
        late_s = self._late_s()
        if late_s:
            self._changes_at = self._seconds() + late_s
        else:
            self.version += 1

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        # A screen that is looked at again is not drawn anew: the phone is to take no time.
        version = self.shown()
        if self._tree is None or self._tree[0] != version:
            nodes = screen(version)
            self._tree = version, UiTree(nodes=nodes, xml=dump(nodes), started_ms=1, ended_ms=2)
        return self._tree[1]

    async def foreground(self, *, timeout_s: float = 5.0) -> Foreground:
        return Foreground(package="org.example.app", activity=".Main")

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        frame = Frame(digest="", width_px=1080, height_px=2400, captured_ms=1)
        return Capture(frame=frame, data=picture(self.version) if self._sees else b"")


class BenchModel:
    """A model that answers at once: it taps, and ends after so many calls."""

    name = "scripted"
    notice = ""

    def __init__(self, calls: int, *, sees: bool = False) -> None:
        self.sees = sees
        self._left = calls
        self.began: list[float] = []
        """When each call came, by the monotonic clock."""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        self.began.append(time.perf_counter())
        self._left -= 1
        if self._left < 0:
            return _reply("finish", self._left, success=True, summary="All taps are done.")
        return _reply("click_element", self._left, element=1 + 2 * (self._left % 10))

    async def close(self) -> None:
        return None


class KeepingModel(BenchModel):
    """Taps on, and keeps what it was asked."""

    def __init__(self, calls: int, *, sees: bool = False) -> None:
        super().__init__(calls, sees=sees)
        self.requests: list[ModelRequest] = []

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        if any(tool.name == "click_element" for tool in request.tools):
            self.requests.append(request)
        return await super().complete(request, on_text)


def _reply(tool: str, number: int, **arguments: object) -> ModelReply:
    call = ToolCall(call_id=f"call-{number}", name=tool, arguments=json.dumps(arguments))
    return ModelReply(tool_calls=(call,))


class Moment:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.slept_s = 0.0

    def seconds(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.slept_s += seconds
        await asyncio.sleep(0)


# --- what is measured ----------


async def _overhead() -> None:
    print(
        "| loop overhead, device and model take no time | ms a step p50 | p10 | CPU ms a step "
        "| steps 85–95 against 5–15 |"
    )
    print("|---|---|---|---|---|")
    for name, pictured, sees in (
        ("text only", False, False),
        ("with a new frame stored", True, False),
        ("with vision: the new frame numbered for the model", True, True),
    ):
        runs = [await _run(pictured, sees) for _ in range(RUNS)]
        middle = [statistics.median(values) for values in zip(*runs, strict=True)]
        spread = f"{min(run[0] for run in runs):.1f}–{max(run[0] for run in runs):.1f}"
        print(
            f"| {name} | {middle[0]:.1f} ({spread}) | {middle[1]:.1f} | {middle[2]:.1f} "
            f"| {middle[3]:.2f}× |",
            flush=True,
        )


async def _run(pictured: bool, sees: bool) -> tuple[float, float, float, float]:
    """Return p50, p10 and CPU in milliseconds a step, and what late steps take of early ones."""
    clock = Moment()
    fleet = FakeFleet("bench")
    fleet.adopt(BenchDevice(fleet, "bench", seconds=clock.seconds, sees=pictured))
    model = BenchModel(STEPS, sees=sees)
    with tempfile.TemporaryDirectory() as folder:
        async with SqliteStore.open(Path(folder)) as store:
            cpu_s = time.process_time()
            await session_of(store, Path(folder), fleet, model, serial="bench", clock=clock)
            cpu_s = time.process_time() - cpu_s
    taken = [(b - a) * 1000 for a, b in itertools.pairwise(model.began)]
    growth = statistics.median(taken[85:95]) / statistics.median(taken[5:15])
    p10 = statistics.quantiles(taken, n=10)[0]
    return statistics.median(taken), p10, cpu_s * 1000 / len(taken), growth


async def session_of(
    store: SqliteStore,
    folder: Path,
    fleet: Fleet,
    model: Model,
    *,
    serial: str,
    clock: Moment | None = None,
    goal: str = "tap on",
) -> None:
    """Run one session to its end, through core and store.

    Args:
        clock: what waiting moves instead of the time; None to wait in earnest.

    Raises:
        RuntimeError: the session failed.
    """
    settings = Settings(
        data_dir=folder,
        config_file=folder / "config.toml",
        run=RunSettings(max_steps=200, max_total_steps=200),
    )
    core = await Runtime.spawn(
        settings,
        store=store,
        fleet=fleet,
        models=lambda _session: model,
        task=lambda: (
            RegularTask(sleep=clock.sleep, seconds=clock.seconds)
            if clock is not None
            else RegularTask()
        ),
        wake_jobs=False,
    )
    try:
        await core.request(SessionCreate(goal=goal, serial=serial))
        async with asyncio.timeout(BOUND_S), core.events(after=0) as events:
            async for event in events:
                match event.msg:
                    case SessionStateChanged(state=SessionState.COMPLETED):
                        break
                    case SessionStateChanged(state=SessionState.FAILED, reason=reason):
                        raise RuntimeError(f"The session failed: {reason}")
                    case _:
                        pass
    finally:
        await core.close()


async def _settling() -> None:
    clock, chance = Moment(), random.Random(20)
    fleet = FakeFleet("bench")
    delays: list[float] = []

    def late_s() -> float:
        delays.append(chance.uniform(*LATE_S))
        return delays[-1]

    device = BenchDevice(fleet, "bench", seconds=clock.seconds, late_s=late_s)
    context = MemoryContext(BenchModel(SETTLE_STEPS), device, goal="tap on")
    context.limits = type(context.limits)(max_steps=600, max_total_steps=600)
    seen: list[tuple[int, int]] = []

    def note(msg: object) -> None:
        if isinstance(msg, StepStarted):
            seen.append((len(delays), -1))
        if isinstance(msg, ObservationRecorded):
            label = msg.observation.elements[0].label
            seen[-1] = (seen[-1][0], int(label.split(":")[0]))

    context.on_emit = note
    await RegularTask(sleep=clock.sleep, seconds=clock.seconds).run(context)
    old = sum(shown < taps for taps, shown in seen)
    fixed_old = sum(delay > FIXED_SLEEP_S for delay in delays)
    print("\n| screens change 50–1500 ms after a tap | old screens seen | waited a step |")
    print("|---|---|---|")
    print(f"| settle detection | {old} of {len(seen)} | {clock.slept_s / len(delays):.2f} s |")
    print(f"| a fixed sleep of 1 s | {fixed_old} of {len(delays)} | {FIXED_SLEEP_S:.2f} s |")


def picture(version: int) -> bytes:
    """Return a screen's picture, 1080 × 2400 as PNG: each version has other bytes to decode."""
    drawn = _png()
    text = f"version\0{version}".encode()
    chunk = b"tEXt" + text
    mark = struct.pack(">I", len(text)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    # Before the last chunk, which has no content: PNG specification, 11.2.5 IEND.
    return drawn[:-12] + mark + drawn[-12:]


@cache
def _png() -> bytes:
    """Draw a phone's screen: rows of blocks, as text and icons are."""
    chance = random.Random(1)
    image = Image.new("RGB", (1080, 2400), "white")
    draw = ImageDraw.Draw(image)
    for _ in range(2000):
        x, y = chance.randrange(1080), chance.randrange(2400)
        draw.rectangle(
            (x, y, x + 24, y + 12), fill=chance.choice(("black", "navy", "gray", "teal"))
        )
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
