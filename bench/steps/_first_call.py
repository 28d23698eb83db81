"""What the first call of a session sends on each wire, part by part, in o200k tokens.

The request is a real task's, for a model that sees pictures, so that every tool for the phone is in
it. Each wire's own client writes it to a loopback endpoint, and the body that arrives there is
counted. The screen and the list of installed apps are the phone's and are left out.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.models.clients import client_class
from agent.models.endpoint import Endpoint, Provider
from agent.models.model import MessageKind, ModelRequest
from agent.settings import Wire
from agent.store.embedded.sqlite_store import SqliteStore
from bench._tokens import count_tokens
from bench.steps.loop import BenchDevice, KeepingModel, Moment, session_of
from tests.fakes import FakeFleet
from tests.openai_server import Reply, openai_server, tool

GOAL = (
    "Read which of the switches on the Battery and Display pages of Settings are on, then send "
    "their names to Grace Okafor with Messages, one a line."
)
_APPS = "\n## Installed apps"


async def first_request(goal: str = GOAL) -> ModelRequest:
    """Return the first request of a session for a goal, for a model that sees pictures."""
    clock, fleet = Moment(), FakeFleet("bench")
    fleet.adopt(BenchDevice(fleet, "bench", seconds=clock.seconds, sees=True))
    model = KeepingModel(1, sees=True)
    with tempfile.TemporaryDirectory() as folder:
        async with SqliteStore.open(Path(folder)) as store:
            await session_of(
                store, Path(folder), fleet, model, serial="bench", clock=clock, goal=goal
            )
    return model.requests[0]


async def first_call(request: ModelRequest, wire: Wire) -> dict[str, int]:
    """Return the tokens of each part of a request as a wire's client sends it."""
    sent = await body(request, wire)
    parts = {f"tool {_name(one)}": count_tokens(_json(one)) for one in sent["tools"]}
    for kind in (MessageKind.INSTRUCTIONS, MessageKind.GOAL):
        texts = [m.text for m in request.messages if m.kind is kind]
        written = json.dumps(sent, ensure_ascii=False)
        assert all(json.dumps(text, ensure_ascii=False)[1:-1] in written for text in texts), kind
        parts[kind.value] = sum(count_tokens(text.partition(_APPS)[0]) for text in texts)
    return parts


async def body(request: ModelRequest, wire: Wire) -> Mapping[str, Any]:
    """Return the body of a request as a wire's client sends it to its provider."""
    async with openai_server(lambda _: Reply(tools=(tool("wait", seconds=1),))) as server:
        # OpenAI's own endpoint is sent the longer schemas of its strict mode.
        provider = Provider.ANTHROPIC if wire is Wire.MESSAGES else Provider.OPENAI
        endpoint = Endpoint(base_url=server.base_url, wire=wire, provider=provider)
        model = client_class(wire)("gpt-5-mini", endpoint=endpoint, api_key="none", vision=True)
        try:
            await model.complete(request)
        finally:
            await model.close()
    return server.requests[0]


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("name") or schema["function"]["name"])


def _json(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
