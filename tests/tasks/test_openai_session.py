"""A whole turn driven by an endpoint: the openai SDK, real HTTP, streaming, and its failures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent.errors import ModelError
from agent.models.openai import OpenAIModel
from agent.protocol import StreamError, ToolCallFinished
from tests.loop.paper_phone import PaperPhone, button
from tests.openai_server import Reply, Tool, openai_server, tool
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import task


def lamp() -> PaperPhone:
    """Make a phone with one switch."""
    lit = False

    def on(what: str) -> None:
        nonlocal lit
        if what == "tap Lamp":
            lit = not lit

    return PaperPhone(lambda: [button("Lamp", 0.4, checkable=True, checked=lit)], on)


def think(request: dict[str, Any]) -> Reply:
    """Answer as a model would, by the newest screen alone."""
    screen = request["messages"][-1]["content"]
    found = re.search(r'\[(\d+)\] \S+ "Lamp" \[(\w+)\]', screen)
    assert found, screen
    if found[2] == "CHECKED":
        return Reply(text="It is lit.", tools=(tool("finish", success=True, summary="Lit."),))
    return Reply(text="I switch it on.", tools=(tool("click_element", element=int(found[1])),))


async def test_a_session_runs_over_the_wire_to_its_end() -> None:
    phone = lamp()
    async with openai_server(think) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, phone, goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert (end.completed, end.message) == (True, "Lit.")
    assert phone.done == ["tap Lamp"]
    assert context.session.usage.calls == 2
    assert context.session.usage.input_tokens == 200
    assert context.deltas[-1] == "It is lit."
    roles = [message["role"] for message in server.requests[1]["messages"]]
    assert roles == ["system", "user", "user", "assistant", "tool", "user"]


async def test_failures_that_pass_and_calls_that_cannot_be_read_are_survived() -> None:
    faults = [
        Reply(status=503),
        Reply(status=429, headers=(("retry-after", "9"),)),
        Reply(text="I was just about to", cut_after=2),
        Reply(tools=(Tool("click_element", '{"element": '),)),
        Reply(tools=(tool("fly", to="Mars"),)),
    ]

    def script(request: dict[str, Any]) -> Reply:
        return faults.pop(0) if faults else think(request)

    phone = lamp()
    async with openai_server(script) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, phone, goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert end.completed
    delays = [m.delay_ms for m in context.of(StreamError) if isinstance(m, StreamError)]
    assert delays == [4000, 9000, 16000]
    told = [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    assert "not valid JSON" in told[0]
    assert 'no tool "fly"' in told[1]


async def test_a_refused_key_ends_the_turn_at_once() -> None:
    async with openai_server([Reply(status=401)]) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        with pytest.raises(ModelError) as caught:
            await task().run(MemoryContext(model, lamp()))
        await model.close()
    assert not caught.value.retryable
    assert len(server.requests) == 1
