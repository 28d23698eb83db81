"""Run a session while something goes wrong with its phone, in a data directory of its own.

Not a test of a model: the offline pilot works, so that what is lost was lost by us. Invariants:
the fault begins in the middle of the session, after its first action; what was kept is read from
the disk after everything is closed.
"""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec

from agent.config import Settings
from agent.devices.adb.server import AdbServer
from agent.devices.pool.virtual_channel import FAULTS, begin_fault, true_state
from agent.errors import SwitchboardError
from agent.protocol import Event, RequestUserInput, SessionCreate, ToolCallFinished
from agent.records import Session, SessionState
from agent.state.reducer import fold_session
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.store import Store
from console.core.device_setup import VIRTUAL, Devices
from console.core.host import Host, reach
from console.runs.drill_ledger import (
    DrillResult,
    events_lost,
    steps_repeated,
    steps_taken,
    tells_of_trouble,
)

GOAL = "open Settings and turn on Bluetooth"
PHONE = "virtual-1"
ADB_SERVER_RESTART = "adb-server-restart"  # Done to the adb server, which is no part of the phone.
NAMES = (*FAULTS, ADB_SERVER_RESTART)

TIMEOUT_S = 90.0
CATCH_UP_S = 10.0
VALUES = {"slow-shell": 0.5, "clock-jump": 86_400.0}


async def drill(
    settings: Settings, fault: str, *, lasts_s: float, keep: bool, profile: str = ""
) -> DrillResult:
    """Run one session with one fault and say what was lost.

    Args:
        settings: taken over, but for the data directory and the model.
        fault: one of `NAMES`.
        lasts_s: how long the fault is there.
        keep: whether the data directory stays though nothing was lost.
        profile: what kind of phone; "" for the default one.
    """
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="switchboard-drill-"))
    own = msgspec.structs.replace(settings, data_dir=folder)
    run = _Run(own, fault, lasts_s, profile)
    try:
        await run.pursue()
    except SwitchboardError as error:
        run.error = error.message
    finally:
        stored = await _stored(folder, run)
    result = run.result(stored)
    if keep or result.lost_something:
        return msgspec.structs.replace(result, kept_in=str(folder))
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return result


async def _stored(folder: Path, run: "_Run") -> tuple[Event, ...]:
    try:
        async with SqliteStore.open(folder) as store:
            return await store.events(after=0, limit=1_000_000)
    except SwitchboardError as error:
        run.error = run.error or error.message
        return ()


class _Run:
    """One session and its fault."""

    def __init__(self, settings: Settings, fault: str, lasts_s: float, profile: str) -> None:
        self._settings = settings
        self._fault = fault
        self._lasts_s = lasts_s
        self._profile = profile
        self._session: Session | None = None
        self._session_id = ""
        self._published: list[Event] = []
        self._came = asyncio.Event()
        self._faulted = asyncio.Event()
        self._faulted_at = 0.0
        self._noticed_ms: int | None = None
        self._began = time.monotonic()
        self._reached = False
        self._timed_out = False
        self._asked = ""
        self._due_id = 0
        """The newest event that had to be published."""
        self.error = ""

    async def pursue(self) -> None:
        """Run the session to its end. Raises SwitchboardError."""

        async def choose(_store: Store) -> Devices:
            return msgspec.structs.replace(VIRTUAL, profile=self._profile)

        async with reach(self._settings, choose) as host:
            async with host.core.events(after=0) as feed:
                following = asyncio.create_task(self._follow(feed))
                faulting = asyncio.create_task(self._begin_fault())
                try:
                    await self._until_settled(host, following, faulting)
                    await self._catch_up(host)
                finally:
                    for task in (following, faulting):
                        task.cancel()
                    await asyncio.gather(following, faulting, return_exceptions=True)
            state = await true_state(self._homes, PHONE)
            self._reached = state.get("bluetooth") is True

    async def _until_settled(
        self, host: Host, following: asyncio.Task[None], faulting: asyncio.Task[None]
    ) -> None:
        serial = await host.start_phone()
        reply = await host.core.request(SessionCreate(goal=GOAL, serial=serial))
        self._session_id = reply.session_id
        settled = asyncio.create_task(self._until(self._is_settled))
        watched: set[asyncio.Task[None]] = {settled, following, faulting}
        deadline = time.monotonic() + TIMEOUT_S
        try:
            while not settled.done():
                left_s = max(0.0, deadline - time.monotonic())
                done, watched = await asyncio.wait(
                    watched, timeout=left_s, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    task.result()
                if not done:
                    self._timed_out = True
                    return
        finally:
            settled.cancel()

    async def _catch_up(self, host: Host) -> None:
        """Take in all that was published so far."""
        newest = self._due_id = (await host.core.overview()).event_id
        try:
            async with asyncio.timeout(CATCH_UP_S):
                await self._until(lambda: self._newest_id() >= newest)
        except TimeoutError:
            # They count as lost: stored, and published to nobody.
            self.error = f"events up to {newest} were not published within {CATCH_UP_S:g} s"

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._came.clear()
            await self._came.wait()

    def _newest_id(self) -> int:
        return self._published[-1].event_id if self._published else 0

    def _is_settled(self) -> bool:
        session = self._session
        if session is None or self._asked:
            return bool(self._asked)
        return session.state.is_terminal

    async def _follow(self, feed: AsyncIterator[Event]) -> None:
        async for event in feed:
            self._take(event)

    def _take(self, event: Event) -> None:
        self._published.append(event)
        self._came.set()
        if event.session_id and event.session_id == (self._session_id or event.session_id):
            self._session = fold_session(self._session, event)
        match event.msg:
            case ToolCallFinished():
                self._faulted.set()
            case RequestUserInput(question=question):
                self._asked = question.text
            case _:
                pass
        if self._faulted_at and self._noticed_ms is None and tells_of_trouble(event):
            self._noticed_ms = round((time.monotonic() - self._faulted_at) * 1000)

    async def _begin_fault(self) -> None:
        await self._faulted.wait()
        self._faulted_at = time.monotonic()
        if self._fault == ADB_SERVER_RESTART:
            server = AdbServer(self._settings.data_dir / "adb", adb_setting=self._settings.adb.path)
            await server.start()
            # Killed, not stopped: what was under way ends without a word. The core revives it.
            os.kill(server.pid, signal.SIGKILL)
            return
        await begin_fault(
            self._homes,
            PHONE,
            self._fault,
            value=VALUES.get(self._fault, 0.0),
            duration_s=self._lasts_s,
        )

    @property
    def _homes(self) -> Path:
        return self._settings.data_dir / "phones"

    def result(self, stored: tuple[Event, ...]) -> DrillResult:
        session = self._session
        outcome = session.state.value.lower() if session is not None else "not begun"
        done = session is not None and session.state is SessionState.COMPLETED
        error = self.error or (session.latest_error if session is not None else "")
        if not self._faulted_at:
            error = error or "the session ended before its first action"
        if self._asked:
            outcome, error = "asked", error or self._asked
        # What is stored while all is closed has no listener any more.
        kept = [event for event in stored if event.event_id <= max(self._newest_id(), self._due_id)]
        return DrillResult(
            fault=self._fault,
            outcome="timed out" if self._timed_out else outcome,
            recovered=done and self._reached and bool(self._faulted_at),
            events_published=len(self._published),
            events_stored=len(kept),
            events_lost=events_lost(self._published, kept),
            steps=steps_taken(stored),
            steps_repeated=steps_repeated(stored),
            noticed_ms=self._noticed_ms,
            took_ms=round((time.monotonic() - self._began) * 1000),
            error=error,
        )
