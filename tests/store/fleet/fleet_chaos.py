"""Hosts of a fleet as processes, what is done to them, and what has to hold afterwards.

Each session is `steps` steps on a phone of its own; what a step is, is in `fleet_host`, beside.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from agent.core import OWNER
from agent.errors import StoreError
from agent.hosts.peers import Peers
from agent.protocol import SessionConfigured, SessionResume, SessionStateChanged, StepStarted
from agent.records import Session, SessionState
from agent.store.dispatch.local_dispatcher import LocalDispatcher
from agent.store.leases import Lease
from agent.store.postgres.dbos_dispatcher import DbosDispatcher
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft
from tests.store.fleet.fleet_host import Asked

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 300.0
LEASE_MS = 2_000
_AT_ONCE = 100


class Findings(msgspec.Struct, kw_only=True):
    """What a look at the log and at the acts found."""

    sessions: int = 0
    completed: int = 0
    stored: int = 0
    """Steps in the log."""
    acted: int = 0
    lost: int = 0
    """Steps that are not in the log, or more than once, or out of order; acts without a step."""
    twice: int = 0
    """Steps that were acted more than once."""
    old: int = 0
    """Acts under an epoch after one under a newer epoch."""

    @property
    def is_exact(self) -> bool:
        return not (self.lost or self.twice or self.old) and self.completed == self.sessions


class Fleet:
    """Several host processes on one database, and an operator who asks for sessions."""

    def __init__(
        self,
        dsn: str,
        folder: Path,
        *,
        hosts: int,
        steps: int,
        pause_ms: int,
        is_fenced: bool,
        dispatcher: str,
    ) -> None:
        self._file = folder / "dsn"
        self._file.touch(mode=0o600)
        self._file.write_text(dsn, encoding="utf-8")
        self._acts = folder / "acts"
        self._acts.touch()
        self._steps, self._pause_ms, self._is_fenced = steps, pause_ms, is_fenced
        self._by = dispatcher
        self.names = [f"host-{number}" for number in range(hosts)]
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.said = folder / "said"
        self.sessions: list[str] = []
        self.store: PostgresStore
        self.dispatcher: DbosDispatcher
        """Where sessions are asked for by queues."""
        self.peers: Peers
        """Where they are by ops."""

    async def start(self, name: str) -> None:
        """Start a host; returns when it serves."""
        how = "fenced" if self._is_fenced else "unfenced"
        words = (self._steps, self._pause_ms, LEASE_MS, how, self._by)
        with self.said.open("ab") as said:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.store.fleet.fleet_host", str(self._file), name),
                *(str(self._acts), *map(str, words)),
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
                cwd=ROOT,
            )
        self.processes[name] = process
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            line = await process.stdout.readline()
        assert line == b"ready\n", self.said.read_text(errors="replace")[-2000:]

    async def kill(self, name: str) -> None:
        """End a host at once, and start it again."""
        process = self.processes[name]
        process.kill()
        await process.wait()
        await self.start(name)

    async def end(self) -> None:
        for process in self.processes.values():
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            await process.wait()

    async def configure(self, count: int, phones: int) -> None:
        """Store sessions that are to run, each on the next phone."""
        for first in range(0, count, _AT_ONCE):
            drafts: list[EventDraft] = []
            for number in range(first, min(first + _AT_ONCE, count)):
                name, serial = f"s{number}", f"phone-{number % phones}"
                session = Session(session_id=name, goal="g", created_ms=1, serial=serial)
                drafts += (
                    EventDraft(name, SessionConfigured(session=session)),
                    EventDraft(name, SessionStateChanged(state=SessionState.QUEUED)),
                )
                self.sessions.append(name)
            await self.store.append(*drafts)

    async def ask(self, session_id: str, host: str) -> None:
        """Ask a host for a session, as a console does."""
        if self._by == "dbos":
            await self.dispatcher.send(session_id, host)
        else:
            await self.peers.request(host, OWNER, SessionResume(session_id=session_id))

    async def send_all(self) -> int:
        """Ask for every session three times at once; returns how often that counted."""
        counted = 0
        for number, name in enumerate(self.sessions):
            host = self.names[number % len(self.names)]
            asked = (self.dispatcher.send(name, host) for _ in range(3))
            counted += sum(await asyncio.gather(*asked))
        return counted

    async def steps_stored(self) -> int:
        """Count the steps in the log; the database may be away for a while."""
        while True:
            try:
                return sum([len(await self._steps_of(name)) for name in self.sessions])
            except StoreError:
                await asyncio.sleep(0.1)

    async def until(self, wanted: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not await wanted():
                await asyncio.sleep(0.1)

    async def done(self) -> bool:
        try:
            states = [(await self.store.session(name)).state for name in self.sessions]
        except StoreError:
            return False
        return all(state is SessionState.COMPLETED for state in states)

    def acts(self) -> list[tuple[str, int, int, str]]:
        """Read what was acted: session, step, epoch, host, in order."""
        rows = [line.split() for line in self._acts.read_text(encoding="utf-8").splitlines()]
        return [(name, int(step), int(epoch), host) for name, step, epoch, host in rows]

    async def look(self) -> Findings:
        """Compare the log with what was acted."""
        found = Findings(sessions=len(self.sessions))
        for name in self.sessions:
            state = (await self.store.session(name)).state
            steps = await self._steps_of(name)
            found.completed += state is SessionState.COMPLETED
            found.stored += len(steps)
            found.lost += steps != list(range(1, self._steps + 1))
        acts = self.acts()
        found.acted = len(acts)
        found.twice = sum(n > 1 for n in Counter((name, step) for name, step, *_ in acts).values())
        newest: dict[str, int] = {}
        for name, _, epoch, _ in acts:
            found.old += epoch < newest.get(name, 0)
            newest[name] = max(newest.get(name, 0), epoch)
        return found

    async def _steps_of(self, name: str) -> list[int]:
        events = await self.store.session_events(name)
        return [event.msg.step for event in events if isinstance(event.msg, StepStarted)]


@asynccontextmanager
async def fleet(
    dsn: str,
    folder: Path,
    *,
    hosts: int = 3,
    sessions: int = 9,
    steps: int = 40,
    pause_ms: int = 50,
    is_fenced: bool = True,
    dispatcher: str = "dbos",
    phones: int = 0,
) -> AsyncIterator[Fleet]:
    """Run a fleet with its sessions stored, none of them asked for yet.

    Args:
        dispatcher: `dbos`: they are asked for by queues; `local`: by ops, as hosts ask each other.
        phones: how many there are in all; 0: one for each session.
    """

    async def nothing(_session: Session, _lease: Lease) -> None:
        raise AssertionError("the operator's process runs no sessions")

    one = Fleet(
        dsn,
        folder,
        hosts=hosts,
        steps=steps,
        pause_ms=pause_ms,
        is_fenced=is_fenced,
        dispatcher=dispatcher,
    )
    async with AsyncExitStack() as stack:
        one.store = await stack.enter_async_context(PostgresStore.open(dsn, "operator"))
        stack.push_async_callback(one.end)
        await asyncio.gather(*(one.start(name) for name in one.names))
        if dispatcher == "dbos":
            one.dispatcher = DbosDispatcher(one.store, dsn, lease_ms=LEASE_MS)
            await stack.enter_async_context(one.dispatcher.serve("operator", nothing))
        else:
            one.peers = Peers(dsn, one.store, unhosted="", is_guest=True)
            await stack.enter_async_context(one.peers.serve(Asked(LocalDispatcher(one.store))))
        # Not sooner: a host takes up what is to run and is in nobody's queue.
        await one.configure(sessions, phones or sessions)
        yield one


async def kill_hosts(one: Fleet, times: int, seed: int = 1) -> int:
    """Kill hosts at random moments while sessions run, each time once more was done."""
    chance, killed = random.Random(seed), 0
    while killed < times and not await one.done():
        stored = await one.steps_stored()
        await one.kill(chance.choice(one.names))
        killed += 1
        await one.until(lambda at=stored: _moved(one, at))  # type: ignore[misc]
        await asyncio.sleep(chance.uniform(0, 0.3))
    return killed


async def _moved(one: Fleet, stored: int) -> bool:
    return await one.steps_stored() > stored or await one.done()


async def freeze_and_move(one: Fleet) -> None:
    """Freeze the first host in the middle of its sessions, move them all to the second, let them
    go on there, and thaw it.
    """
    first, second = one.names[:2]
    moved = one.sessions[:: len(one.names)]

    def acted(host: str) -> set[str]:
        return {name for name, _, _, by in one.acts() if by == host}

    async def at_work(host: str) -> bool:
        return acted(host) >= set(moved)

    async def there() -> bool:
        return await at_work(second)

    async def here() -> bool:
        return await at_work(first)

    await one.until(here)
    os.kill(one.processes[first].pid, signal.SIGSTOP)
    for name in moved:
        await one.dispatcher.move(name, second)
    await one.until(there)
    os.kill(one.processes[first].pid, signal.SIGCONT)
