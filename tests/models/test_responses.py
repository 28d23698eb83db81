"""The responses wire: the same conversation and the same answer as over the chat wire."""

from __future__ import annotations

import pytest

from agent.errors import ModelError
from agent.models.endpoint import Endpoint, Provider
from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolCall
from agent.models.openai import OpenAIModel
from agent.models.prices import Price
from agent.settings import Wire
from agent.tools.registry import schemas
from tests.openai_server import Reply, Tool, openai_server, tool


def model(url: str, **more: object) -> OpenAIModel:
    endpoint = Endpoint(base_url=url, provider=Provider.OPENAI, wire=Wire.RESPONSES)
    return OpenAIModel("m", endpoint=endpoint, api_key="k", **more)  # type: ignore[arg-type]


CALL = ToolCall(call_id="c1", name="wait", arguments='{"seconds":1}')
CONVERSATION = (
    Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text="Be good."),
    Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),
    Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, text="I wait.", tool_calls=(CALL,)),
    Message(role=Role.TOOL, kind=MessageKind.RESULT, text="Waited.", call_id="c1"),
    Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="Screen", image=b"\x89PNG"),
)
REQUEST = ModelRequest(messages=CONVERSATION, tools=schemas())


async def test_text_calls_usage_and_cost_come_back() -> None:
    calls = (tool("wait", seconds=2), tool("click_element", element=3, expected="größer"))
    price = Price(input=1.0, cached_input=0.5, output=10.0)
    async with openai_server([Reply(text="I wait a little.", tools=calls, piece=3)]) as server:
        client = model(server.base_url, price=price)
        seen: list[str] = []
        reply = await client.complete(REQUEST, seen.append)
        await client.close()
    assert (reply.text, seen[-1]) == ("I wait a little.", "I wait a little.")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [
        (call.name, call.arguments) for call in calls
    ]
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens) == (100, 40)
    assert reply.usage.cost_usd == pytest.approx((60 * 1.0 + 40 * 0.5 + 10 * 10.0) / 1e6)


async def test_the_conversation_goes_out_as_items_and_nothing_stays_with_the_provider() -> None:
    async with openai_server([Reply(text="ok")]) as server:
        client = model(server.base_url, vision=True)
        await client.complete(REQUEST)
        await client.close()
    [sent] = server.requests
    assert sent["store"] is False
    assert [item.get("type", item.get("role")) for item in sent["input"]] == [
        "system",
        "user",
        "assistant",
        "function_call",
        "function_call_output",
        "user",
    ]
    assert sent["input"][3]["call_id"] == sent["input"][4]["call_id"] == "c1"
    assert sent["input"][5]["content"][1]["image_url"].startswith("data:image/jpeg;base64,iVBO")
    assert all(tool["strict"] for tool in sent["tools"])
    assert sent["parallel_tool_calls"] is False


@pytest.mark.parametrize("chunks", [0, 1, 3])
async def test_a_cut_stream_may_be_asked_again(chunks: int) -> None:
    async with openai_server([Reply(text="a longer text", cut_after=chunks)]) as server:
        client = model(server.base_url)
        with pytest.raises(ModelError) as caught:
            await client.complete(REQUEST)
        await client.close()
    assert caught.value.retryable


async def test_a_busy_endpoint_is_retryable_and_a_refused_key_is_not() -> None:
    for status, retryable in ((429, True), (503, True), (401, False)):
        async with openai_server([Reply(status=status)]) as server:
            client = model(server.base_url)
            with pytest.raises(ModelError) as caught:
                await client.complete(REQUEST)
            await client.close()
        assert caught.value.retryable is retryable


async def test_malformed_arguments_come_through_for_the_registry_to_refuse() -> None:
    async with openai_server([Reply(tools=(Tool("wait", '{"seconds": '),))]) as server:
        client = model(server.base_url)
        reply = await client.complete(REQUEST)
        await client.close()
    assert reply.tool_calls[0].arguments == '{"seconds": '
