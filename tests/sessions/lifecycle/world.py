"""A real core under the model: its store on a disk, its socket, clients that connect to it, and
phones that count who drives them and which displays are open on them.

Nothing of the core is replaced but what stands at its edges: phones (`tests.fakes`), the model and
the time that a step waits for a screen.
"""

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path

from msgspec import structs
from msgspec.structs import replace

from agent import protocol
from agent.errors import RuntimeDiedError, SwitchboardError, UsageError, WrongStateError
from agent.loop.timing import Pace
from agent.records import DirectStatus, Session
from agent.rpc.remote_core import Client
from agent.rpc.rpc_server import Daemon, serve
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, RunSettings, Settings
from agent.state.commit import Commit
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from tests.fakes import FakeFleet
from tests.sessions.lifecycle.words import Gates, WordModel
from tests.sessions.screens import Screens

PATIENCE_S = 30.0
PHONES = ("phone-1", "phone-2", "phone-3")
CLIENTS = ("ann", "ben")
_TURN = "turn of session "
_STORED_FIRST = (protocol.SessionConfigured, protocol.UserMessage, protocol.QuestionAnswered)
"""What the ops store first at which a core dies."""


class Phones(FakeFleet):
    """Phones that can open displays, which go when the phone does."""

    def __init__(self, *serials: str) -> None:
        self.screens: dict[str, Screens] = {}
        super().__init__(*serials)
        for serial in serials:
            self.screens[serial] = Screens(self._devices[serial])
            self.displays[serial] = self.screens[serial]

    def unplug(self, serial: str) -> None:
        super().unplug(serial)
        for display in self.screens[serial].all:
            display.is_open = False

    def open_displays(self) -> dict[str, int]:
        return {serial: len(one.opened()) for serial, one in self.screens.items()}

    def driven_by(self) -> dict[str, str]:
        return {serial: info.driver for serial, info in self.infos.items()}


