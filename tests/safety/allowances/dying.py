"""A core that dies while a session uses its allowance: run by `test_lasting` as a process."""

import asyncio
import sys
from pathlib import Path

from agent.loop.task_context import TaskContext
from agent.protocol import AllowanceUsed, SessionCreate
from agent.records import Effect, EffectVerb
from agent.safety.allowances.parsing import parse_allowance
from tests.fakes import FakeFleet
from tests.stage import Stage

GOAL = "tell Ana"
USED = AllowanceUsed(call_id="c1", at=0, amount=1, effect=Effect(verb=EffectVerb.SEND))


async def main(directory: Path) -> None:
    """Use one of three messages, say so on stdout, and wait to be killed."""
    stage = Stage(directory, FakeFleet("phone"))

    async def part(context: TaskContext) -> str:
        await context.emit(USED)
        print(context.session.session_id, flush=True)
        await asyncio.Event().wait()
        return "never"

    stage.parts[GOAL] = part
    async with stage.play():
        op = SessionCreate(goal=GOAL, allowances=(parse_allowance("send:3:Ana"),))
        await stage.do(op)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
