"""What every wire promises: the same answer, the same failures, the same bounds."""

import asyncio
import gzip
import json
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ModelError
from agent.models.clients import Client, client_class
from agent.models.endpoint import Endpoint
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
from agent.models.retry import complete_with_retries
from agent.models.wires import WIRES
from agent.models.wires.transport import MAX_ANSWER_BYTES
from agent.settings import KEYS, Wire
from agent.tools.registry import schemas
from tests.models.asking import KEY, ask, ask_at, http, refusal
from tests.openai_server import Reply, Tool, openai_server, tool

WIRE = pytest.mark.parametrize("wire", list(Wire))
CALL = ToolCall(call_id="c1", name="wait", arguments='{"seconds":1}')
CONVERSATION = (
    Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text="Be good."),
    Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),
    Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, text="I wait.", tool_calls=(CALL,)),
    Message(role=Role.TOOL, kind=MessageKind.RESULT, text="Waited.", call_id="c1"),
    Message(role=Role.USER, kind=MessageKind.OBSERVATION, text="Screen", image=b"\x89PNG"),
)
REQUEST = ModelRequest(messages=CONVERSATION, tools=schemas())


def client(wire: Wire, url: str, **options: object) -> Client:
    endpoint = Endpoint(base_url=url, wire=wire)
    return client_class(wire)("m", endpoint=endpoint, api_key=KEY, **options)


@WIRE
async def test_text_calls_usage_and_cost_come_back(wire: Wire) -> None:
    calls = (tool("wait", seconds=2), tool("click_element", element=3, expected="größer"))
    price = Price(input=1.0, cached_input=0.5, output=10.0)
    async with openai_server([Reply(text="I wait a little.", tools=calls, piece=3)]) as server:
        model = client(wire, server.base_url, price=price)
        seen: list[str] = []
        reply = await model.complete(REQUEST, seen.append)
        await model.close()
    assert (reply.text, seen[0], seen[-1]) == ("I wait a little.", "I w", "I wait a little.")
    assert [(c.name, json.loads(c.arguments)) for c in reply.tool_calls] == [
        (call.name, json.loads(call.arguments)) for call in calls
    ]
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens) == (100, 40)
    assert (reply.usage.output_tokens, reply.usage.calls) == (10, 1)
    assert reply.usage.cost_usd == pytest.approx((60 * 1.0 + 40 * 0.5 + 10 * 10.0) / 1e6)
    assert reply.finish is FinishReason.TOOL_CALLS


@WIRE
async def test_a_picture_goes_out_only_where_the_model_sees(wire: Wire) -> None:
    async with openai_server([Reply(text="ok"), Reply(text="ok")]) as server:
        for vision in (False, True):
            model = client(wire, server.base_url, vision=vision)
            await model.complete(REQUEST)
            await model.close()
    assert ["iVBO" in json.dumps(request) for request in server.requests] == [False, True]


@WIRE
async def test_a_call_is_required_where_the_request_asks_for_one(wire: Wire) -> None:
    async with openai_server([Reply(text="ok"), Reply(text="ok")]) as server:
        model = client(wire, server.base_url)
        for choice in (ToolChoice.AUTO, ToolChoice.REQUIRED):
            await model.complete(
                ModelRequest(messages=CONVERSATION, tools=schemas(), tool_choice=choice)
            )
        await model.close()
    free, bound = (request.get("tool_choice") for request in server.requests)
    assert free is None
    assert bound in ("required", {"type": "any"})


@WIRE
@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        *((401, False), (402, False), (403, False), (404, False), (413, False)),
        *((429, True), (500, True), (502, True), (503, True), (504, True), (529, True)),
    ],
)
async def test_a_status_says_whether_to_ask_again(wire: Wire, status: int, retryable: bool) -> None:
    error = await refusal(Reply(status=status, headers=(("retry-after", "7"),)), wire)
    assert (error.retryable, error.status) == (retryable, status)
    assert error.retry_after_s == 7.0
    assert KEY not in str(error)
    assert error.remedy or retryable


