"""The client of OpenAI-compatible endpoints, through the real SDK against a real HTTP server."""

import pytest

from agent.errors import ModelError
from agent.models.endpoint import Endpoint, Provider
from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolCall, ToolSchema
from agent.models.openai import OpenAIModel
from agent.models.wires.failures import retry_after_s
from agent.settings import Wire
from tests.models.test_wires import REQUEST
from tests.openai_server import Reply, openai_server

KEY = "sk-very-secret-key"
TOOLS = (
    ToolSchema(name="wait", description="Wait.", parameters={"type": "object", "properties": {}}),
)


def request(*messages: Message) -> ModelRequest:
    first = Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it.")
    return ModelRequest(messages=(first, *messages), tools=TOOLS)


def model(url: str, **options: object) -> OpenAIModel:
    return OpenAIModel("test-model", base_url=url, api_key=KEY, **options)  # type: ignore[arg-type]


async def failure(*replies: Reply, timeout_s: float = 20.0) -> ModelError:
    """Return what the first call fails with."""
    async with openai_server(replies) as server:
        client = model(server.base_url, timeout_s=timeout_s)
        try:
            with pytest.raises(ModelError) as caught:
                await client.complete(request())
        finally:
            await client.close()
        return caught.value


async def test_a_long_answer_is_not_shown_anew_at_every_word() -> None:
    long = "word " * 4000
    async with openai_server([Reply(text=long, piece=5)]) as server:
        client = model(server.base_url)
        seen: list[str] = []
        await client.complete(request(), seen.append)
        await client.close()
    assert seen[-1] == long
    assert len(set(seen)) == len(seen) < 500


async def test_the_conversation_goes_out_in_the_wire_form() -> None:
    call = ToolCall(call_id="c1", name="wait", arguments='{"seconds":1}')
    conversation = (
        Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,)),
        Message(role=Role.TOOL, kind=MessageKind.RESULT, text="Waited.", call_id="c1"),
        Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="Screen", image=b"\x89PNG"),
    )
    async with openai_server([Reply(text="ok"), Reply(text="ok")]) as server:
        for vision in (False, True):
            client = model(server.base_url, vision=vision)
            await client.complete(request(*conversation))
            await client.close()
        blind, seeing = (r["messages"] for r in server.requests)
    assert blind[1]["tool_calls"][0]["function"] == {"name": "wait", "arguments": '{"seconds":1}'}
    assert blind[2] == {"role": "tool", "tool_call_id": "c1", "content": "Waited."}
    assert blind[3]["content"] == "Screen"
    assert seeing[3]["content"][1]["image_url"]["url"].startswith("data:image/jpeg;base64,iVBO")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.requests[0]["tools"][0]["function"]["name"] == "wait"


async def test_a_used_up_quota_is_terminal_though_its_status_is_429() -> None:
    assert not (await failure(Reply(status=429, error_code="insufficient_quota"))).retryable


async def test_a_message_that_only_mentions_401_is_judged_by_its_status() -> None:
    assert (await failure(Reply(status=503, error_code="401_unauthorized"))).retryable


async def test_a_failure_quotes_what_the_endpoint_said_as_a_sentence() -> None:
    error = await failure(Reply(status=500))
    assert error.message == "The model endpoint failed (HTTP 500): scripted failure 500."
    error = await failure(Reply(status=401))
    assert "401. Check the key" in str(error)


async def test_an_endpoint_that_cannot_be_reached_is_named() -> None:
    client = model("http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1 cannot be reached") as caught:
        await client.complete(request())
    assert caught.value.retryable
    await client.close()


async def test_a_refused_parameter_is_left_out_and_not_sent_again() -> None:
    def script(body: dict[str, object]) -> Reply:
        if "max_completion_tokens" in body:
            return Reply(status=400, error_param="max_completion_tokens")
        if "stream_options" in body:
            return Reply(status=422)
        return Reply(text="fine")

    async with openai_server(script) as server:
        client = model(server.base_url)
        first = await client.complete(request())
        asked = len(server.requests)
        second = await client.complete(request())
        await client.close()
    assert (first.text, second.text) == ("fine", "fine")
    assert len(server.requests) == asked + 1
    assert "max_tokens" in server.requests[-1]


async def test_a_request_that_is_refused_for_good_is_terminal() -> None:
    error = await failure(*[Reply(status=400, error_param="messages")])
    assert not error.retryable


async def test_the_key_stands_in_no_error_and_no_representation() -> None:
    error = await failure(Reply(status=401, error_code=f"bad key {KEY}"))
    assert KEY not in str(error)
    assert KEY not in repr(model("http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "99999999999"}, 99999999999.0),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_llm_errors_retry_after_is_read_in_each_of_its_forms(
    headers: dict[str, str], expected: float | None
) -> None:
    assert retry_after_s(headers) == expected


async def test_the_conversation_goes_out_as_items_and_nothing_stays_with_the_provider() -> None:
    async with openai_server([Reply(text="ok")]) as server:
        endpoint = Endpoint(base_url=server.base_url, provider=Provider.OPENAI, wire=Wire.RESPONSES)
        client = OpenAIModel("m", endpoint=endpoint, api_key="k", vision=True)
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
    assert "parallel_tool_calls" not in sent, "a form takes several"
