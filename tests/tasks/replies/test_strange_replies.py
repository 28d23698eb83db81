"""A whole turn with a model whose replies are legal JSON and nothing else about them is right."""

import json
from typing import Any

import pytest

from agent.models.openai import OpenAIModel
from agent.protocol import ToolCallRequested, encode
from tests.loop.paper_phone import PaperPhone, button, field
from tests.openai_server import Reply, Tool, openai_server, tool
from tests.tasks.context import MemoryContext
from tests.tasks.counter import results
from tests.tasks.scripted import task

FINISH = Reply(tools=(tool("finish", success=True, summary="Done."),))


async def played(*replies: Reply) -> tuple[PaperPhone, MemoryContext, list[dict[str, Any]]]:
    """Run a turn on these replies, then a finish; every event of it can be stored."""
    left = [*replies, FINISH]
    phone = PaperPhone(lambda: [field("Note", 0.3), button("Lamp", 0.5)])
    async with openai_server(lambda _request: left.pop(0)) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, phone, goal="open the lamp")
        end = await task().run(context)
        await model.close()
    assert (end.completed, end.message) == (True, "Done.")
    for event in context.events:
        encode(event).decode("utf-8")
    return phone, context, server.requests


async def test_ids_that_repeat_are_made_different_and_each_call_has_its_result() -> None:
    lamp = {"element": 2}
    replies = [Reply(tools=(Tool("click_element", json.dumps(lamp), call_id="same"),))] * 2
    phone, context, requests = await played(*replies)
    assert phone.done == ["tap Lamp"] * 2
    ids = [m.call_id for m in context.of(ToolCallRequested) if isinstance(m, ToolCallRequested)]
    assert len(set(ids)) == len(ids)
    said = requests[-1]["messages"]
    called = [c["id"] for m in said for c in m.get("tool_calls") or ()]
    answered = [m["tool_call_id"] for m in said if m["role"] == "tool"]
    assert called == answered


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (Tool("click_element", '{"element": 2}{"element": 3}'), "not valid JSON"),
        (Tool("click_element", '{"element": 2, "expected": "on'), "break off inside a text"),
        (Tool("click_element", "[2]"), "one JSON object"),
        (Tool("click_element", '{"element": 99}'), "FAILED"),
        (Tool("click_element", '{"element": 1e400}'), "FAILED"),
        (Tool("click_element", "[" * 50_000), "not valid JSON"),
        (Tool("fly\x1b[2J\u202e", "{}"), "there is no tool"),
        (Tool("x" * 5_000, "{}"), "there is no tool"),
        (Tool("type_text", json.dumps({"text": "a\ud800b", "element": 1})), "FAILED"),
        (Tool("type_text", json.dumps({"text": "x" * 150_000, "element": 1})), "too many"),
    ],
    ids=[
        *("two objects", "half an object", "a list", "no such element", "no number", "deep"),
        *("control characters", "a long name", "half a character", "a long text"),
    ],
)
async def test_a_call_that_cannot_be_carried_out_is_said_and_the_turn_goes_on(
    call: Tool, told: str
) -> None:
    phone, context, requests = await played(Reply(tools=(call,), piece=20_000))
    assert all(not done.startswith("type") for done in phone.done)
    assert told in results(context)[0]
    assert "\x1b" not in json.dumps(requests[-1], ensure_ascii=False)
    assert "\u202e" not in json.dumps(requests[-1], ensure_ascii=False)


async def test_half_a_character_in_what_a_model_says_ends_nothing() -> None:
    said = Reply(text="I \ud800 wait \x1b[31m", tools=(tool("wait", seconds=0),))
    _, context, requests = await played(said)
    assert requests[-1]["messages"][-3]["content"] == "I  wait"
    assert context.deltas[-1].isprintable()