@WIRE
async def test_every_attempt_is_one_request_and_the_wait_is_what_was_asked_for(wire: Wire) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def told(_error: ModelError, _number: int, _wait_s: float) -> None:
        return None

    replies = [Reply(status=529, headers=(("retry-after", "21"),)), Reply(text="Now.")]
    async with openai_server(replies) as server:
        model = client(wire, server.base_url)
        reply = await complete_with_retries(
            model, REQUEST, on_text=None, on_failure=told, sleep=sleep, random=lambda: 0.5
        )
        await model.close()
    assert (reply.text, waits, len(server.requests)) == ("Now.", [21.0], 2)


@WIRE
async def test_an_answer_that_is_cut_at_any_byte_is_asked_for_again(wire: Wire) -> None:
    whole = Reply(text="I wait.", tools=(tool("wait", seconds=2),), thinking="Hm.", piece=50)
    sizes: list[int] = []
    async with openai_server(lambda _request: whole) as server:
        reply = await ask_at(server, wire)
        assert [call.name for call in reply.tool_calls] == ["wait"]
    lengths = range(0, 4000, 61)
    for length in lengths:
        cut = Reply(text=whole.text, tools=whole.tools, thinking="Hm.", piece=50, cut_bytes=length)
        try:
            reply = await ask(cut, wire)
        except ModelError as error:
            assert error.retryable, (length, error)
            sizes.append(length)
        else:
            # All of it that matters had come.
            assert [call.name for call in reply.tool_calls] == ["wait"]
            assert json.loads(reply.tool_calls[0].arguments) == {"seconds": 2}
    assert len(sizes) > 5


@WIRE
async def test_silence_ends_in_a_time_out(wire: Wire) -> None:
    for reply in (Reply(silent=True), Reply(text="a longer text", stall_after=2)):
        error = await refusal(reply, wire, timeout_s=1.5)
        assert error.retryable
        assert "no answer within 1.5 s" in error.message


@WIRE
async def test_a_call_that_is_cancelled_ends_at_once(wire: Wire) -> None:
    arrived = asyncio.Event()

    def script(_request: dict[str, Any]) -> Reply:
        arrived.set()
        return Reply(silent=True)

    async with openai_server(script) as server:
        model = client(wire, server.base_url)
        asking = asyncio.create_task(model.complete(REQUEST))
        await asyncio.wait_for(arrived.wait(), 60)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await model.close()


@WIRE
@pytest.mark.parametrize(
    "body",
    [
        *(b"<html>hello</html>", b"data: <html>\n\n", b'data: {"foo": 1}\n\n', b"data: 5\n\n"),
        *(b'{"a": 1}', b"x" * 999, b"event: ping\ndata: {bad}\n\n"),
    ],
)
async def test_something_that_is_no_endpoint_is_not_asked_again(wire: Wire, body: bytes) -> None:
    error = await refusal(Reply(garbage=body), wire)
    assert not error.retryable, error
    assert "base_url" in error.remedy
    assert "127.0.0.1" in error.message


@WIRE
async def test_a_wire_that_answers_to_another_is_not_asked_again(wire: Wire) -> None:
    spoken = {
        Wire.CHAT: b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\n'
        b"data: [DONE]\n\n",
        Wire.RESPONSES: b'data: {"type": "response.completed", "response": {"output": []}}\n\n',
        Wire.MESSAGES: b'event: message_stop\ndata: {"type": "message_stop"}\n\n',
    }
    for other, body in spoken.items():
        if {wire, other} & {Wire.MESSAGES} and other is Wire.RESPONSES:
            # Nothing in it can be told from an answer that broke off: it is tried again.
            continue
        if other is not wire:
            assert not (await refusal(http(body), wire)).retryable, other


@WIRE
async def test_an_answer_without_end_is_cut_off(wire: Wire) -> None:
    line = {
        Wire.CHAT: b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n',
        Wire.RESPONSES: b'data: {"type": "response.output_text.delta", "delta": "%s"}\n\n',
        Wire.MESSAGES: b'event: content_block_delta\ndata: {"type": "content_block_delta", '
        b'"index": 0, "delta": {"type": "text_delta", "text": "%s"}}\n\n',
    }[wire]
    error = await refusal(http(line % (b"a" * 1000) * 500), wire)
    assert "did not stop answering" in error.message
    bomb = gzip.compress(b"data: " + b"a" * (2 * MAX_ANSWER_BYTES))
    packed = http(bomb, "text/event-stream", "200 OK", "content-encoding: gzip")
    assert "did not stop answering" in (await refusal(packed, wire)).message


