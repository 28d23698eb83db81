"""Anthropic's messages wire: thinking, caching, stop reasons, and the form of a conversation."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ModelError
from agent.models.anthropic.answer import Answer
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.request import Dialect, body_of
from agent.models.endpoint import Endpoint, endpoint_for
from agent.models.model import (
    FinishReason,
    Message,
    MessageKind,
    ModelRequest,
    Role,
    ToolCall,
    ToolChoice,
)
from agent.models.prices import Price
from agent.models.wires.failures import Failures
from agent.models.wires.gathering import Gathering
from agent.settings import Wire
from agent.tools.registry import schemas
from tests.models.asking import http, refusal
from tests.models.test_wires import CONVERSATION, REQUEST
from tests.openai_server import Reply, openai_server, tool


def model(url: str, **options: object) -> AnthropicModel:
    endpoint = Endpoint(base_url=url, wire=Wire.MESSAGES)
    return AnthropicModel("m", endpoint=endpoint, api_key="k", **options)  # type: ignore[arg-type]


def body(*messages: Message, vision: bool = True, **dialect: Any) -> dict[str, Any]:
    request = ModelRequest(messages=messages, tools=schemas(), max_output_tokens=100)
    return body_of(request, "m", Dialect(**dialect), vision=vision)


def said(text: str, kind: MessageKind = MessageKind.OBSERVATION, **more: Any) -> Message:
    return Message(role=Role.USER, kind=kind, text=text, **more)


def test_a_conversation_becomes_turns_with_results_first_and_the_picture_last() -> None:
    sent = body(*CONVERSATION)
    assert [block["text"] for block in sent["system"]] == ["Be good."]
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent["messages"][1]["content"]] == ["text", "tool_use"]
    result, screen, picture = sent["messages"][2]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "c1")
    assert (screen["text"], picture["source"]["media_type"]) == ("Screen", "image/jpeg")
    assert sent["messages"][1]["content"][1]["input"] == {"seconds": 1}
    assert sent["tools"][0]["input_schema"]["type"] == "object"


def test_no_block_is_empty_and_no_name_is_one_that_the_api_refuses() -> None:
    call = ToolCall(call_id="c1", name="open app!", arguments="[1")
    sent = body(
        said("  ", MessageKind.GOAL),
        said("Do it."),
        Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, text=" ", tool_calls=(call,)),
        Message(role=Role.TOOL, kind=MessageKind.RESULT, text="", call_id="c1"),
    )
    [use] = sent["messages"][1]["content"]
    assert (use["name"], use["input"]) == ("open_app_", {"unreadable": "[1"})
    [goal] = sent["messages"][0]["content"]
    assert goal["text"] == "Do it."
    assert sent["messages"][2]["content"][0]["content"]


def marks(sent: dict[str, Any]) -> list[str]:
    blocks = [*sent["system"], *(b for turn in sent["messages"] for b in turn["content"])]
    return [str(b.get("text") or b["type"]) for b in blocks if "cache_control" in b]


def test_what_the_next_request_repeats_is_marked_and_the_newest_picture_is_not() -> None:
    assert marks(body(*CONVERSATION)) == ["Be good.", "Do it.", "Screen"]
    assert "cache_control" not in json.dumps(body(*CONVERSATION, caching=False))


def test_a_long_conversation_has_four_marks_of_which_two_lie_within_reach() -> None:
    long = list(CONVERSATION[:2])
    for step in range(20):
        call = ToolCall(call_id=f"c{step}", name="wait", arguments="{}")
        long += [
            Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,)),
            Message(role=Role.TOOL, kind=MessageKind.RESULT, text="Ok.", call_id=f"c{step}"),
            said(f"Screen {step}", image=b"x" if step == 19 else None),
        ]
    sent = body(*long)
    found = marks(sent)
    assert (found[:2], found[-1], len(found)) == (["Be good.", "Do it."], "Screen 19", 4)
    before = body(*long[:-3])
    # Without its own marks, the request before is the beginning of this one.
    plain = [json.dumps(strip(request)["messages"][:-1])[1:-1] for request in (before, sent)]
    assert plain[1].startswith(plain[0])


def strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: strip(v) for k, v in value.items() if k != "cache_control"}
    return [strip(v) for v in value] if isinstance(value, list) else value


async def test_thinking_comes_back_signed_and_goes_out_unchanged_before_its_call() -> None:
    thought = Reply(thinking="They want it on.", signature="s1g", tools=(tool("wait", seconds=1),))
    async with openai_server([thought, Reply(text="ok")]) as server:
        client = model(server.base_url)
        reply = await client.complete(REQUEST)
        assert reply.reasoning == (
            {"type": "thinking", "thinking": "They want it on.", "signature": "s1g"},
        )
        assert reply.text == ""
        again = Message(
            role=Role.ASSISTANT,
            kind=MessageKind.REPLY,
            tool_calls=reply.tool_calls,
            reasoning=(*reply.reasoning, {"type": "reasoning", "encrypted_content": "other wire"}),
        )
        result = Message(
            role=Role.TOOL, kind=MessageKind.RESULT, text="Ok.", call_id=reply.tool_calls[0].call_id
        )
        await client.complete(ModelRequest(messages=(*CONVERSATION, again, result), tools=()))
        await client.close()
    assert server.requests[1]["messages"][-2]["content"][:1] == list(reply.reasoning)
    assert "other wire" not in json.dumps(server.requests[1])


async def test_a_refused_request_is_asked_again_without_one_thing_at_a_time() -> None:
    old = Message(
        role=Role.ASSISTANT,
        kind=MessageKind.REPLY,
        text="Hm.",
        reasoning=({"type": "thinking", "thinking": "", "signature": "old"},),
    )
    request = ModelRequest(
        messages=(*CONVERSATION, old, said("Screen")),
        tools=schemas(),
        tool_choice=ToolChoice.REQUIRED,
    )
    left_out: list[tuple[bool, bool, bool, bool]] = []

    def script(sent: dict[str, Any]) -> Reply:
        text = json.dumps(sent)
        left_out.append(
            (
                "signature" in text,
                "output_config" in sent,
                sent.get("tool_choice", {}).get("type") == "any",
                "cache_control" in text,
            )
        )
        return Reply(text="ok") if not any(left_out[-1]) else Reply(status=400)

    async with openai_server(script) as server:
        client = model(server.base_url, effort="minimal")
        assert (await client.complete(request)).text == "ok"
        asked = len(server.requests)
        await client.complete(request)
        await client.close()
        assert len(server.requests) == asked + 1, "what was learnt is kept"
    assert server.requests[0]["output_config"] == {"effort": "low"}
    assert [sum(kept) for kept in left_out[:5]] == [4, 3, 2, 1, 0]


async def test_a_prompt_that_is_too_long_is_said_at_once_with_the_window() -> None:
    asked: list[object] = []

    def script(request: dict[str, Any]) -> Reply:
        asked.append(request)
        error = {
            "type": "invalid_request_error",
            "message": "prompt is too long: 213462 tokens > 200000 maximum",
        }
        answer = json.dumps({"type": "error", "error": error}).encode()
        return http(answer, "application/json", "400 Bad Request")

    async with openai_server(script) as server:
        client = model(server.base_url)
        with pytest.raises(ModelError) as caught:
            await client.complete(REQUEST)
        await client.close()
    assert (caught.value.retryable, caught.value.too_long) == (False, True)
    assert (caught.value.window, len(asked)) == (200_000, 1)


@pytest.mark.parametrize(
    ("kind", "retryable"),
    [
        *(("overloaded_error", True), ("api_error", True), ("rate_limit_error", True)),
        *(("invalid_request_error", False), ("billing_error", False)),
        ("authentication_error", False),
    ],
)
async def test_an_error_in_the_middle_of_a_stream_is_judged_by_its_type(
    kind: str, retryable: bool
) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "So it is."}}
    start = b'event: message_start\ndata: {"type": "message_start", "message": {}}\n\n'
    stream = start + b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n"
    found = await refusal(http(stream), Wire.MESSAGES)
    assert (found.retryable, "So it is." in found.message) == (retryable, True)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("something_new", FinishReason.UNKNOWN),
    ],
)
async def test_the_reason_to_stop_comes_back(reason: str, finish: FinishReason) -> None:
    async with openai_server([Reply(text="ok", stop_reason=reason)]) as server:
        client = model(server.base_url, max_output_tokens=4321)
        reply = await client.complete(REQUEST)
        await client.close()
    assert (reply.finish, reply.output_limit) == (finish, 4321)
    assert server.requests[0]["max_tokens"] == 4321


async def test_a_refusal_ends_the_call_with_its_explanation() -> None:
    refused = Reply(text="Not that.", tools=(tool("wait", seconds=1),), stop_reason="refusal")
    found = await refusal(refused, Wire.MESSAGES)
    assert not found.retryable
    assert found.message == "m refused to answer: Not that."


async def test_a_full_window_is_a_conversation_that_is_too_long() -> None:
    full = Reply(text="I was", stop_reason="model_context_window_exceeded")
    found = await refusal(full, Wire.MESSAGES)
    assert (found.retryable, found.too_long) == (False, True)


async def test_a_pause_is_gone_on_from_in_a_call_of_its_own() -> None:
    replies = [
        Reply(text="First.", thinking="Hm.", stop_reason="pause_turn"),
        Reply(text="Done.", tools=(tool("wait", seconds=1),)),
    ]
    async with openai_server(replies) as server:
        client = model(server.base_url)
        reply = await client.complete(REQUEST)
        await client.close()
    assert [call.name for call in reply.tool_calls] == ["wait"]
    assert reply.usage.input_tokens == 200
    last = server.requests[1]["messages"][-1]
    assert last["role"] == "assistant"
    assert [block["type"] for block in last["content"]] == ["thinking", "text"]


async def test_what_goes_into_the_cache_has_its_own_price() -> None:
    price = Price(input=1.0, cached_input=0.1, cache_write=1.25, output=10.0)
    async with openai_server([Reply(text="ok", cache_written=30)]) as server:
        client = model(server.base_url, price=price)
        used = (await client.complete(REQUEST)).usage
        await client.close()
    counts = (used.input_tokens, used.cached_input_tokens, used.cache_write_tokens)
    assert counts == (100, 40, 30)
    assert used.cost_usd == pytest.approx((30 * 1.0 + 40 * 0.1 + 30 * 1.25 + 10 * 10.0) / 1e6)


async def test_an_answer_that_comes_whole_is_understood() -> None:
    whole = {
        "type": "message",
        "content": [
            {"type": "text", "text": "Now."},
            {"type": "tool_use", "id": "t1", "name": "wait", "input": {"seconds": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }
    reply = http(json.dumps(whole).encode(), "application/json")
    async with openai_server([reply]) as server:
        client = model(server.base_url)
        answer = await client.complete(REQUEST)
        await client.close()
    assert (answer.text, json.loads(answer.tool_calls[0].arguments)) == ("Now.", {"seconds": 1})
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 3)


def test_an_address_with_or_without_its_version_is_the_same() -> None:
    for url in ("https://h/anthropic", "https://h/anthropic/v1", "https://h/anthropic/v1/messages"):
        endpoint = endpoint_for(url, "m", "messages")
        assert AnthropicModel("m", endpoint=endpoint)._base_url == "https://h/anthropic"
    assert endpoint_for("https://h/v1/messages", "m").wire is Wire.MESSAGES
    assert endpoint_for("", "claude-sonnet-5-5").wire is Wire.MESSAGES
    assert endpoint_for("", "claude-sonnet-5-5", "chat").wire is Wire.CHAT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 40) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "index", "delta", "text", "thinking", "signature", "usage", "id"),
                    *("content_block", "name", "input", "partial_json", "message", "stop_reason"),
                ]
            ),
            inner
            | st.sampled_from(
                ["text_delta", "tool_use", "thinking", "input_json_delta", "signature_delta"]
            ),
            max_size=5,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "odd"]
)


@given(events=st.lists(st.tuples(KINDS, JSON), max_size=8))
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_an_event_is_read_as_text_calls_reasoning_and_counts(
    events: list[tuple[str, object]],
) -> None:
    failures = Failures("m", "here", 1.0, sdk="anthropic")
    answer = Answer(Gathering(failures, None))
    for kind, event in events:
        answer.take(kind, event)
    try:
        reply = answer.finish(failures)
    except ModelError:
        return
    assert isinstance(reply.text, str)
    assert reply.usage.input_tokens >= 0
    for call in reply.tool_calls:
        assert call.name
        assert call.call_id
        assert isinstance(call.arguments, str)
    json.dumps(reply.reasoning)
