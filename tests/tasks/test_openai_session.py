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


@pytest.mark.parametrize(
    ("fault", "told", "retried"),
    [
        (Reply(status=429), "429", True),
        (Reply(status=503), "503", True),
        (Reply(text="I was just about to", cut_after=2), "broke off", True),
        (Reply(tools=(Tool("click_element", '{"element": '),)), "not valid JSON", False),
        (Reply(tools=(tool("fly", to="Mars"),)), 'no tool "fly"', False),
    ],
    ids=["429", "503", "cut stream", "malformed tool JSON", "unknown tool"],
)
async def test_llm_errors_each_failure_is_told_and_the_work_goes_on(
    fault: Reply, told: str, retried: bool
) -> None:
    faults = [fault]

    def script(request: dict[str, Any]) -> Reply:
        return faults.pop(0) if faults else think(request)

    phone = lamp()
    async with openai_server(script) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, phone, goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert end.completed
    assert phone.done == ["tap Lamp"], "nothing was done twice"
    errors = [m.message for m in context.of(StreamError) if isinstance(m, StreamError)]
    results = [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    assert len(errors) == retried
    assert any(told in text for text in (errors if retried else results)), (errors, results)


async def test_llm_errors_a_used_up_quota_ends_the_turn_at_once() -> None:
    spent = Reply(status=429, error_code="insufficient_quota")
    async with openai_server([spent]) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        with pytest.raises(ModelError) as caught:
            await task().run(MemoryContext(model, lamp()))
        await model.close()
    assert not caught.value.retryable
    assert len(server.requests) == 1


async def test_a_refused_key_ends_the_turn_at_once() -> None:
    async with openai_server([Reply(status=401)]) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        with pytest.raises(ModelError) as caught:
            await task().run(MemoryContext(model, lamp()))
        await model.close()
    assert not caught.value.retryable
    assert len(server.requests) == 1


async def test_llm_errors_silence_within_the_time_out_is_borne_and_beyond_it_is_tried_again() -> (
    None
):
    """40 s of 45 s, scaled down: the client waits; longer is a failure that may pass."""
    faults = [Reply(silent=True), Reply(text="", tools=(tool("wait", seconds=0),), hesitate_s=0.2)]

    def script(request: dict[str, Any]) -> Reply:
        return faults.pop(0) if faults else think(request)

    async with openai_server(script) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k", timeout_s=3.0)
        context = MemoryContext(model, lamp(), goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert end.completed
    first, *_ = [m for m in context.of(StreamError) if isinstance(m, StreamError)]
    assert "no answer within 3 s" in first.message


async def test_llm_errors_five_failures_in_a_row_end_the_turn_with_the_last_ones_words() -> None:
    async with openai_server([Reply(status=503)] * 5) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, lamp())
        with pytest.raises(ModelError, match="failed 5 times in a row"):
            await task().run(context)
        await model.close()
    assert len(server.requests) == 5
    assert len(context.of(StreamError)) == 4


async def test_several_calls_at_once_are_borne_and_the_first_counts() -> None:
    calls = (tool("click_element", element=1), tool("finish", success=True, summary="x"))
    first = [Reply(tools=calls)]

    def script(request: dict[str, Any]) -> Reply:
        return first.pop(0) if first else think(request)

    phone = lamp()
    async with openai_server(script) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, phone, goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert (end.completed, phone.done) == (True, ["tap Lamp"])
    assert "1 other calls were left out" in server.requests[1]["messages"][-2]["content"]


async def test_the_beginning_of_the_conversation_stays_as_it_was_so_that_caches_hit() -> None:
    async with openai_server(think) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        await task().run(MemoryContext(model, lamp(), goal="switch the lamp on"))
        await model.close()
    first, second = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert server.requests[0]["tools"] == server.requests[1]["tools"]