@WIRE
async def test_lines_without_an_event_between_them_do_not_hold_up_the_loop(wire: Wire) -> None:
    # Both SDKs put the lines of one event together by copying all of them at each.
    async with asyncio.timeout(60):
        error = await refusal(http(b"data: a\n" * 500_000), wire)
    assert "did not stop answering" in error.message


@WIRE
@pytest.mark.parametrize("status", ["307 T", "308 P", "302 F"])
async def test_no_conversation_and_no_key_goes_to_another_host(wire: Wire, status: str) -> None:
    async with openai_server(lambda _request: Reply(text="mine")) as other:
        path = WIRES[wire].path
        away = http(b"", "text/plain", status, f"location: {other.base_url}{path}")
        error = await refusal(away, wire)
        assert (other.requests, other.headers) == ([], [])
    assert not error.retryable
    assert "no conversation goes there" in error.message


@WIRE
async def test_what_an_answer_without_usage_used_is_estimated_so_that_budgets_hold(
    wire: Wire,
) -> None:
    said = "eight or " * 40
    async with openai_server([Reply(text=said, usage=False)]) as server:
        model = client(wire, server.base_url, price=Price(input=1_000_000.0, output=10.0))
        reply = await model.complete(REQUEST)
        await model.close()
    assert reply.usage.output_tokens == len(said) // 4
    assert reply.usage.input_tokens > 100
    assert reply.usage.cost_usd > 100


@WIRE
async def test_malformed_arguments_come_through_for_the_registry_to_refuse(wire: Wire) -> None:
    reply = await ask(Reply(tools=(Tool("wait", '{"seconds": '),)), wire)
    assert reply.tool_calls[0].arguments == '{"seconds": '


@WIRE
async def test_the_models_of_an_endpoint_are_listed(wire: Wire) -> None:
    async with openai_server([]) as server:
        model = client(wire, server.base_url)
        assert await model.known_models() == ("gpt-5-mini", "other")
        await model.close()


@WIRE
async def test_no_environment_moves_the_endpoint_or_adds_a_header(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prefix in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{prefix}_BASE_URL", "http://127.0.0.1:9/elsewhere")
        monkeypatch.setenv(f"{prefix}_API_KEY", "sk-not-this-one")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "not-this-one")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-added: not-this-one")
    monkeypatch.setenv("OPENAI_ORG_ID", "not-this-one")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "not-this-one")
    async with openai_server([Reply(text="ok")]) as server:
        assert (await ask_at(server, wire)).text == "ok"
    for headers in server.headers:
        assert not [name for name, value in headers.items() if "not-this-one" in value]
        assert headers["authorization"] == f"Bearer {KEY}"


def test_a_new_wire_is_a_folder_and_a_row() -> None:
    assert set(WIRES) == set(Wire)
    for wire in Wire:
        made = client_class(wire)
        assert made.__module__.startswith(WIRES[wire].module)  # type: ignore[attr-defined]
    # What may be set follows from the table.
    hint = get_args(KEYS["model.wire"].type)
    pattern = next(meta.pattern for meta in hint if getattr(meta, "pattern", None))
    assert pattern == f"^(auto|{'|'.join(Wire)})$"
    assert get_type_hints(Endpoint)["wire"] is Wire


@WIRE
@given(events=st.lists(st.binary(max_size=60), max_size=6))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_whatever_bytes_come_are_an_answer_or_a_model_error(
    wire: Wire, events: list[bytes]
) -> None:
    body = b"".join(b"event: message_delta\ndata: " + event + b"\n\n" for event in events)

    async def one() -> None:
        try:
            await ask(http(body), wire)
        except ModelError:
            return

    asyncio.run(one())
