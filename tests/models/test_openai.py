"""The client of OpenAI-compatible endpoints, through the real SDK against a real HTTP server."""

from __future__ import annotations

import pytest

from agent.errors import ModelError
from agent.models.endpoint import Endpoint, Provider
from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolCall, ToolSchema
from agent.models.openai import OpenAIModel
from agent.models.prices import Price
from agent.models.wires.failures import retry_after_s
from tests.openai_server import Reply, Tool, openai_server, tool

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


async def test_streamed_text_and_tool_calls_are_put_together_by_index() -> None:
    calls = (tool("wait", seconds=2), tool("click_element", element=3, expected="größer"))
    async with openai_server([Reply(text="I wait a little.", tools=calls, piece=3)]) as server:
        client = model(server.base_url)
        seen: list[str] = []
        reply = await client.complete(request(), seen.append)
        await client.close()
    assert reply.text == "I wait a little."
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [
        ("wait", calls[0].arguments),
        ("click_element", calls[1].arguments),
    ]
    assert seen[0] == "I w"
    assert seen[-1] == "I wait a little."
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens) == (100, 40)
    assert (reply.usage.output_tokens, reply.usage.calls) == (10, 1)


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


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_refused_key_and_an_unknown_model_are_terminal(status: int) -> None:
    error = await failure(Reply(status=status))
    assert (error.retryable, error.status) == (False, status)
    assert error.remedy


async def test_a_used_up_quota_is_terminal_though_its_status_is_429() -> None:
    assert not (await failure(Reply(status=429, error_code="insufficient_quota"))).retryable


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
async def test_a_busy_endpoint_may_be_asked_again(status: int) -> None:
    error = await failure(Reply(status=status, headers=(("retry-after", "7"),)))
    assert (error.retryable, error.status, error.retry_after_s) == (True, status, 7.0)


async def test_a_message_that_only_mentions_401_is_judged_by_its_status() -> None:
    assert (await failure(Reply(status=503, error_code="401_unauthorized"))).retryable


@pytest.mark.parametrize("chunks", [0, 1, 4])
async def test_a_cut_stream_may_be_asked_again(chunks: int) -> None:
    reply = Reply(text="a longer text that ends", tools=(tool("wait"),), cut_after=chunks)
    error = await failure(reply)
    assert error.retryable
    assert "broke off" in error.message


async def test_an_answer_that_is_no_completion_is_a_model_error() -> None:
    error = await failure(Reply(garbage=b"<html>hello</html>"))
    assert not error.retryable
    assert "127.0.0.1" in error.message
    assert "base_url" in error.remedy


async def test_a_stream_of_something_else_is_not_asked_for_again() -> None:
    for body in (
        b"data: <html>\n\n",
        b'data: {"foo": 1}\n\n',
        b"data: 5\n\n",
        b'{"a": 1}',
        b"x" * 999,
    ):
        assert not (await failure(Reply(garbage=body))).retryable, body


async def test_a_failure_quotes_what_the_endpoint_said_as_a_sentence() -> None:
    error = await failure(Reply(status=500))
    assert error.message == "The model endpoint failed (HTTP 500): scripted failure 500."
    error = await failure(Reply(status=401))
    assert "401. Check the key" in str(error)


async def test_silence_ends_in_a_time_out() -> None:
    error = await failure(Reply(silent=True), timeout_s=1.5)
    assert error.retryable
    assert "no answer within 1.5 s" in error.message


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


async def test_malformed_tool_arguments_come_through_for_the_registry_to_refuse() -> None:
    async with openai_server([Reply(tools=(Tool("wait", '{"seconds": '),))]) as server:
        client = model(server.base_url)
        reply = await client.complete(request())
        await client.close()
    assert reply.tool_calls[0].arguments == '{"seconds": '


async def test_what_an_answer_without_usage_used_is_estimated_so_that_budgets_hold() -> None:
    said = "eight or " * 40
    async with openai_server([Reply(text=said, usage=False)]) as server:
        client = model(server.base_url, price=Price(input=1_000_000.0, output=10.0))
        reply = await client.complete(request())
        await client.close()
    assert (reply.text, reply.usage.calls) == (said, 1)
    # A quarter of the characters: of the goal and the tools, and of the answer.
    assert reply.usage.output_tokens == len(said) // 4
    assert 10 < reply.usage.input_tokens < 60
    assert reply.usage.cost_usd == pytest.approx(reply.usage.input_tokens, rel=0.01)


async def test_silence_in_the_middle_of_an_answer_ends_in_a_time_out_too() -> None:
    error = await failure(Reply(text="a longer text", stall_after=2), timeout_s=1.5)
    assert error.retryable
    assert "no answer within 1.5 s" in error.message


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


async def test_no_organization_is_told_to_others_and_no_environment_moves_the_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    async with openai_server([Reply(text="ok")]) as server:
        endpoint = Endpoint(base_url=server.base_url, provider=Provider.COMPATIBLE)
        client = OpenAIModel("m", endpoint=endpoint, api_key=KEY)
        await client.complete(request())
        await client.close()
    assert not [name for name in server.headers[0] if "organization" in name or "project" in name]
    assert "api.openai.com" in repr(OpenAIModel("m", api_key=KEY))
