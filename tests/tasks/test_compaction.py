"""A conversation near its model's window is compacted, and nothing that was to be kept is lost."""

import json
from typing import Any

import pytest

from agent.errors import ModelError
from agent.loop.conversation.history import HistoryLines
from agent.loop.conversation.masking import estimate_tokens
from agent.loop.conversation.memory import Memory
from agent.loop.task_context import Limits
from agent.models.model import MessageKind, ModelReply, ModelRequest
from agent.models.openai import OpenAIModel
from agent.protocol import HistoryCompacted
from agent.records import UiNode, Usage
from tests.loop.paper_phone import PaperPhone, button, node
from tests.openai_server import Reply, openai_server, tool
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, ScriptedModel, Turn, says, scripted, task

WINDOW = 6000
STEPS = 40


class Pages:
    """A book whose every page has a number and a lot of text."""

    def __init__(self) -> None:
        self.page = 1
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> tuple[UiNode, ...]:
        lines = [
            node(f"Page {self.page}, line {at}: {'words ' * 8}", (0.1, at / 20, 0.9, (at + 1) / 20))
            for at in range(12)
        ]
        return (*lines, button("Next", 0.9))

    def on(self, what: str) -> None:
        self.page += what == "tap Next"


NEXT = says("click_element", label="Next")


def reader(steps: int, *first: Turn) -> ScriptedModel:
    """Turn pages, keep a fact in the middle, and sum up when asked to."""
    left: list[Turn] = [
        *first,
        *[NEXT] * 5,
        says("update_plan", plan=[{"step": "read on", "status": "in_progress"}]),
        says("remember", text="The treasure is on page 6"),
        *[NEXT] * (steps - 5),
        DONE,
        DONE,
    ]

    def answer(request: ModelRequest) -> ModelReply:
        if not request.tools:
            used = Usage(calls=1, input_tokens=500, output_tokens=50)
            return ModelReply(text="It read page after page.", usage=used)
        turn = left.pop(0)
        reply = turn(request) if callable(turn) else turn
        assert isinstance(reply, ModelReply)
        return reply

    return scripted(*[answer] * (3 * steps))


def sizes(model: ScriptedModel) -> list[int]:
    return [estimate_tokens(request.messages) for request in model.requests]


async def test_a_goal_of_forty_steps_stays_within_a_small_window() -> None:
    pages, model = Pages(), reader(STEPS)
    limits = Limits(max_steps=STEPS + 5, max_total_steps=200, context_window=WINDOW)
    context = MemoryContext(model, pages.phone, goal="read the book", limits=limits)
    end = await task().run(context)
    assert end.completed
    assert pages.page == STEPS + 1
    compacted = [m for m in context.of(HistoryCompacted) if isinstance(m, HistoryCompacted)]
    assert compacted
    assert all(m.automatic and m.tokens_after < m.tokens_before for m in compacted)
    assert max(sizes(model)) < WINDOW * 9 // 10
    # What it took counts, and the fact, the plan and every word of the operator are still there.
    assert context.session.usage.input_tokens >= 500 * len(compacted)
    newest = [m.text for m in model.requests[-1].messages]
    assert "The treasure is on page 6" in newest[-1]
    assert any("- read the book" in text and "It read page after page." in text for text in newest)
    # The summary was made of the screens themselves.
    [asked, *_] = [r for r in model.requests if not r.tools]
    assert "line 11: words" in asked.messages[1].text
    assert "The treasure is on page 6" in asked.messages[1].text
    # Whoever takes the session up remembers the same.
    memory = Memory("read the book")
    for event in context.events:
        memory.fold(event.msg)
    assert memory.facts == ("The treasure is on page 6",)
    assert any(m.kind is MessageKind.SUMMARY for m in memory.messages)


async def test_what_the_operator_answered_outlives_a_compaction_as_it_was_said() -> None:
    asks = says("ask_user", question="Which edition?", options=["the first"])
    pages, model = Pages(), reader(STEPS, asks)
    limits = Limits(max_steps=STEPS + 5, max_total_steps=200, context_window=WINDOW)
    context = MemoryContext(
        model, pages.phone, goal="read", limits=limits, answer=lambda _: "the one with pictures"
    )
    assert (await task().run(context)).completed
    compacted = [m for m in context.of(HistoryCompacted) if isinstance(m, HistoryCompacted)]
    said = '- asked "Which edition?": the one with pictures'
    assert compacted and all(said in one.text for one in compacted)
    # Whoever takes the session up keeps the same.
    memory = Memory("read")
    for event in context.events:
        memory.fold(event.msg)
    assert said.removeprefix("- ") in memory.words


async def test_without_a_known_window_nothing_is_compacted() -> None:
    pages, model = Pages(), reader(12)
    context = MemoryContext(model, pages.phone, goal="read the book")
    assert (await task().run(context)).completed
    assert not context.of(HistoryCompacted)


async def test_an_endpoint_that_refuses_for_length_teaches_its_window() -> None:
    pages = Pages()
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body)
        size = len(json.dumps(body["messages"])) // 4
        if size > 3000:
            said = f"This model's maximum context length is 4096 tokens, and it has {size}."
            error = {"error": {"message": said, "type": "BadRequestError"}}
            raw = json.dumps(error).encode()
            head = (
                f"HTTP/1.1 400 Bad\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}"
            )
            return Reply(raw=head.encode() + b"\r\nconnection: close\r\n\r\n" + raw)
        if not body.get("tools"):
            return Reply(text="Pages were read.")
        if pages.page > 12:
            return Reply(tools=(tool("finish", success=True, summary="Read."),))
        return Reply(tools=(tool("click_element", label="Next"),))

    async with openai_server(answer) as server:
        model = OpenAIModel("a-small-one", base_url=server.base_url, api_key="k")
        context = MemoryContext(model, pages.phone, goal="read the book")
        end = await task().run(context)
        await model.close()
    assert end.completed
    assert pages.page == 13
    assert context.of(HistoryCompacted)


async def test_a_first_screen_that_does_not_fit_ends_the_turn_with_the_reason() -> None:
    def refuse(_request: ModelRequest) -> ModelReply:
        raise ModelError("It is too long.", retryable=False, too_long=True, window=100)

    context = MemoryContext(scripted(refuse), Pages().phone, goal="read the book")
    with pytest.raises(ModelError, match="too long"):
        await task().run(context)
    assert not context.of(HistoryCompacted)


async def test_the_past_keeps_every_action_and_begins_anew_with_a_summary() -> None:
    pages, model = Pages(), reader(6)
    context = MemoryContext(model, pages.phone, goal="read the book")
    await task().run(context)
    past = HistoryLines(event.msg for event in context.events)
    assert len(past.traces) == 6
    whole = past.lines(1_000_000)
    assert any("the screen:\n" in line for line in whole)
    short = past.lines(2000)
    assert sum(map(len, short)) <= 2100
    assert "earlier lines are left out" in short[0]
    past.take(HistoryCompacted(text="S"))
    assert (past.summary, past.lines(1000), len(past.traces)) == ("S", (), 6)
