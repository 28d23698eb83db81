"""What is said beside a conversation: limits, tool choice, cache key; and how an answer ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.models.endpoint import Endpoint, Provider
from agent.models.model import (
    FinishReason,
    ImageDetail,
    Message,
    MessageKind,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
)
from agent.models.openai import OpenAIModel
from agent.models.windows import UNKNOWN_WINDOW, context_window, learn_window
from agent.models.wires.failures import stated_window
from agent.settings import Wire
from agent.tools.registry import schemas
from tests.models.asking import chunk, http, refusal, reply_with_status, stream
from tests.openai_server import Reply, openai_server, tool

REQUEST = ModelRequest(
    messages=(Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),),
    tools=schemas(),
    tool_choice=ToolChoice.REQUIRED,
    cache_key="session-1",
)
DONE = Reply(tools=(tool("wait", seconds=1),))


async def played(
    *replies: Reply,
    wire: Wire = Wire.CHAT,
    provider: Provider = Provider.COMPATIBLE,
    request: ModelRequest = REQUEST,
    calls: int = 1,
    **options: Any,
) -> tuple[list[dict[str, Any]], ModelReply]:
    """Ask so often, each time by a new client; return the bodies sent, the last answer."""
    async with openai_server(replies) as server:
        endpoint = Endpoint(base_url=server.base_url, provider=provider, wire=wire)
        reply = ModelReply()
        for _ in range(calls):
            model = OpenAIModel("m", endpoint=endpoint, api_key="k", **options)
            reply = await model.complete(request)
            await model.close()
        return server.requests, reply


def refused(message: str, param: str = "", status: str = "400 Bad Request") -> Reply:
    return reply_with_status({"error": {"message": message, "param": param or None}}, status)


@pytest.mark.parametrize("wire", [Wire.CHAT, Wire.RESPONSES])
async def test_a_call_is_required_and_openai_is_told_which_conversation_it_is(wire: Wire) -> None:
    (body,), _ = await played(DONE, wire=wire, provider=Provider.OPENAI)
    assert body["tool_choice"] == "required"
    assert body["prompt_cache_key"] == "session-1"
    (body,), _ = await played(DONE, wire=wire)
    assert "prompt_cache_key" not in body


@pytest.mark.parametrize(
    "refusal_",
    [
        refused("no such value", "tool_choice"),
        refused("tool_choice 'required' is not supported in thinking mode"),
        refused("bad request"),
    ],
)
async def test_a_refused_tool_choice_is_left_out_and_stays_so_for_the_next_client(
    refusal_: Reply,
) -> None:
    bodies, _ = await played(refusal_, DONE, DONE, calls=2)
    assert ["tool_choice" in body for body in bodies] == [True, False, False]


async def test_a_model_whose_name_says_nothing_has_room_to_think() -> None:
    (body,), reply = await played(DONE)
    assert body["max_completion_tokens"] == reply.output_limit == 8192
    (body,), reply = await played(DONE, request=replace(REQUEST, max_output_tokens=500))
    assert body["max_completion_tokens"] == reply.output_limit == 500


@pytest.mark.parametrize(
    "refusal_",
    [
        refused("max_tokens is too large: 8192. At most 4096.", "max_tokens"),
        refused("'max_output_tokens' or so is too large: 8192"),
        refused(
            "This model's maximum context length is 8192 tokens. However, you requested 8692 "
            "tokens (500 in the messages, 8192 in the completion)."
        ),
    ],
)
async def test_a_limit_that_an_endpoint_cannot_give_is_left_out(refusal_: Reply) -> None:
    bodies, reply = await played(refusal_, DONE)
    assert "max_completion_tokens" not in bodies[1]
    assert "max_tokens" not in bodies[1]
    assert reply.output_limit == 0


async def test_a_conversation_beyond_the_window_says_the_window() -> None:
    said = (
        "This model's maximum context length is 4,096 tokens. However, you requested 9000 tokens "
        "(8500 in the messages, 500 in the completion)."
    )
    error = await refusal(refused(said))
    assert (error.too_long, error.window, error.retryable) == (True, 4096, False)
    assert context_window("m") == 4096
    learn_window("m", UNKNOWN_WINDOW)


@pytest.mark.parametrize(
    ("said", "window"),
    [
        ("maximum context length is 128000 tokens. However, your messages", 128_000),
        (
            "Prompt contains 33000 tokens, too large for model with 32768 maximum context length",
            32_768,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        (
            "The input token count exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096),
        ("n_keep: 5000>= n_ctx: 4096", 4096),
        ("longer than the maximum model length of 4096", 4096),
        ("rate limit of 128000 tokens a minute", 0),
    ],
)
def test_servers_name_the_window_in_their_own_words(said: str, window: int) -> None:
    assert stated_window(said) == window


@given(st.text(max_size=200))
def test_any_refusal_is_read_without_an_error(said: str) -> None:
    assert 0 <= stated_window(said) <= 100_000_000


def test_the_window_is_the_operators_word_then_the_table_then_a_careful_guess() -> None:
    assert context_window("gpt-5-mini", 9000) == 9000
    assert context_window("gpt-5-mini") == 400_000
    assert context_window("qwen/qwen3-8b") == 131_072
    assert context_window("my-own") == UNKNOWN_WINDOW


async def test_an_answer_that_was_cut_says_so_on_both_wires() -> None:
    _, reply = await played(http(stream(chunk({"content": "I th"}), chunk({}, "length"))))
    assert reply.finish is FinishReason.LENGTH
    ended = {
        "id": "r",
        "object": "response",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [],
    }
    events = stream({"type": "response.incomplete", "response": ended}, done=False)
    _, reply = await played(http(events), wire=Wire.RESPONSES)
    assert reply.finish is FinishReason.LENGTH
    _, reply = await played(DONE)
    assert reply.finish is FinishReason.TOOL_CALLS


async def test_sealed_reasoning_goes_back_before_the_call_it_led_to() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}
    call = {"type": "function_call", "id": "f", "call_id": "c1", "name": "wait", "arguments": "{}"}
    ended = {"id": "r", "object": "response", "status": "completed", "output": [item, call]}
    events = stream(
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed", "response": ended},
        done=False,
    )
    bodies, reply = await played(http(events), wire=Wire.RESPONSES)
    assert bodies[0]["include"] == ["reasoning.encrypted_content"]
    assert reply.reasoning == (item,)
    assert reply.finish is FinishReason.TOOL_CALLS
    again = replace(
        REQUEST,
        messages=(
            *REQUEST.messages,
            Message(
                role=Role.ASSISTANT,
                kind=MessageKind.REPLY,
                tool_calls=reply.tool_calls,
                reasoning=reply.reasoning,
            ),
        ),
    )
    (body,), _ = await played(DONE, wire=Wire.RESPONSES, request=again)
    assert [one.get("type") for one in body["input"]] == [None, "reasoning", "function_call"]
    refused_, plain = (
        await played(refused("unknown", "include"), DONE, wire=Wire.RESPONSES, request=again)
    )[0]
    assert "include" in refused_
    assert "include" not in plain
    assert [one.get("type") for one in plain["input"]] == [None, "function_call"]
    # The other wire cannot read it.
    (body,), _ = await played(DONE, request=again)
    assert set(body["messages"][1]) == {"role", "content", "tool_calls"}


async def test_reasoning_as_text_goes_back_beside_its_call() -> None:
    thought = chunk({"reasoning_content": "Tap "}), chunk({"reasoning_content": "it."})
    function = {"name": "wait", "arguments": "{}"}
    called = chunk({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}, "tool_calls")
    _, reply = await played(http(stream(*thought, called)))
    assert reply.text == ""
    assert reply.reasoning == ({"reasoning_content": "Tap it."},)
    said = Message(
        role=Role.ASSISTANT,
        kind=MessageKind.REPLY,
        tool_calls=reply.tool_calls,
        reasoning=reply.reasoning,
    )
    (body,), _ = await played(DONE, request=replace(REQUEST, messages=(*REQUEST.messages, said)))
    assert body["messages"][1]["reasoning_content"] == "Tap it."


async def test_a_picture_is_looked_at_as_finely_as_was_chosen() -> None:
    shown = Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="S", image=b"\x89PNG")
    for detail, said in ((ImageDetail.HIGH, "high"), (ImageDetail.AUTO, None)):
        request = replace(REQUEST, messages=(shown,), image_detail=detail)
        (body,), _ = await played(DONE, request=request, vision=True)
        assert body["messages"][0]["content"][1]["image_url"].get("detail") == said
    request = replace(REQUEST, messages=(shown,))
    (body,), _ = await played(DONE, request=request, vision=True, image_detail=ImageDetail.LOW)
    assert body["messages"][0]["content"][1]["image_url"]["detail"] == "low"
