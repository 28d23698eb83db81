"""Sessions: how soon a cancelled tree lets go of its phones, and how fast events reach listeners.

`python -m bench sessions`. The tree is real: three virtual phones behind a real adb server, tapped
as fast as they take it; what counts is when the last call to a phone was over, on our side. Figures
are of one run on this machine.
"""

import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from agent.core import Core
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.loop.task_context import TaskContext, TurnEnd
from agent.models.pilot import Pilot
from agent.protocol import SessionCancel, SessionCreate, StepStarted, Target
from agent.records import Point
from agent.runtime.runtime import Runtime
from agent.settings import Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.store import EventDraft

ROUNDS = 5
PHONES = 3
TAP = Point(x=0.5, y=0.01)  # In the status bar: nothing opens by it.
RATE_HZ = 500
OPS_HZ = 25
SUBMIT_SECONDS = 20.0
SESSIONS = 64
LISTENERS = 5
BURST_EVENTS = 40_000


class Tapping:
    """Taps until it is stopped, and notes when each tap that was begun had ended."""

    def __init__(self, ended_s: list[float], warm: asyncio.Semaphore) -> None:
        self._ended_s = ended_s
        self._warm = warm

    @property
    def kind(self) -> str:
        return "regular"

    async def run(self, context: TaskContext) -> TurnEnd:
        while True:
            try:
                await context.device.tap(TAP)
            finally:
                self._ended_s.append(time.perf_counter())
            self._warm.release()

    async def abort(self, context: TaskContext) -> None:
        """Nothing is held."""


