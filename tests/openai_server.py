"""An endpoint for tests that speaks every wire: real HTTP on loopback, scripted replies, faults.

Not a fake of an SDK: the openai and anthropic SDKs connect to it as to any endpoint. A script is a
list of `Reply`, or a function from the request's JSON body to a `Reply`, so that a test may answer
by what the model was shown. Every request is kept, with its headers, in `requests`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """One tool call of a reply; arguments may be any text, also broken JSON."""

    name: str
    arguments: str
    call_id: str = ""


def tool(name: str, **arguments: object) -> Tool:
    """Make a tool call with good arguments."""
    return Tool(name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True)
class Reply:
    text: str = ""
    tools: tuple[Tool, ...] = ()
    status: int = 200
    error_code: str = ""
    error_param: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    cut_after: int | None = None
    """Close the connection after so many chunks."""
    stall_after: int | None = None
    """Say nothing more after so many chunks, and keep the connection."""
    silent: bool = False
    """Accept the request and never answer."""
    hesitate_s: float = 0.0
    """Say nothing for so long, then answer."""
    garbage: bytes = b""
    """Send this as the body instead."""
    raw: bytes = b""
    """Send this as the whole answer, status line and all, and hang up."""
    finish: str = ""
    """Why it ended, where that is not for its calls or its end."""
    usage: bool = True
    prompt_tokens: int = 100
    piece: int = 7
    """Characters of text or arguments in one chunk."""
    thinking: str = ""
    """What the model thinks first, on the messages wire."""
    signature: str = "signed"
    stop_reason: str = ""
    """How the messages wire says that the answer ended; empty for what suits it."""
    cache_written: int = 0
    cut_bytes: int | None = None
    """Close the connection after so many bytes of the body."""


Script = Callable[[dict[str, Any]], Reply]


@dataclass
class OpenAIServer:
    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    models: tuple[str, ...] = ("gpt-5-mini", "other")
    models_page: bytes = b""  # What stands where the list of models should, when something does.
    pages: dict[str, bytes] = field(default_factory=dict)
    """What other pages say, by path; whatever is asked or posted there."""
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, request after request."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if first.startswith("GET /v1/models"):
            self.headers.append(headers)
            listed = [
                {"id": name, "object": "model", "created": 1, "owned_by": "t"}
                for name in self.models
            ]
            body = json.dumps({"object": "list", "data": listed}).encode()
            await _answer(writer, 200, {}, self.models_page or body)
            return True
        page = self.pages.get(first.split(" ")[1].partition("?")[0])
        if page is not None:
            await _answer(writer, 200, {}, page)
            return True
        path = first.split(" ")[1] if first.startswith("POST ") else ""
        if path not in {"/v1/responses", "/v1/chat/completions", "/v1/messages"}:
            await _answer(writer, 404, {}, _error("no such page", "", ""))
            return True
        request = json.loads(body)
        self.requests.append(request)
        self.headers.append(headers)
        reply = self.script(request)
        if reply.silent:
            await asyncio.Event().wait()
        await asyncio.sleep(reply.hesitate_s)
        if reply.status != 200:
            error = _error(f"scripted failure {reply.status}", reply.error_code, reply.error_param)
            await _answer(writer, reply.status, dict(reply.headers), error)
            return True
        if reply.raw:
            writer.write(reply.raw)
            await writer.drain()
            return False
        if reply.garbage:
            await _answer(writer, 200, {}, reply.garbage)
            return True
        await self._stream(writer, request, reply, path)
        return False

    async def _stream(
        self, writer: asyncio.StreamWriter, request: dict[str, Any], reply: Reply, path: str
    ) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        wants_usage = bool((request.get("stream_options") or {}).get("include_usage"))
        match path:
            case "/v1/responses":
                chunks = _response_events(request, reply, len(self.requests))
            case "/v1/messages":
                chunks = _message_events(request, reply, len(self.requests))
            case _:
                chunks = _chunks(request, reply, len(self.requests), wants_usage)
        if reply.cut_bytes is not None:
            whole = b"".join(_line(chunk, path) for chunk in chunks)
            writer.write(whole[: reply.cut_bytes])
            await writer.drain()
            return
        for sent, chunk in enumerate(chunks):
            if reply.cut_after is not None and sent >= reply.cut_after:
                return
            if reply.stall_after is not None and sent >= reply.stall_after:
                await asyncio.Event().wait()
            writer.write(_line(chunk, path))
            await writer.drain()
        if path == "/v1/chat/completions":
            writer.write(b"data: [DONE]\n\n")
        await writer.drain()

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def openai_server(
    script: Script | Sequence[Reply], host: str = "127.0.0.1"
) -> AsyncIterator[OpenAIServer]:
    """Run an endpoint on a free port of loopback, or of another address of this machine."""
    endpoint = OpenAIServer(script if callable(script) else _played(script))
    server = await asyncio.start_server(endpoint.handle, host, 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    try:
        yield endpoint
    finally:
        server.close()
        await endpoint.close()


def _played(replies: Sequence[Reply]) -> Script:
    left = list(replies)

    def next_reply(_request: dict[str, Any]) -> Reply:
        assert left, "the script has no reply left"
        return left.pop(0)

    return next_reply


def _chunks(
    request: dict[str, Any], reply: Reply, number: int, wants_usage: bool
) -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": request["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": part}) for part in _parts(reply.text, reply.piece)]
    for index, call in enumerate(reply.tools):
        call_id = call.call_id or f"call_{number}_{index}"
        function = {"name": call.name, "arguments": ""}
        start = {"index": index, "id": call_id, "type": "function", "function": function}
        chunks.append(chunk({"tool_calls": [start]}))
        chunks += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
            for part in _parts(call.arguments, reply.piece)
        ]
    chunks.append(chunk({}, reply.finish or ("tool_calls" if reply.tools else "stop")))
    if reply.usage and wants_usage:
        usage = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": 10,
            "total_tokens": reply.prompt_tokens + 10,
            "prompt_tokens_details": {"cached_tokens": 40},
        }
        chunks.append(chunk({}) | {"choices": [], "usage": usage})
    return chunks


def _response_events(request: dict[str, Any], reply: Reply, number: int) -> list[dict[str, Any]]:
    """Return the events of the responses wire: what OpenAI sends, without what nobody reads."""
    response: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": request["model"],
        "output": [],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    events: list[dict[str, Any]] = [{"type": "response.created", "response": response}]
    at = 0
    if reply.text:
        events += [
            {
                "type": "response.output_text.delta",
                "item_id": "m",
                "output_index": 0,
                "content_index": 0,
                "delta": part,
                "logprobs": [],
            }
            for part in _parts(reply.text, reply.piece)
        ]
        at = 1
    for index, call in enumerate(reply.tools, start=at):
        item = {
            "type": "function_call",
            "id": f"fc_{index}",
            "call_id": call.call_id or f"call_{number}_{index}",
            "name": call.name,
            "arguments": "",
        }
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        events += [
            {
                "type": "response.function_call_arguments.delta",
                "item_id": f"fc_{index}",
                "output_index": index,
                "delta": part,
            }
            for part in _parts(call.arguments, reply.piece)
        ]
        whole = {**item, "arguments": call.arguments}
        events.append({"type": "response.output_item.done", "output_index": index, "item": whole})
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 110,
    }
    ended = {**response, "status": "completed", "usage": usage if reply.usage else None}
    events.append({"type": "response.completed", "response": ended})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


def _message_events(request: dict[str, Any], reply: Reply, number: int) -> list[dict[str, Any]]:
    """Return the events of Anthropic's messages wire, as its documentation has them."""
    counts = {
        "input_tokens": reply.prompt_tokens - 40 - reply.cache_written,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": reply.cache_written,
        "output_tokens": 1,
    }
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counts if reply.usage else None,
    }
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.thinking:
        deltas: list[dict[str, Any]] = [
            {"type": "thinking_delta", "thinking": part}
            for part in _parts(reply.thinking, reply.piece)
        ]
        deltas.append({"type": "signature_delta", "signature": reply.signature})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        parts = _parts(reply.text, reply.piece)
        deltas = [{"type": "text_delta", "text": part} for part in parts]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for index, call in enumerate(reply.tools):
        start = {
            "type": "tool_use",
            "id": call.call_id or f"toolu_{number}_{index}",
            "name": call.name,
            "input": {},
        }
        parts = _parts(call.arguments, reply.piece)
        blocks.append((start, [{"type": "input_json_delta", "partial_json": p} for p in parts]))
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for at, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": at, "content_block": start})
        events += [{"type": "content_block_delta", "index": at, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": at})
    reason = reply.stop_reason or ("tool_use" if reply.tools else "end_turn")
    details = {"type": "refusal", "explanation": reply.text} if reason == "refusal" else None
    ended = {"stop_reason": reason, "stop_sequence": None, "stop_details": details}
    events.append(
        {
            "type": "message_delta",
            "delta": ended,
            "usage": {"output_tokens": 10} if reply.usage else None,
        }
    )
    return [*events, {"type": "message_stop"}]


def _line(chunk: dict[str, Any], path: str) -> bytes:
    """Return one event of a stream; the messages wire names each."""
    name = f"event: {chunk['type']}\n" if path == "/v1/messages" else ""
    return f"{name}data: {json.dumps(chunk)}\n\n".encode()


def _parts(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _error(message: str, code: str, param: str) -> bytes:
    error = {"message": message, "type": code or "error", "code": code or None}
    return json.dumps({"error": error | {"param": param or None}}).encode()


async def _answer(
    writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes
) -> None:
    lines = [f"HTTP/1.1 {status} Scripted", "content-type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"content-length: {len(body)}", "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    await writer.drain()
