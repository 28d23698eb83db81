"""A real core behind its socket and gates, an agent with a shell, and a person at a terminal."""

import asyncio
import itertools
import json
import os
import pty
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from agent.consent.gate import Gates
from agent.consent.judge import Consent
from agent.loop.task_context import TaskContext
from agent.protocol import SessionCreate
from agent.records import Autonomy, Effect, EffectVerb, Question, Speaker, Stated, Subject
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import Daemon, serve
from agent.safety.approval import OPTIONS
from tests.fakes import FakeFleet
from tests.stage import Stage

HERE = Path(__file__).parent
PATIENCE_S = 60.0
MAY_BE_MISSING = frozenset(
    {"as_another_user", "by_at", "by_ssh", "by_systemd", "namespace_of_its_own"}
)
"""The ways that need a service, or rights, that a computer may lack."""
Reply = dict[str, Any]
Calls = list[list[Any]]
GOAL = "send Ana a message"


@dataclass
class Ground:
    """What the attacks are made on."""

    stage: Stage
    daemon: Daemon
    consent: Consent
    folder: Path
    session_id: str = ""
    ways: list[str] = field(default_factory=list)
    orders: IO[str] | None = None
    typed: IO[str] | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    async def question(self) -> Question:
        """Return the approval that is open."""

        async def found() -> Question | None:
            asked = await self.stage.store.open_questions()
            return next((one for one in asked if one.session_id == self.session_id), None)

        return await self.stage.until(found, "the approval to be asked")

    async def approving(self, answer: str = "yes") -> Calls:
        asked = await self.question()
        op = {"type": "user_input_answer", "question_id": asked.question_id, "answer": answer}
        return [["hello", {"client": "hand"}], ["request", {"op": op}]]

    async def attack(self, way: str, calls: Calls) -> list[Reply] | None:
        """Have the agent make calls in a way; None: the way does not work on this computer."""
        return await self._given(self.orders, way, calls)

    async def attack_each(self, way: str, doors: dict[str, Calls]) -> dict[str, list[Reply]]:
        """Have the agent try doors one after the other, on one connection."""
        replies = await self.attack(way, [call for calls in doors.values() for call in calls])
        assert replies is not None
        found = {}
        for name, calls in doors.items():
            found[name], replies = replies[: len(calls)], replies[len(calls) :]
        return found

    async def person(self, calls: Calls) -> list[Reply]:
        """Have the person make calls at their terminal."""
        found = await self._given(self.typed, "", calls)
        assert found is not None
        return found

    async def _given(self, to: IO[str] | None, way: str, calls: Calls) -> list[Reply] | None:
        assert to is not None
        out = self._ordered(to, way, calls)
        found: list[Reply] | None = await _appeared(out, may_be_missing=way in MAY_BE_MISSING)
        return found

    def _ordered(self, to: IO[str], way: str, calls: Calls) -> Path:
        number = next(self._numbers)
        wanted, out = self.folder / f"calls-{number}", self.folder / f"out-{number}"
        wanted.write_text(json.dumps(calls))
        to.write(json.dumps({"way": way, "calls": str(wanted), "out": str(out)}) + "\n")
        to.flush()
        return out


async def _appeared(out: Path, *, may_be_missing: bool = False) -> Any:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        if (found := _read(out)) is not None:
            return found
        if may_be_missing and _read(Path(f"{out}.done")) is not None:
            return _read(out)
        await asyncio.sleep(0.02)
    raise AssertionError(f"nothing came of {out}")


def _read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def opened(replies: list[Reply] | None) -> bool:
    """Return whether the last call did what it asked."""
    return replies is not None and "result" in replies[-1]


def told(replies: list[Reply] | None) -> str:
    """Return what the last call was refused with."""
    last: Reply = replies[-1] if replies else {"gone": "the way does not work here"}
    return str(last.get("error", {}).get("message", last))


async def _asks_on_and_on(context: TaskContext) -> str:
    effect = Effect(
        verb=EffectVerb.SEND,
        control="Send",
        recipient=Stated(text="Ana Silva"),
        content=Stated(text="Hello"),
        app="com.example.mail",
    )
    for step in itertools.count(1):
        await context.ask(
            "May I send it?",
            call_id=f"c{step}",
            step=step,
            approval=True,
            options=OPTIONS,
            subject=Subject(action="tap", effect=effect),
        )
    raise AssertionError("it asks for ever")


@asynccontextmanager
async def opened_ground(directory: Path, *, with_agent: bool = True) -> AsyncIterator[Ground]:
    """Open the ground: the person's terminal stood before the agent came."""
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    stage = Stage(directory / "data", FakeFleet("lab-1"))
    stage.parts = {GOAL: _asks_on_and_on}
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(stage.play())
        consent = Consent(stage.directory)
        gates = Gates(consent, Autonomy.ASK_BEFORE_ACTION)
        path = socket_path(stage.directory)
        daemon = await stack.enter_async_context(serve(stage.core, path, gates=gates))
        ground = Ground(stage, daemon, consent, directory)
        await _seat_person(ground, stack)
        if with_agent:
            await _let_agent_in(ground, stack)
        op = SessionCreate(
            goal=GOAL, serial="lab-1", speaker=Speaker.MODEL if with_agent else Speaker.OPERATOR
        )
        ground.session_id = (await stage.do(op)).session_id
        await ground.question()
        yield ground


async def _seat_person(ground: Ground, stack: AsyncExitStack) -> None:
    keyboard, terminal = pty.openpty()
    stack.callback(os.close, keyboard)
    name = os.ttyname(terminal)
    (ground.folder / "terminal").write_text(name)
    os.mkfifo(ground.folder / "typed")
    pid = await _begun(ground, "person.py", "seated", name)
    os.close(terminal)
    stack.callback(_end, pid)
    ground.typed = stack.enter_context((ground.folder / "typed").open("w"))


async def _let_agent_in(ground: Ground, stack: AsyncExitStack) -> None:
    os.mkfifo(ground.folder / "orders")
    pid = await _begun(ground, "attacker.py", "ready")
    stack.callback(_end, pid)
    ground.ways = json.loads((ground.folder / "ready").read_text())["ways"]
    ground.orders = stack.enter_context((ground.folder / "orders").open("w"))


async def _begun(ground: Ground, program: str, sign: str, *more: str) -> int:
    command = [sys.executable, "-I", "-S", str(HERE / program), str(ground.daemon.path)]
    begun = await asyncio.create_subprocess_exec(*command, str(ground.folder), *more)
    await begun.wait()
    return int((await _appeared(ground.folder / sign))["pid"])


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
