"""A whole turn with models that get the form wrong: they are understood, or told what to mend."""

from typing import Any

import pytest

from agent.loop.task_context import TurnEnd
from agent.models.model import Model
from agent.models.openai import OpenAIModel
from agent.protocol import AgentMessage, ToolCallRequested, WarningEvent
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.openai_server import Reply, Tool, openai_server, tool
from tests.tasks.context import MemoryContext
from tests.tasks.counter import results
from tests.tasks.scripted import DONE, says, scripted, task

FINISH = Reply(tools=(tool("finish", success=True, summary="Done."),))
CUT = Reply(tools=(Tool("type_text", '{"text": "a long tex'),), finish="length")


class Played:
    """What a turn on scripted replies came to."""

    def __init__(self) -> None:
        rows = [button("Lamp", 0.5), button("Save", 0.7), button("Save", 0.9)]
        self.phone = PaperPhone(lambda: [field("Note", 0.3), *rows])
        self.requests: list[dict[str, Any]] = []

    async def on(self, *replies: Reply, **options: Any) -> TurnEnd:
        left = list(replies)
        async with openai_server(lambda _request: left.pop(0) if left else FINISH) as server:
            model: Model = OpenAIModel("m", base_url=server.base_url, api_key="k", **options)
            self.context = MemoryContext(model, self.phone, goal="switch the lamp on")
            end = await task().run(self.context)
            await model.close()
            # Not what a claim of success is checked with.
            self.requests = [r for r in server.requests if "click_element" in str(r)]
        return end


@pytest.mark.parametrize(
    "text",
    [
        'Let me.\n<tool_call>{"name": "click_element", "arguments": {"element": 2}}</tool_call>',
        "Thought: the lamp.\nAction: click_element\nAction Input: {'element': 2,}",
        "I tap it now.\n\nclick_element(element=2)",
        "Action: tap\nAction Input: {'element': 2}",
        "tap(2)",
    ],
)
async def test_a_call_in_words_is_carried_out_and_goes_back_as_a_call(text: str) -> None:
    played = Played()
    await played.on(Reply(text=text))
    assert played.phone.done == ["tap Lamp"]
    said = [m for m in played.requests[-1]["messages"] if m["role"] == "assistant"]
    assert said[0]["tool_calls"][0]["function"]["name"] == "click_element"
    assert "click_element" not in (said[0]["content"] or "")


async def test_arguments_with_a_slip_are_stored_as_what_was_meant() -> None:
    played = Played()
    await played.on(Reply(tools=(Tool("click_element", "{'element': 2,}"),)))
    assert played.phone.done == ["tap Lamp"]
    call = played.context.of(ToolCallRequested)[0]
    assert isinstance(call, ToolCallRequested)
    assert call.arguments == '{"element": 2}'


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("click_element", '{"element": }', "at character 13"),
        ("click_elment", "{}", 'did you mean "click_element"?'),
        (
            "click_element",
            '{"label": "Save"}',
            'name one of [3] btn "Save" after "Lamp", [4] btn "Save" after "Lamp"',
        ),
        ("click_element", '{"label": "Lmp"}', "name one by its number in `element`"),
        ("type_text", '{"text": "hi", "label": "Lamp"}', 'no field is called "Lamp"'),
        ("click_element", '{"target": [2, 3]}', "there is no `target`; the arguments are"),
    ],
)
async def test_what_is_wrong_with_a_call_is_said_with_its_place(
    name: str, arguments: str, said: str
) -> None:
    played = Played()
    await played.on(Reply(tools=(Tool(name, arguments),)))
    assert played.phone.done == []
    assert said in results(played.context)[0]
    assert "write it again" in results(played.context)[0]


@pytest.mark.parametrize(
    ("name", "arguments", "done"),
    [
        ("click_element", '{"label": "Lamp"}', ["tap Lamp"]),
        ("click_element", '{"element": null, "label": "lamp"}', ["tap Lamp"]),
        ("click_element", '{"element": "Lamp"}', ["tap Lamp"]),
        ("click_element", '{"elment": "element [2]"}', ["tap Lamp"]),
        ("click_element", '{"element": [2.0]}', ["tap Lamp"]),
        ("press_button", '{"button": "back button"}', ["press BACK"]),
    ],
)
async def test_what_can_mean_one_thing_only_is_done(
    name: str, arguments: str, done: list[str]
) -> None:
    played = Played()
    await played.on(Reply(tools=(Tool(name, arguments),)))
    assert played.phone.done == done


async def test_an_answer_that_was_cut_off_is_asked_for_again_with_twice_the_room() -> None:
    played = Played()
    end = await played.on(CUT, Reply(tools=(tool("click_element", element=2),)))
    assert end.completed
    assert played.phone.done == ["tap Lamp"]
    limits = [body["max_completion_tokens"] for body in played.requests]
    # Once, and for the rest of the turn.
    assert limits[0] == 8192
    assert set(limits[1:]) == {16384}
    warned = [m.message for m in played.context.of(WarningEvent) if isinstance(m, WarningEvent)]
    assert warned == [
        "The answer was cut off at its limit of 8,192 tokens; asking again with 16,384."
    ]
    assert played.context.session.usage.calls >= 3


async def test_an_answer_that_stays_cut_off_ends_the_turn_with_the_reason() -> None:
    played = Played()
    end = await played.on(*[CUT] * 9, max_output_tokens=300)
    assert not end.completed
    assert "cut off at the limit of 600 tokens: set model.max_output_tokens" in end.message
    assert played.phone.done == []
    said = [m.text for m in played.context.of(AgentMessage) if isinstance(m, AgentMessage)]
    assert said[0] == "(cut off at the limit of 600 tokens)"
    assert len(played.requests) == 5


async def test_a_whole_call_before_the_cut_is_carried_out() -> None:
    played = Played()
    await played.on(Reply(tools=(tool("click_element", element=2),), finish="length"))
    assert played.phone.done == ["tap Lamp"]
    assert {body["max_completion_tokens"] for body in played.requests} == {8192}


async def test_buttons_of_one_name_are_told_apart_by_the_texts_of_their_rows() -> None:
    rows = [("07:00", "Once"), ("09:30", "Once")]
    shown = [
        one
        for at, (time, days) in enumerate(rows)
        for one in (
            node(time, (0.1, 0.2 + at / 5, 0.9, 0.25 + at / 5)),
            node(days, (0.1, 0.26 + at / 5, 0.9, 0.3 + at / 5)),
            button("Delete alarm", 0.31 + at / 5),
        )
    ]
    context = MemoryContext(
        scripted(says("click_element", label="Delete alarm"), DONE), PaperPhone(lambda: shown)
    )
    await task().run(context)
    said = results(context)[0]
    assert '[3] btn "Delete alarm" after "07:00", "Once"' in said
    assert '[6] btn "Delete alarm" after "09:30", "Once"' in said
