"""Work that is decided already: one tool, called once, and said as it came out."""

import pytest

from agent.errors import UsageError
from agent.jobs.tool_calls import call_of
from agent.loop.task_context import TurnEnd
from agent.models.model import ToolCall
from agent.models.one_call import OneCall
from agent.protocol import CommitmentCreate, ToolCallFinished
from agent.safety.approval import APPROVE
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import task
from tests.tools.test_watching import answered


async def run(call: ToolCall, *, background: bool = False) -> tuple[TurnEnd, MemoryContext]:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    context = MemoryContext(
        OneCall(call),
        phone,
        reply=answered,
        background=background,
        # Standing work is asked about, whatever calls for it.
        answer=lambda _question: APPROVE,
    )
    return await task().run(context), context


def written(**arguments: object) -> ToolCall:
    payload = {"call": {"tool": "commitment_create", "arguments": {"reason": "x", **arguments}}}
    call = call_of(payload)
    assert call is not None
    return call


async def test_a_tool_is_called_once_and_its_reply_is_the_result_in_words() -> None:
    end, context = await run(written(title="Call Ana"))
    assert end.completed and end.message == "Commitment 4 “Call” was created."
    assert any("commitment.created" in one.text for one in context.of(ToolCallFinished))
    [op] = context.requested
    assert isinstance(op, CommitmentCreate) and op.title == "Call Ana"


async def test_what_is_refused_is_no_success() -> None:
    payload = {"call": {"tool": "watcher_create", "arguments": {"type": "web_change", "url": "x"}}}
    call = call_of(payload)
    assert call is not None
    end, context = await run(ToolCall(call_id="c", name=call.name, arguments='{"type": "web"}'))
    assert not end.completed
    assert context.requested == []


async def test_in_the_background_it_waits_for_a_review_like_any_other_action() -> None:
    end, context = await run(written(title="Call Ana"), background=True)
    assert end.review is not None and "Call Ana" in end.review.text
    assert context.requested == [] and context.of(ToolCallFinished) == []


@pytest.mark.parametrize(
    "payload",
    [
        {"call": "launch_app"},
        {"call": {"tool": 3}},
        {"call": {"tool": "launch_app", "arguments": []}},
        {"call": {"tool": "click_element", "arguments": {"element": 1}}},
        {"call": {"tool": "launch_app", "arguments": {"app": "x" * 9000}}},
    ],
)
def test_a_payload_whose_call_cannot_be_made_is_refused(payload: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        call_of(payload)


def test_a_payload_without_a_call_is_work_for_a_model() -> None:
    assert call_of({"serial": "x"}) is None
