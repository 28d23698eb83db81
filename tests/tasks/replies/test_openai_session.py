"""A whole turn driven by an endpoint: the openai SDK, real HTTP, streaming, and its failures."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from agent.errors import ModelError
from agent.models.openai import OpenAIModel
from agent.protocol import StreamError, ToolCallFinished
from agent.records import Budget
from tests.loop.paper_phone import PaperPhone, button
from tests.openai_server import OpenAIServer, Reply, Tool, openai_server, tool
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import task


def lamp() -> PaperPhone:
    lit = False

    def on(what: str) -> None:
        nonlocal lit
        if what == "tap Lamp":
            lit = not lit

    return PaperPhone(lambda: [button("Lamp", 0.4, checkable=True, checked=lit)], on)


def think(request: dict[str, Any]) -> Reply:
    """Answer as a model would, by the newest screen alone."""
    said = (message["content"] for message in reversed(request["messages"]))
    screen = next(text for text in said if "## Screen State" in text)
    found = re.search(r'\[(\d+)\] \S+ "Lamp" \[(\w+)\]', screen)
    assert found, screen
    if found[2] == "CHECKED":
        return Reply(text="It is lit.", tools=(tool("finish", success=True, summary="Lit."),))
    return Reply(text="I switch it on.", tools=(tool("click_element", element=int(found[1])),))


@dataclass(frozen=True)
class Wired:
    """A turn whose model is at the other end of a wire."""

    server: OpenAIServer
    phone: PaperPhone
    context: MemoryContext

    @property
    def errors(self) -> list[str]:
        """What went wrong and was tried again."""
        return [m.message for m in self.context.of(StreamError) if isinstance(m, StreamError)]

    @property
    def results(self) -> list[str]:
        """What the model was told of its calls."""
        told = self.context.of(ToolCallFinished)
        return [m.text for m in told if isinstance(m, ToolCallFinished)]


@asynccontextmanager
async def wired(*first: Reply, timeout_s: float = 45.0) -> AsyncIterator[Wired]:
    """Make a turn that gets these replies before the ones that a model would give."""
    left = list(first)
    async with openai_server(lambda asked: left.pop(0) if left else think(asked)) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k", timeout_s=timeout_s)
        phone = lamp()
        yield Wired(server, phone, MemoryContext(model, phone, goal="switch the lamp on"))
        await model.close()


async def test_a_session_runs_over_the_wire_to_its_end() -> None:
    async with wired() as turn:
        end = await task().run(turn.context)
    assert (end.completed, end.message) == (True, "Lit.")
    assert turn.phone.done == ["tap Lamp"]
    assert turn.context.session.usage.calls == 2
    assert turn.context.session.usage.input_tokens == 200
    assert turn.context.deltas[-1] == "It is lit."
    roles = [message["role"] for message in turn.server.requests[1]["messages"]]
    assert roles == ["system", "user", "user", "assistant", "tool", "user", "user"]
    effects = turn.server.requests[1]["messages"][-1]["content"]
    assert effects == '## Effects so far\n1. "Lamp": off → on'


async def test_failures_that_pass_and_calls_that_cannot_be_read_are_survived() -> None:
    faults = (
        Reply(status=503),
        Reply(status=429, headers=(("retry-after", "9"),)),
        Reply(text="I was just about to", cut_after=2),
        Reply(tools=(Tool("click_element", '{"element": '),)),
        Reply(tools=(tool("fly", to="Mars"),)),
    )
    async with wired(*faults) as turn:
        end = await task().run(turn.context)
    assert end.completed
    retried = turn.context.of(StreamError)
    assert [m.delay_ms for m in retried if isinstance(m, StreamError)] == [4000, 9000, 400]
    assert "not valid JSON" in turn.results[0]
    assert 'no tool "fly"' in turn.results[1]


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
    async with wired(fault) as turn:
        end = await task().run(turn.context)
    assert end.completed
    assert turn.phone.done == ["tap Lamp"], "nothing was done twice"
    assert len(turn.errors) == retried
    assert any(told in text for text in (turn.errors if retried else turn.results))


@pytest.mark.parametrize(
    "refusal", [Reply(status=429, error_code="insufficient_quota"), Reply(status=401)]
)
async def test_llm_errors_a_used_up_quota_and_a_refused_key_end_the_turn_at_once(
    refusal: Reply,
) -> None:
    async with wired(refusal) as turn:
        with pytest.raises(ModelError) as caught:
            await task().run(turn.context)
    assert not caught.value.retryable
    assert len(turn.server.requests) == 1


async def test_llm_errors_silence_within_the_time_out_is_borne_and_beyond_it_is_tried_again() -> (
    None
):
    """40 s of 45 s, scaled down: the client waits; longer is a failure that may pass."""
    late = Reply(text="", tools=(tool("wait", seconds=0),), hesitate_s=0.2)
    async with wired(Reply(silent=True), late, timeout_s=3.0) as turn:
        end = await task().run(turn.context)
    assert end.completed
    assert "no answer within 3 s" in turn.errors[0]


async def test_llm_errors_five_failures_in_a_row_end_the_turn_with_the_last_ones_words() -> None:
    async with wired(*[Reply(status=503)] * 5) as turn:
        with pytest.raises(ModelError, match="failed 5 times in a row"):
            await task().run(turn.context)
    assert len(turn.server.requests) == 5
    assert len(turn.errors) == 4


async def test_a_claim_beside_an_act_waits_for_a_look_at_its_result() -> None:
    calls = (tool("click_element", element=1), tool("finish", success=True, summary="x"))
    async with wired(Reply(tools=calls)) as turn:
        end = await task().run(turn.context)
    assert (end.completed, turn.phone.done) == (True, ["tap Lamp"])
    assert (
        "1 other call was not done: look at the screen before you call finish"
        in turn.server.requests[1]["messages"][-3]["content"]
    )


async def test_the_beginning_of_the_conversation_stays_as_it_was_so_that_caches_hit() -> None:
    async with wired() as turn:
        await task().run(turn.context)
    requests = turn.server.requests
    first, second = (request["messages"] for request in requests)
    assert second[: len(first)] == first
    assert requests[0]["tools"] == requests[1]["tools"]


async def test_a_budget_of_tokens_holds_an_endpoint_that_counts_none() -> None:
    async with wired(Reply(tools=(tool("wait", seconds=0),), usage=False)) as turn:
        context = MemoryContext(
            turn.context.model, turn.phone, goal="switch the lamp on", budget=Budget(tokens=500)
        )
        end = await task().run(context)
    assert end.message == "The limit of 500 tokens was reached before the goal."
    assert len(turn.server.requests) == 1
    assert [question.text for question in context.questions] == [
        "The budget of 500 tokens is used up, and the goal is not reached. Go on?"
    ]
