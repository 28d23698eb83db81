"""What clients read beside the tools: resources, their changes, and prompts."""

import base64
from io import BytesIO

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from PIL import Image

from agent.protocol import Interrupt
from console.mcp.prompts import PROMPTS
from console.mcp.updates import MAX_SUBSCRIPTIONS
from support.patience import until
from tests.mcp.stand import Agent, Stand


async def text_at(agent: Agent, uri: str) -> str:
    (content,) = (await agent.client.read_resource(uri)).contents
    assert content.uri == uri
    return str(content.text)


async def test_every_listed_resource_can_be_read(stand: Stand) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        await agent.call("launch_app", app="Settings")
        listed = (await agent.client.list_resources()).resources
        for one in listed:
            (content,) = (await agent.client.read_resource(one.uri)).contents
            assert content.mime_type == one.mime_type
            assert getattr(content, "text", "") or content.blob
        uri = f"switchboard://sessions/{agent.session_id}"
        assert "Bluetooth" in await text_at(agent, f"{uri}/screen")
        assert "Look around" in await text_at(agent, f"{uri}/transcript")
        assert stand.at.serials[0] in await text_at(agent, "switchboard://phones")
        (frame,) = (await agent.client.read_resource(f"{uri}/frame")).contents
        with Image.open(BytesIO(base64.b64decode(frame.blob))) as picture:
            assert picture.format == "JPEG"
        templates = (await agent.client.list_resource_templates()).resource_templates
        assert {one.uri_template for one in templates} >= {"switchboard://apps/{package}"}


@pytest.mark.parametrize(
    "uri",
    [
        "switchboard://",
        "switchboard://sessions//screen",
        "switchboard://sessions/nosuch/screen",
        "switchboard://sessions/../../etc/passwd/screen",
        "switchboard://apps/%00",
        "switchboard://apps/" + "x" * 100_000,
        "file:///etc/passwd",
        "https://example.com/",
    ],
)
async def test_what_is_no_resource_is_refused_with_what_to_do(stand: Stand, uri: str) -> None:
    async with stand.agent() as agent:
        with pytest.raises(MCPError) as refused:
            await agent.client.read_resource(uri)
        assert 0 < len(str(refused.value)) < 1000


async def test_a_card_number_is_in_no_resource(stand: Stand) -> None:
    number = "4111 1111 1111 1111"
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose=f"Note {number}")
        for part in ("screen", "transcript"):
            uri = f"switchboard://sessions/{agent.session_id}/{part}"
            assert number not in await text_at(agent, uri)
        listed = (await agent.client.list_resources()).resources
        assert not [one for one in listed if number in (one.description or "")]


async def test_a_change_is_told_to_who_subscribed(stand: Stand) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        uri = f"switchboard://sessions/{agent.session_id}/screen"
        await agent.client.subscribe_resource(uri)
        await agent.call("launch_app", app="Clock")

        def told() -> list[str]:
            return [
                one.params.uri
                for one in agent.heard
                if isinstance(one, types.ResourceUpdatedNotification)
            ]

        await until(told)
        assert set(told()) == {uri}
        await agent.client.unsubscribe_resource(uri)
        seen = len(told())
        await agent.call("launch_app", app="Settings")
        assert len(told()) == seen
        for number in range(MAX_SUBSCRIPTIONS):
            await agent.client.subscribe_resource(f"switchboard://sessions/{number}/screen")
        with pytest.raises(MCPError, match="Unsubscribe"):
            await agent.client.subscribe_resource(uri)


async def test_a_change_is_told_to_who_listens(stand: Stand) -> None:
    async with stand.agent(era="2026-07-28") as agent:
        await agent.call("take_phone", purpose="Look around")
        watched = ("switchboard://attention",)
        async with agent.client.listen(resource_subscriptions=watched) as changes:
            await stand.at.core.request(Interrupt(session_id=agent.session_id))
            async for change in changes:
                assert change == ResourceUpdated(uri=watched[0])
                break


async def test_prompts_are_filled_or_say_what_they_need(stand: Stand) -> None:
    async with stand.agent() as agent:
        listed = (await agent.client.list_prompts()).prompts
        assert {one.name for one in listed} == set(PROMPTS)
        for one in listed:
            given = {asked.name: f"<{asked.name} {{x}}>" for asked in one.arguments}
            (message,) = (await agent.client.get_prompt(one.name, given)).messages
            for said in given.values():
                assert said in message.content.text
            with pytest.raises(MCPError, match="needs"):
                await agent.client.get_prompt(one.name, {})
        with pytest.raises(MCPError, match="There are"):
            await agent.client.get_prompt("nosuch", {})