class World:
    """One data directory, its phones, and the cores that live on it one after the other."""

    def __init__(self, directory: Path, *, answer_timeout_s: float = 0.0) -> None:
        self.directory = directory
        self.fleet = Phones(*PHONES)
        self.gates = Gates()
        self.skew_ms = 0
        self.clients: dict[str, Client] = {}
        self._life = AsyncExitStack()
        self.store: SqliteStore
        self.core: Runtime
        self.daemon: Daemon
        self.settings = Settings(
            data_dir=directory,
            config_file=directory / "config.toml",
            run=RunSettings(answer_timeout_s=answer_timeout_s),
            recovery=RecoverySettings(device_grace_s=3600.0, auto_resume=True, retries=3),
        )

    def keep_trees(self, count: int, *, days: int = 14) -> None:
        """Say how many settled trees keep their displays, and how many days all keep their frames,
        from the next core on.
        """
        retention = replace(self.settings.retention, keep_trees=count, keep_days=days)
        self.settings = replace(self.settings, retention=retention)

    def clock(self) -> int:
        return time.time_ns() // 1_000_000 + self.skew_ms

    async def begin(self) -> None:
        """Open a core, and connect every client to it."""
        self._life = AsyncExitStack()
        enter = self._life.enter_async_context
        self.store = await enter(SqliteStore.open(self.directory, clock_ms=self.clock))
        # The first of the store's listeners: it can keep what was committed from all others.
        self._deaf = False
        self.store.subscribe(self._on_commit)
        self.core = await Runtime.spawn(
            self.settings,
            store=self.store,
            fleet=self.fleet,
            models=lambda session: WordModel(session, self.gates),
            task=_task,
            clock=self.clock,
        )
        self._life.push_async_callback(self.core.close)
        self.daemon = await enter(serve(self.core, self.directory / "core.sock"))
        for name in CLIENTS:
            await self.connect(name)

    async def connect(self, name: str) -> None:
        self.clients[name] = await Client.connect(self.daemon.path, name=name)

    async def hang_up(self, name: str) -> None:
        """Break a client's connection, and connect it anew once the core has taken note."""
        client = self.clients.pop(name)
        await client.close()
        async with asyncio.timeout(PATIENCE_S):
            while self.daemon.clients > len(self.clients):
                await asyncio.sleep(0.001)
        await self.connect(name)

    async def end(self) -> None:
        """End the core as a crash would: its turns stay open in the store."""
        await self.core.close()
        for client in self.clients.values():
            await client.close()
        self.clients.clear()
        await self._life.aclose()
        # The next core's models have been asked nothing yet: nothing hangs that could be let go.
        self.gates.shown.clear()

    async def sweep(self) -> None:
        """Drop the files that no row knows: a core that ends in the midst of a look leaves some."""
        async with SqliteStore.open(self.directory) as store:
            await store.blobs.sweep()

    async def ask(self, name: str, op: protocol.Op) -> protocol.Reply:
        async with asyncio.timeout(PATIENCE_S):
            return await self.clients[name].request(op)

    async def ask_at_once(self, ops: Sequence[tuple[str, protocol.Op]]) -> list[bool]:
        """Send ops before any is replied to; returns which of them were refused."""
        asked = (self.ask(name, op) for name, op in ops)
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, WrongStateError | UsageError), outcome
        return [isinstance(outcome, BaseException) for outcome in outcomes]

    async def ask_and_die(self, name: str, op: protocol.Op) -> None:
        """End the core between the commit of what an op stores first and the telling of it."""
        self._deaf = True
        with suppress(SwitchboardError):
            await self.ask(name, op)
        assert not self._deaf, f"{op} stored nothing"
        await self.end()
        await self.begin()

    def _on_commit(self, commit: Commit) -> None:
        # Another session may still store the end of a step meanwhile: that is not what is meant.
        if self._deaf and any(isinstance(event.msg, _STORED_FIRST) for event in commit.events):
            self._deaf = False
            # What ends the writer ends it here: nobody else hears of these.
            raise asyncio.CancelledError

    async def lose_the_store(self) -> None:
        """Have somebody else take the store over, as where a lock does not hold."""
        listening = [asyncio.create_task(_listened(client)) for client in self.clients.values()]
        await asyncio.sleep(0.01)
        await asyncio.to_thread(_take_over, self.directory / "switchboard.db")
        async with asyncio.timeout(PATIENCE_S):
            await self.core.wait_closed()
            await self.daemon.close()
            for said in await asyncio.gather(*listening):
                assert "its hold on the store" in said, said
        await self.end()
        await self.begin()

    # --- direct sessions ----------

    async def fail_directly(self, name: str, session_id: str) -> None:
        """Have a program say, by a call, that the goal of its session cannot be met."""
        look = protocol.DirectCall(session_id=session_id, wait_s=PATIENCE_S)
        seen = (await self.ask(name, look)).direct
        assert seen is not None and seen.status is DirectStatus.READY, seen
        arguments = '{"success": false, "summary": "it cannot be"}'
        await self.ask(name, structs.replace(look, tool="finish", arguments=arguments))

    # --- what is so ----------

    async def sessions(self) -> dict[str, Session]:
        return {one.session_id: one for one in await self.store.sessions(limit=100_000)}

    def turns(self) -> frozenset[str]:
        """Name the sessions that a task of the core works for."""
        names = (task.get_name() for task in asyncio.all_tasks())
        return frozenset(name.removeprefix(_TURN) for name in names if name.startswith(_TURN))

    def blob_files(self) -> frozenset[str]:
        root = self.directory / "blobs"
        return frozenset(p.parent.name + p.name for p in root.glob("??/*") if p.is_file())

    def blob_rows(self) -> frozenset[str]:
        """Read the database as it lies on the disk; no core may have it."""
        with closing(sqlite3.connect(self.directory / "switchboard.db")) as database:
            rows = database.execute("SELECT digest FROM blob").fetchall()
        return frozenset(str(digest) for (digest,) in rows)


async def _listened(client: Client) -> str:
    try:
        async with client.events() as events:
            async for _ in events:
                pass
    except RuntimeDiedError as error:
        return error.message
    return "nothing"


def _take_over(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE owner SET epoch = epoch + 1")


def _task() -> RegularTask:
    # Nothing moves on these screens, so nothing is waited for.
    pace = Pace(initial_s=0, poll_s=0, settle_s=0, react_s=0, first_s=0, first_interactive=0)
    return RegularTask(pace=pace)
