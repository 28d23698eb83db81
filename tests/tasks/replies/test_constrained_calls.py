"""A turn at a server that reads no calls, as llama.cpp with a small model: told, not offered."""

from agent.models.openai import OpenAIModel
from agent.protocol import HistoryCompacted, ToolCallFinished, ToolCallRequested, WarningEvent
from agent.records import ActionOutcome
from tests.models.llamacpp import Body, llamacpp_server
from tests.tasks.context import MemoryContext
from tests.tasks.replies.test_openai_session import lamp
from tests.tasks.scripted import task
from tests.tasks.test_compaction import Pages

FINISH = {"tool": "finish", "arguments": {"success": True, "summary": "Done."}}


def click(label: str) -> Body:
    return {"tool": "click_element", "arguments": {"label": label}}


async def test_calls_that_a_server_enforces_take_the_way_of_any_other() -> None:
    phone = lamp()

    def write(body: Body) -> object:
        assert "click_element(" in body["messages"][0]["content"]
        if "OK: Clicked" in body["messages"][-1]["content"]:
            return FINISH
        # An element that is not there is a call as well: it is judged, and fails.
        failed = "FAILED" in body["messages"][-1]["content"]
        return click("Lamp") if failed else click("Light")

    async with llamacpp_server(write, n_ctx=65_536) as server:
        model = OpenAIModel("told", base_url=server.base_url)
        context = MemoryContext(model, phone, goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert end.completed
    assert phone.done == ["tap Lamp"]
    called = [m.tool for m in context.of(ToolCallRequested) if isinstance(m, ToolCallRequested)]
    assert called == ["click_element", "click_element", "finish"]
    outcomes = [m.outcome for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    assert outcomes[0] is ActionOutcome.FAILED and outcomes[1] is ActionOutcome.DONE


async def test_a_model_that_only_talks_is_made_to_call_after_two_answers() -> None:
    phone = lamp()

    def write(body: Body) -> object:
        if "response_format" not in body:
            return "I would tap the lamp."
        return FINISH if "OK: Clicked" in body["messages"][-1]["content"] else click("Lamp")

    async with llamacpp_server(write, n_ctx=65_536, tells=False) as server:
        model = OpenAIModel("talks", base_url=server.base_url)
        context = MemoryContext(model, phone, goal="switch the lamp on")
        end = await task().run(context)
        await model.close()
    assert end.completed and phone.done == ["tap Lamp"]
    assert ["response_format" in body for body in server.requests][:3] == [False, False, True]
    warnings = [m.message for m in context.of(WarningEvent) if isinstance(m, WarningEvent)]
    assert any("2 answers in a row had no call" in said for said in warnings)


async def test_a_refusal_for_length_is_answered_by_a_compaction() -> None:
    pages = Pages()

    def write(body: Body) -> object:
        if "response_format" not in body:
            return "Pages were read."
        return FINISH if pages.page > 12 else click("Next")

    async with llamacpp_server(write, n_ctx=4096) as server:
        model = OpenAIModel("short", base_url=server.base_url)
        # As where a server was started anew with less room: what was known of it is too much.
        context = MemoryContext(model, pages.phone, goal="read the book")
        end = await task().run(context)
        await model.close()
    assert end.completed
    assert pages.page == 13
    assert context.of(HistoryCompacted)
