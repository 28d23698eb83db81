"""A fork after a step has what had happened by its end, and goes on by itself from there."""

import pytest

from agent import protocol
from agent.errors import UsageError
from agent.loop.task_context import TaskContext
from agent.records import SessionState, TimeSplit, Usage
from tests.stage import Stage, of_type


async def three_steps(context: TaskContext) -> str:
    for number in (1, 2, 3):
        await context.emit(
            protocol.StepStarted(step=number),
            protocol.AgentMessage(step=number, text=f"step {number}"),
            protocol.StepCompleted(step=number, time=TimeSplit(), usage=Usage()),
        )
    return "done"


async def test_a_fork_after_a_step_ends_with_that_step(stage: Stage) -> None:
    stage.parts["walk"] = three_steps
    async with stage.play():
        origin = await stage.create("walk")
        await stage.reach(origin, SessionState.COMPLETED)
        own = (await stage.do(protocol.SessionFork(session_id=origin, after_step=2))).session_id
        msgs = await stage.msgs(own)
        assert [msg.text for msg in of_type(msgs, protocol.AgentMessage)] == ["step 1", "step 2"]
        # Its turn had not ended there: it is closed, and the copy waits for its operator.
        assert len(of_type(msgs, protocol.TurnAborted)) == 1
        session = await stage.store.session(own)
        assert (session.state, session.turn_id) == (SessionState.WAITING_FOR_USER, "")
        await stage.do(protocol.UserInput(session_id=own, text="go on"))
        await stage.reach(own, SessionState.COMPLETED)
        with pytest.raises(UsageError, match="no step 9"):
            await stage.do(protocol.SessionFork(session_id=origin, after_step=9))
