"""Ask an endpoint that plays one answer, in bytes, and give what the client made of it."""

import json
from typing import Any

import pytest

from agent.errors import ModelError
from agent.models.clients import client_class
from agent.models.endpoint import Endpoint
from agent.models.model import Message, MessageKind, ModelReply, ModelRequest, Role
from agent.settings import Wire
from tests.openai_server import OpenAIServer, Reply, openai_server

KEY = "sk-loopback-0123456789"
REQUEST = ModelRequest(
    messages=(Message(role=Role.USER, kind=MessageKind.GOAL, text="Do it."),), tools=()
)
WAIT = {"name": "wait", "arguments": '{"seconds": 1}'}
FINISH = {"name": "finish", "arguments": "{}"}


def chunk(delta: object, finish: object = None, **more: object) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice], **more}


def call(function: object, **more: object) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": 0, "id": "c1", "function": function, **more}]})


END = chunk({}, "tool_calls")


def http(
    body: bytes, kind: str = "text/event-stream", status: str = "200 OK", *headers: str
) -> Reply:
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}"]
    return Reply(raw="\r\n".join([*lines, *headers, "", ""]).encode() + body)


def stream(*events: object, done: bool = True) -> bytes:
    lines = [json.dumps(event) for event in events] + ["[DONE]"] * done
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def reply_with_status(answer: object, status: str, *headers: str) -> Reply:
    return http(json.dumps(answer).encode(), "application/json", status, *headers)


async def ask(reply: Reply, wire: Wire = Wire.CHAT, timeout_s: float = 20.0) -> ModelReply:
    async with openai_server(lambda _request: reply) as server:
        return await ask_at(server, wire, timeout_s)


async def ask_at(
    server: OpenAIServer, wire: Wire = Wire.CHAT, timeout_s: float = 20.0
) -> ModelReply:
    endpoint = Endpoint(base_url=server.base_url, wire=wire)
    model = client_class(wire)("m", api_key=KEY, endpoint=endpoint, timeout_s=timeout_s)
    try:
        return await model.complete(REQUEST)
    finally:
        await model.close()


async def refusal(reply: Reply, wire: Wire = Wire.CHAT, timeout_s: float = 20.0) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(reply, wire, timeout_s)
    return caught.value


def calls(reply: ModelReply) -> list[tuple[str, str]]:
    return [(one.name, one.arguments) for one in reply.tool_calls]
