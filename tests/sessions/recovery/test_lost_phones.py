"""What a session does when its phone goes away."""

import pytest

from agent.errors import DeviceLostError
from agent.loop.task_context import TaskContext
from agent.protocol import SessionResume
from agent.records import SessionState
from tests.stage import Cue, Stage

COMPLETED, QUEUED = SessionState.COMPLETED, SessionState.QUEUED


async def test_a_lost_device_flags_the_session_and_the_turn_goes_on_when_it_is_back(
    stage: Stage,
) -> None:
    cue = Cue()

    async def part(context: TaskContext) -> str:
        await cue.wait()
        with pytest.raises(DeviceLostError):
            await context.device.foreground()
        await context.wait_for_device()
        return (await context.device.foreground()).package

    stage.parts["look"] = part
    async with stage.play():
        session_id = await stage.create("look")
        await cue.there()
        stage.fleet.unplug("phone-1")
        cue.go.set()

        async def lost() -> bool | None:
            return True if (await stage.store.session(session_id)).lost else None

        await stage.until(lost, "the lost flag")
        stage.fleet.plug("phone-1")
        session = await stage.reach(session_id, COMPLETED)
    assert session.latest_result == "org.example.app" and not session.lost


async def test_a_device_that_stays_away_leaves_the_session_idle_and_resumable(stage: Stage) -> None:
    stage.set(recovery={"device_grace_s": 0.05})
    turns: list[str] = []

    async def part(context: TaskContext) -> str:
        turns.append(context.turn_id)
        if len(turns) == 1:
            stage.fleet.unplug("phone-1")
            await context.wait_for_device()
        return "done"

    stage.parts["look"] = part
    async with stage.play():
        session_id = await stage.create("look")
        session = await stage.idle(session_id)
        assert session.lost and "gone" in session.latest_error
        await stage.do(SessionResume(session_id=session_id))
        assert (await stage.store.session(session_id)).state is QUEUED
        stage.fleet.plug("phone-1")
        session = await stage.reach(session_id, COMPLETED)
    assert not session.lost and len(turns) == 2
