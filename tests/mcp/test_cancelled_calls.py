"""What a client cancels stops at once and leaves nothing: by the SDK's own cancellation."""

import asyncio
import time

import pytest

from agent import protocol
from agent.records import SessionState
from agent.rpc.remote_core import Client as CoreClient
from console.mcp import phone_tools
from support.patience import until
from tests.mcp.stand import Stand, sent, until_send

ERAS = pytest.mark.parametrize("era", ["handshake", "2026-07-28"])
STOPS_S = 1.0


async def until_requested(stand: Stand, tool: str) -> None:
    async with stand.at.core.events(after=0) as events:
        async for event in events:
            if isinstance(event.msg, protocol.ToolCallRequested) and event.msg.tool == tool:
                return


@ERAS
async def test_a_cancelled_call_stops_at_once_and_the_next_look_says_so(
    stand: Stand, era: str
) -> None:
    async with stand.agent(era=era) as agent:
        await agent.call("take_phone", purpose="Look around")
        session_id = agent.session_id
        calling = asyncio.create_task(agent.call_tool("wait", {"seconds": 300}))
        await until_requested(stand, "wait")
        began = time.monotonic()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        text = await agent.call("look")
        assert time.monotonic() - began < STOPS_S
        assert "cancelled before anything was done" in text
        # The phone is still held, and the session goes on.
        assert agent.session_id == session_id
        assert "Clock" in await agent.call("launch_app", app="Clock")


async def test_a_gesture_that_is_cancelled_lifts_its_finger_and_may_be_done_in_part(
    stand: Stand,
) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        drag = {"start": "500,750", "end": "500,300"}
        calling = asyncio.create_task(agent.call_tool("drag", drag))
        await until(lambda: stand.phone.touch.touched)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        assert "may be done in part" in await agent.call("look")
        assert not stand.phone.touch.touched
        await agent.call("press_button", button="HOME")


async def test_an_approval_is_closed_with_the_call_that_wanted_it(stand: Stand) -> None:
    async with stand.agent() as agent:
        send = await until_send(agent)
        calling = asyncio.create_task(agent.call_tool("click_element", {"element": send}))
        question = await stand.question()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        assert "cancelled before anything was done" in await agent.call("look")
        overview = await stand.at.core.overview()
        assert question.question_id not in {one.question_id for one in overview.questions}
        assert (await stand.at.core.session(agent.session_id)).state is SessionState.RUNNING
        assert not sent(stand)


async def taken_elsewhere(stand: Stand) -> CoreClient:
    other = await CoreClient.connect(stand.socket, name="other")
    serial = stand.at.serials[0]
    made = await other.request(protocol.SessionCreate(goal="Mine", serial=serial, direct=True))
    await other.request(protocol.DirectCall(session_id=made.session_id))
    return other


async def states(stand: Stand) -> set[SessionState]:
    return {one.state for one in await stand.at.core.sessions() if one.goal != "Mine"}


async def test_a_phone_that_is_waited_for_is_released_like_one_that_is_held(stand: Stand) -> None:
    other = await taken_elsewhere(stand)
    async with stand.agent() as agent:
        calling = asyncio.create_task(agent.call("take_phone", purpose="Next"))
        await until(lambda: bool(agent.connection.phones))
        text = await agent.call("release_phone", success=False, summary="No need")
        assert "cancelled" in text
        assert await states(stand) == {SessionState.CANCELLED}
        await asyncio.gather(calling, return_exceptions=True)
        assert "take_phone" in await agent.refused("look")
    await other.close()


async def test_a_cancelled_wait_for_a_phone_leaves_the_queue(stand: Stand) -> None:
    other = await taken_elsewhere(stand)
    async with stand.agent() as agent:
        calling = asyncio.create_task(agent.call_tool("take_phone", {"purpose": "Next"}))
        await until(lambda: bool(agent.connection.phones))
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        assert "take_phone" in await agent.refused("look")

        async with stand.at.core.events(after=0) as events:
            async for _ in events:
                if await states(stand) == {SessionState.CANCELLED}:
                    break
    await other.close()


async def test_release_takes_back_what_is_under_way(stand: Stand) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        session_id = agent.session_id
        calling = asyncio.create_task(agent.call_tool("wait", {"seconds": 300}))
        await until_requested(stand, "wait")
        await agent.call("release_phone", success=False, summary="Enough")
        await asyncio.gather(calling, return_exceptions=True)
        assert (await stand.at.core.session(session_id)).state is SessionState.FAILED


async def test_a_failure_is_told_as_one_also_where_a_look_brings_it(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand.agent() as agent:
        send = await until_send(agent)
        with monkeypatch.context() as patched:
            patched.setattr(phone_tools, "PATIENCE_S", 0.1)
            asking = await agent.call("click_element", element=send)
            assert "operator is asked" in asking
        await stand.operator_answers("Deny")
        assert "rejected" in await agent.refused("look")
        # It was told; what is looked at now is the screen.
        await agent.call("look")
