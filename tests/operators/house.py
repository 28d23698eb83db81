"""A real core behind its door: two phones, a session on each, and operators who sign in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.loop.task_context import TaskContext
from agent.operators.changes import granted, with_key, with_token
from agent.operators.door import Door
from agent.operators.file_register import FileRegister
from agent.operators.keys import key_id, make_key, public_of
from agent.operators.operator import Operator, OperatorKey, made_token
from agent.protocol import JobCreate, SessionCreate, WatcherCreate
from agent.records import EffectVerb, Question, Right, WatcherType
from agent.rpc.credentials import KeyFile, TokenShown
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import Daemon, serve
from tests.fakes import FakeFleet
from tests.stage import Stage

LAB_WORD, BANK_WORD = "orchid", "saffron"
HOUR_MS = 3_600_000


@dataclass(kw_only=True)
class Furniture:
    """What is on each of two phones, by their tags."""

    serials: dict[str, str] = field(default_factory=lambda: {"lab": "lab-1", "bank": "bank-1"})
    sessions: dict[str, str] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    jobs: dict[str, int] = field(default_factory=dict)
    watchers: dict[str, int] = field(default_factory=dict)
    blobs: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(kw_only=True)
class House(Furniture):
    """The core, its register, and what is on each phone."""

    stage: Stage
    register: FileRegister
    daemon: Daemon
    keys: Path
    clients: list[Client] = field(default_factory=list)

    async def add(self, name: str, *rights: Right, tags: tuple[str, ...] = ()) -> str:
        """Add an operator with a key; returns a token of theirs too."""
        line = make_key(self.keys / name)
        public = public_of(line)
        now_ms = self.stage.clock()
        token, kept = made_token(now_ms, HOUR_MS)
        key = OperatorKey(key_id=key_id(public), public=public, added_ms=now_ms)
        made = granted(Operator(name=name, made_ms=now_ms), rights, tags)
        made = with_token(with_key(made, key, ()), kept, now_ms)
        await self.register.change(name, lambda _known: made)
        return token

    async def come(self, name: str = "", *, token: str = "", program: str = "test") -> Client:
        """Connect, as an operator by their key, or by a token."""
        credentials = TokenShown(token) if token else KeyFile(self.keys / name) if name else None
        client = await Client.connect(self.daemon.path, name=program, credentials=credentials)
        self.clients.append(client)
        return client


async def _asks(context: TaskContext) -> str:
    is_bank = BANK_WORD in context.session.goal
    word = BANK_WORD if is_bank else LAB_WORD
    answer = await context.ask(f"Pay the {word}?", call_id="c", step=1, approval=is_bank)
    return f"{word}: {answer}"


@asynccontextmanager
async def opened(
    directory: Path, *, two_people: tuple[EffectVerb, ...] = (), again: bool = False
) -> AsyncIterator[House]:
    """Open the house: the two sessions ask, a job and a watcher are on each phone.

    Args:
        again: with what it had when its last core ended.
    """
    fleet = FakeFleet("lab-1", "bank-1")
    for tag in ("lab", "bank"):
        fleet.label(f"{tag}-1", name="", tags=(tag,), notes=f"notes of {tag}")
    stage = Stage(directory / "data", fleet)
    stage.set(safety={"two_people": two_people})
    register = FileRegister(stage.directory)
    goals = {"lab": f"look at the {LAB_WORD}", "bank": f"look at the {BANK_WORD}"}
    stage.parts = dict.fromkeys(goals.values(), _asks)
    async with stage.play():
        door = Door(stage.core, register, clock_ms=stage.clock)
        stage.core.approved_by(door.may_approve)
        path = socket_path(stage.directory)
        async with serve(stage.core, path, door=door) as daemon:
            house = House(stage=stage, register=register, daemon=daemon, keys=directory / "keys")
            if again:
                await _found(house)
            else:
                await _furnish(house, goals)
            try:
                yield house
            finally:
                for client in house.clients:
                    await client.close()


async def _found(house: House) -> None:
    for question in await house.stage.store.open_questions():
        tag = "bank" if BANK_WORD in question.text else "lab"
        house.questions[tag] = question
        house.sessions[tag] = question.session_id


async def _furnish(house: House, goals: dict[str, str]) -> None:
    stage = house.stage
    for tag, goal in goals.items():
        serial = f"{tag}-1"
        house.sessions[tag] = (await stage.do(SessionCreate(goal=goal, serial=serial))).session_id
        later = stage.clock() + 24 * HOUR_MS
        made = await stage.do(JobCreate(title=goal, prompt=goal, serial=serial, next_run_at=later))
        assert made.job is not None
        house.jobs[tag] = made.job.id
        watched = await stage.do(
            WatcherCreate(watcher_type=WatcherType.SCREEN_TEXT, texts=(goal,), serial=serial)
        )
        assert watched.watcher is not None
        house.watchers[tag] = watched.watcher.id

    async def asked() -> bool | None:
        found = {one.session_id: one for one in await stage.store.open_questions()}
        for tag, session_id in house.sessions.items():
            if session_id in found:
                house.questions[tag] = found[session_id]
        return True if len(house.questions) == len(goals) else None

    await stage.until(asked, "both sessions to ask")
