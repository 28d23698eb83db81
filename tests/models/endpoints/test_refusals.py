"""Endpoints that refuse, send on elsewhere, or answer without end."""

import gzip
import time
import tracemalloc
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from agent.errors import ModelError
from agent.models.wires.transport import MAX_ANSWER_BYTES
from tests.models.asking import (
    END,
    KEY,
    ask,
    ask_at,
    chunk,
    http,
    refusal,
    reply_with_status,
    stream,
)
from tests.openai_server import Reply, openai_server


@pytest.mark.parametrize(
    "reply",
    [
        reply_with_status(
            {"error": {"message": "8192 tokens", "code": "context_length_exceeded"}}, "400 Bad"
        ),
        reply_with_status(
            {"error": {"message": "too big", "type": "exceed_context_size_error"}}, "400 Bad"
        ),
        reply_with_status(
            {"error": {"message": "too big", "type": "request_too_large"}}, "413 Too Large"
        ),
        http(b"<h1>Request Entity Too Large</h1>", "text/html", "413 Too Large"),
        http(stream({"error": {"message": "8192", "code": "context_length_exceeded"}})),
    ],
    ids=["OpenAI", "llama.cpp", "Anthropic", "a gateway", "in the stream"],
)
async def test_llm_errors_a_conversation_that_is_too_long_says_how_to_shorten_it(
    reply: Reply,
) -> None:
    asked: list[dict[str, Any]] = []

    def script(request: dict[str, Any]) -> Reply:
        asked.append(request)
        return reply

    async with openai_server(script) as server:
        with pytest.raises(ModelError) as caught:
            await ask_at(server)
    assert not caught.value.retryable
    assert "compact" in caught.value.remedy
    assert len(asked) == 1, "no parameter is at fault"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "Not Found"}, "Not Found."),
        ({"error": "model not loaded"}, "model not loaded."),
        ({"error": {"message": "\x1b]0;evil\x07\x1b[31mno\u202e such"}}, "no such."),
        ({"error": {"message": f"Bearer {KEY} is unknown"}}, "Bearer [KEY] is unknown."),
    ],
)
async def test_a_refusal_is_quoted_whatever_shape_it_has(body: object, said: str) -> None:
    error = await refusal(reply_with_status(body, "404 Not Found"))
    assert error.message.endswith(f"(HTTP 404): {said}")
    assert not error.retryable


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        (lambda: "17", 17, 17),
        (lambda: formatdate(time.time() + 60, usegmt=True), 30, 60),
        (lambda: "-3", 0, 0),
    ],
    ids=["seconds", "an HTTP date", "the past"],
)
async def test_llm_errors_retry_after_comes_over_the_wire(
    header: Callable[[], str], low: float, high: float
) -> None:
    error = await refusal(reply_with_status({}, "429 Slow Down", f"retry-after: {header()}"))
    assert error.retry_after_s is not None
    assert low <= error.retry_after_s <= high


# --- where an answer leads, and how long it is ----------


@pytest.mark.parametrize("status", ["307 T", "308 P", "302 F"])
async def test_a_conversation_is_not_sent_on_to_another_host(status: str) -> None:
    async with openai_server(lambda _request: http(stream(END))) as other:
        away = http(b"", "text/plain", status, f"location: {other.base_url}/chat/completions")
        error = await refusal(away)
        assert other.requests == []
        assert other.headers == []
    assert not error.retryable
    assert "no conversation goes there" in error.message
    assert "model.base_url" in error.remedy


async def test_an_address_that_only_moved_on_its_own_host_is_followed() -> None:
    left = [http(b"", "text/plain", "307 T", "location: /v1/chat/completions")]

    def script(_request: dict[str, Any]) -> Reply:
        return left.pop() if left else http(stream(chunk({"content": "Here."}), END))

    async with openai_server(script) as server:
        assert (await ask_at(server)).text == "Here."
        assert server.headers[1]["authorization"] == f"Bearer {KEY}"


async def test_an_endpoint_that_sends_calls_round_in_a_circle_is_not_asked_again() -> None:
    error = await refusal(http(b"", "text/plain", "307 T", "location: /v1/chat/completions"))
    assert not error.retryable
    assert "in a loop" in error.message


async def test_a_packed_answer_is_unpacked() -> None:
    packed = gzip.compress(stream(chunk({"content": "small"}), END))
    assert (
        await ask(http(packed, "text/event-stream", "200 OK", "content-encoding: gzip"))
    ).text == "small"
    lie = http(stream(END), "text/event-stream", "200 OK", "content-encoding: gzip")
    assert "cannot be decompressed" in (await refusal(lie)).message


async def test_an_answer_that_unpacks_without_end_is_cut_off() -> None:
    bomb = gzip.compress(b"data: " + b"a" * (8 * MAX_ANSWER_BYTES))
    tracemalloc.start()
    try:
        error = await refusal(http(bomb, "text/event-stream", "200 OK", "content-encoding: gzip"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "did not stop answering" in error.message
    assert peak < 6 * MAX_ANSWER_BYTES, f"{peak:,} bytes were held"


async def test_only_the_beginning_of_a_long_refusal_is_read() -> None:
    error = await refusal(http(b"no " * 10_000_000, "text/html", "500 Oops"))
    assert error.status == 500
    assert len(error.message) < 500


async def test_a_gateways_page_is_quoted_without_its_markup() -> None:
    page = b"<html><head><title>x</title></head><body><h1>502 Bad Gateway</h1>nginx</body></html>"
    error = await refusal(http(page, "text/html", "502 Bad Gateway"))
    assert error.message == "The model endpoint failed (HTTP 502): 502 Bad Gateway nginx."
    assert error.retryable