def main() -> None:
    """Print the tables."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        await _cancelling(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        await _publishing(Path(folder))


async def _cancelling(folder: Path) -> None:
    ended_s: list[float] = []
    warm = asyncio.Semaphore(0)
    async with AsyncExitStack() as stack:
        server = AdbServer(folder / "adb")
        stack.push_async_callback(server.stop)
        phones = VirtualPhones(folder / "phones", server, count=PHONES)
        stack.push_async_callback(phones.stop)
        await phones.start()
        store = await stack.enter_async_context(SqliteStore.open(folder / "data"))
        core = await Runtime.spawn(
            Settings(data_dir=folder / "data", config_file=folder / "config.toml"),
            store=store,
            fleet=AdbFleet([server.address]),
            models=lambda session: Pilot(),
            task=lambda: Tapping(ended_s, warm),
        )
        stack.push_async_callback(core.close)
        last_ms, settled_ms = [], []
        for _ in range(ROUNDS):
            last, settled = await _cancel_one(core, ended_s, warm)
            last_ms.append(last)
            settled_ms.append(settled)
    print(f"Cancel of an agent session whose {PHONES} children tap {PHONES} virtual phones\n")
    print("| from the op until | median ms | most ms |\n|---|---|---|")
    print(f"| the last touch was over | {statistics.median(last_ms):.0f} | {max(last_ms):.0f} |")
    print(
        f"| all was stored as cancelled | {statistics.median(settled_ms):.0f} "
        f"| {max(settled_ms):.0f} |"
    )


async def _cancel_one(
    core: Core, ended_s: list[float], warm: asyncio.Semaphore
) -> tuple[float, float]:
    """Return the milliseconds until the last touch was over, and until the tree was cancelled."""
    targets = tuple(Target(objective=f"tap {number}") for number in range(PHONES))
    reply = await core.request(SessionCreate(goal="tap", targets=targets))
    for _ in range(PHONES * 10):
        await warm.acquire()
    began_s = time.perf_counter()
    await core.request(SessionCancel(session_id=reply.session_id))
    settled_s = time.perf_counter()
    await asyncio.sleep(0.5)
    while not warm.locked():
        await warm.acquire()
    return (max(ended_s) - began_s) * 1000, (settled_s - began_s) * 1000


async def _publishing(folder: Path) -> None:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(folder / "data"))
        server = AdbServer(folder / "adb")
        stack.push_async_callback(server.stop)
        address = await server.start()
        core = await Runtime.spawn(
            Settings(data_dir=folder / "data", config_file=folder / "config.toml"),
            store=store,
            fleet=AdbFleet([address]),
            models=lambda session: Pilot(),
            task=lambda: Tapping([], asyncio.Semaphore(0)),
        )
        stack.push_async_callback(core.close)
        await _submitting(core, store)
        await _bursting(core, store)


async def _submitting(core: Core, store: SqliteStore) -> None:
    """Measure from the submission of a draft until its event is published, among other events."""
    begun_s: dict[str, float] = {}
    took_ms: list[float] = []
    count = round(OPS_HZ * SUBMIT_SECONDS)
    busy = await core.request(SessionCreate(goal="busy", start=False))

    async def listen() -> None:
        async with core.events() as events:
            ready.set()
            async for event in events:
                began = begun_s.pop(event.submission_id, None)
                if began is not None:
                    took_ms.append((time.perf_counter() - began) * 1000)
                    if len(took_ms) >= count:
                        return

    async def flow() -> None:
        # Arrivals, not turns: an append that takes long holds up none of those after it.
        async with asyncio.TaskGroup() as appends:
            for number in range(round(RATE_HZ * SUBMIT_SECONDS)):
                await asyncio.sleep(max(0.0, first_s + number / RATE_HZ - time.perf_counter()))
                draft = EventDraft(busy.session_id, StepStarted(step=number))
                appends.create_task(_append(store, draft))

    ready = asyncio.Event()
    listening = asyncio.create_task(listen())
    await ready.wait()
    first_s = time.perf_counter()
    flowing = asyncio.create_task(flow())
    for number in range(count):
        await asyncio.sleep(max(0.0, first_s + number / OPS_HZ - time.perf_counter()))
        at_s = time.perf_counter()
        begun_s[await core.submit(SessionCreate(goal=f"goal {number}", start=False))] = at_s
    async with asyncio.timeout(60):
        await flowing
        await listening
    took_ms.sort()
    print(f"\nAn op submitted until its event is published, {RATE_HZ} other events/s\n")
    print("| p50 ms | p99 ms |\n|---|---|")
    print(f"| {took_ms[len(took_ms) // 2]:.2f} | {took_ms[int(len(took_ms) * 0.99)]:.2f} |")


async def _append(store: SqliteStore, draft: EventDraft) -> None:
    await store.append(draft)


async def _bursting(core: Core, store: SqliteStore) -> None:
    """Measure events of many sessions until every listener has all of them."""
    ids = [
        (await core.request(SessionCreate(goal=f"busy {number}", start=False))).session_id
        for number in range(SESSIONS)
    ]
    each = BURST_EVENTS // SESSIONS
    ready = asyncio.Barrier(LISTENERS + 1)

    async def listen() -> int:
        seen = 0
        async with core.events() as events:
            await ready.wait()
            async for event in events:
                seen += isinstance(event.msg, StepStarted)
                if seen == each * SESSIONS:
                    break
        return seen

    async def produce(session_id: str) -> None:
        for step in range(0, each, 5):
            await store.append(
                *(EventDraft(session_id, StepStarted(step=step + n)) for n in range(5))
            )

    listening = [asyncio.create_task(listen()) for _ in range(LISTENERS)]
    await ready.wait()
    began_s, cpu_s, loop_s = time.perf_counter(), time.process_time(), time.thread_time()
    async with asyncio.timeout(120):
        await asyncio.gather(*(produce(session_id) for session_id in ids))
        seen = await asyncio.gather(*listening)
    took_s = time.perf_counter() - began_s
    cpu_us = (time.process_time() - cpu_s) * 1e6 / (each * SESSIONS)
    loop_us = (time.thread_time() - loop_s) * 1e6 / (each * SESSIONS)
    assert seen == [each * SESSIONS] * LISTENERS, "a listener lost events"
    print(f"\nEvents of {SESSIONS} sessions, stored, then published to {LISTENERS} listeners\n")
    print("| events/s | lost | CPU, µs an event | of it the loop's thread |\n|---|---|---|---|")
    print(f"| {each * SESSIONS / took_s:,.0f} | 0 | {cpu_us:.0f} | {loop_us:.0f} |")
