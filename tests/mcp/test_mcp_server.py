"""Agents that speak MCP on a virtual phone: the operator sees, approves and stops what they do."""

import asyncio
from typing import cast

import pytest

from agent import protocol
from agent.core import Core
from agent.errors import SwitchboardError, WrongStateError
from agent.knowledge.library import Library
from agent.records import DirectStatus, SessionState
from agent.rpc.remote_core import Client as CoreClient
from console.mcp.clients import OneClient
from console.mcp.server import PhoneServer
from console.mcp.tool import Connection
from tests.mcp.stand import Stand, sent, until_send

ERAS = pytest.mark.parametrize("era", ["handshake", "2026-07-28"])


async def test_an_agent_acts_and_the_operator_approves_at_the_console(stand: Stand) -> None:
    async with stand.agent() as agent:
        send = await until_send(agent)
        assert not sent(stand)
        approving = asyncio.create_task(stand.operator_answers("Approve"))
        await agent.call("click_element", element=send)
        question = await approving
        assert question.session_id == agent.session_id
        assert sent(stand)
        session_id = agent.session_id
        await agent.call("release_phone", success=True, summary="Told Dad hello")
        session = await stand.at.core.session(session_id)
    assert (session.state, session.model) == (SessionState.COMPLETED, "direct:test-agent")


@ERAS
async def test_an_approval_is_never_put_to_the_client(stand: Stand, era: str) -> None:
    async with stand.agent(era=era, answer="Approve") as agent:
        send = await until_send(agent)
        denying = asyncio.create_task(stand.operator_answers("Deny"))
        text = await agent.refused("click_element", element=send)
        await denying
        assert agent.asked == []
        assert "rejected" in text
    assert not sent(stand)


async def test_what_an_agent_held_is_free_once_it_hangs_up(stand: Stand) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        session_id = agent.session_id
    async with stand.agent() as another:
        await another.call("take_phone", purpose="Look again")
        session = await stand.at.core.session(session_id)
        assert session.state is SessionState.CANCELLED
        assert another.session_id != session_id


async def test_two_agents_share_one_phone_one_after_the_other(stand: Stand) -> None:
    async with stand.agent() as first:
        await first.call("take_phone", purpose="First")
        op = protocol.SessionCreate(
            goal="Second", serial=stand.at.serials[0], direct=True, model="x"
        )
        second = await CoreClient.connect(stand.socket, name="second")
        session_id = (await second.request(op)).session_id
        look = protocol.DirectCall(session_id=session_id, wait_s=0.1)
        waiting = (await second.request(look)).direct
        assert waiting is not None
        assert waiting.status is DirectStatus.WAITING
        assert "in use" in waiting.text
        await first.call("release_phone", success=False, summary="enough")
        ready = (await second.request(protocol.DirectCall(session_id=session_id))).direct
        assert ready is not None
        assert ready.status is DirectStatus.READY
        await second.close()


async def test_the_operators_hint_and_stop_reach_the_agent(stand: Stand) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        session_id = agent.session_id
        hint = protocol.UserInput(session_id=session_id, text="Open the Clock instead")
        await stand.at.core.request(hint)
        assert "Open the Clock instead" in await agent.call("launch_app", app="Settings")
        await stand.at.core.request(protocol.Interrupt(session_id=session_id))
        assert "stopped" in await agent.refused("launch_app", app="Clock")
        assert "take_phone" in await agent.refused("launch_app", app="Clock")


async def test_an_agent_has_no_hold_of_what_others_began(stand: Stand) -> None:
    async with stand.agent() as first, stand.agent() as second:
        await first.call("take_phone", purpose="Mine")
        theirs = first.session_id
        assert "no phone" in await second.refused("launch_app", app="Clock", session=theirs)
        with pytest.raises(WrongStateError):
            await second.core.request(protocol.DirectCall(session_id=theirs, tool="wait"))
        for name in ("steer_session", "stop_session", "resume_session", "fork_session"):
            more = {"text": "x"} if name == "steer_session" else {}
            assert "not started by you" in await second.refused(name, session=theirs, **more)


async def test_a_goal_is_given_followed_and_read(stand: Stand) -> None:
    async with stand.agent() as agent:
        text = await agent.call("start_session", goal="Turn on Bluetooth")
        session_id = text.split()[1]
        for _ in range(20):
            told = await agent.call("watch_session", session=session_id, wait_s=50)
            if "done" in told:
                break
        assert "Bluetooth" in await agent.call("read_transcript", session=session_id)
        assert session_id in await agent.call("list_sessions")


async def test_what_no_tool_takes_is_answered_with_what_to_do(stand: Stand) -> None:
    async with stand.agent() as agent:
        assert "There are:" in await agent.refused("reset")
        assert "take_phone" in await agent.refused("click_element", element=1)
        await agent.refused("take_phone")
        await agent.refused("take_phone", purpose="", phone="nosuch")
        await agent.refused("take_phone", purpose="x" * 1_000_000)
        await agent.refused("watch_session", session="nosuch")
        await agent.refused("watch_session", session=["a"], wait_s="soon")
        await agent.call("take_phone", purpose="Look around")
        for arguments in ({"element": "one"}, {"element": 999}, {}):
            assert "FAILED" in await agent.refused("click_element", **arguments)
        with pytest.raises(SwitchboardError):
            await agent.core.request(protocol.SessionCreate(goal="x", model="direct:me"))


def test_each_tool_has_a_title_and_says_what_it_may_do() -> None:
    core = cast(Core, None)
    told = PhoneServer(OneClient(Connection(core)), Library({}), version="1").tools()
    hints = {one.name: one.annotations for one in told}
    for tool in told:
        said = hints[tool.name]
        assert tool.title, tool.name
        assert said is not None
        assert said.title == tool.title
        assert not (said.read_only_hint and said.destructive_hint), tool.name
        for hint in ("read_only", "destructive", "idempotent", "open_world"):
            assert isinstance(getattr(said, f"{hint}_hint"), bool), (tool.name, hint)
    reads = {name for name, said in hints.items() if said is not None and said.read_only_hint}
    assert reads >= {"look", "more_elements", "list_phones", "read_transcript"}
    assert not reads & {"take_phone", "wait", "scroll", "start_session", "export_session"}
    destroys = {name for name, said in hints.items() if said is not None and said.destructive_hint}
    assert destroys >= {"click_element", "type_text", "press_keys", "start_session", "stop_job"}
    assert not destroys & {"take_phone", "scroll", "launch_app", "wait", "stop_session"}


def test_the_phone_tools_cost_few_tokens() -> None:
    core = cast(Core, None)
    told = PhoneServer(
        OneClient(Connection(core)), Library({}), version="1", sessions=False
    ).tools()
    # Titles and hints are for the client, which keeps them from its model.
    sizes = (
        one.model_dump_json(exclude_none=True, by_alias=True, exclude={"title", "annotations"})
        for one in told
    )
    size = sum(map(len, sizes))
    assert size / 4 < 2500, size / 4
