"""What was used of an allowance stays used, whatever becomes of the session or its core."""

import asyncio
import sys
from pathlib import Path

import pytest

from agent.loop.task_context import TaskContext
from agent.protocol import SessionCreate, SessionFork, SessionResume, SessionRollback
from agent.records import SessionState
from agent.safety.allowances.parsing import parse_allowance
from tests.fakes import FakeFleet
from tests.safety.allowances.dying import GOAL, USED
from tests.stage import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone"))


COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER


async def uses_one(context: TaskContext) -> str:
    left = context.session.allowances[0].left if context.session.allowances else 0
    if left:
        await context.emit(USED)
    return str(left)


async def used(stage: Stage, session_id: str) -> list[int]:
    return [one.used for one in (await stage.store.session(session_id)).allowances]


async def test_a_use_lasts_through_restarts_resumes_and_rollbacks(stage: Stage) -> None:
    stage.parts[GOAL] = uses_one
    async with stage.play():
        op = SessionCreate(goal=GOAL, allowances=(parse_allowance("send:3:Ana"),))
        session_id = (await stage.do(op)).session_id
        await stage.reach(session_id, COMPLETED)
        assert await used(stage, session_id) == [1]
    async with stage.play():
        assert await used(stage, session_id) == [1]
        await stage.do(SessionRollback(session_id=session_id))
        assert await used(stage, session_id) == [1]
        await stage.do(SessionResume(session_id=session_id))
        done = await stage.reach(session_id, COMPLETED)
        assert (done.latest_result, await used(stage, session_id)) == ("2", [2])


async def test_a_fork_neither_refills_it_nor_takes_of_it(stage: Stage) -> None:
    stage.parts[GOAL] = uses_one
    async with stage.play():
        op = SessionCreate(goal=GOAL, allowances=(parse_allowance("send:3:Ana"),))
        session_id = (await stage.do(op)).session_id
        await stage.reach(session_id, COMPLETED)
        fork = (await stage.do(SessionFork(session_id=session_id))).session_id
        await stage.do(SessionResume(session_id=fork))
        done = await stage.reach(fork, COMPLETED)
        assert (done.latest_result, done.allowances) == ("0", ())
        assert await used(stage, session_id) == [1]


async def test_a_use_lasts_through_the_death_of_its_core(stage: Stage) -> None:
    module = "tests.safety.allowances.dying"
    dying = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, str(stage.directory), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert dying.stdout is not None
        async with asyncio.timeout(60):
            session_id = (await dying.stdout.readline()).decode().strip()
        assert session_id
    finally:
        dying.kill()
        await dying.wait()
    stage.parts[GOAL] = uses_one
    async with stage.play():
        assert await used(stage, session_id) == [1]
        await stage.reach(session_id, WAITING)
        await stage.do(SessionResume(session_id=session_id))
        done = await stage.reach(session_id, COMPLETED)
        assert (done.latest_result, await used(stage, session_id)) == ("2", [2])
