"""Calls by other systems' names: understood, and judged as ours."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.model import ModelReply, ToolCall
from agent.protocol import ToolCallRequested
from agent.tools.argument_names import ignored_note, in_own_names
from agent.tools.arguments import BadArguments
from agent.tools.registry import TOOLS, read_call
from agent.tools.tool_aliases import OTHER_NAMES, in_our_words
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import says, scripted, task


@pytest.mark.parametrize(
    ("name", "arguments", "ours", "given_then"),
    [
        ("type_message", {"text": "hi", "elementId": "3"}, "type_text", ("hi", "3")),
        ("type_message", {"text": "hi"}, "type_text", ("hi",)),
        ("click_button", {"buttonLabel": "Help"}, "click_element", ("Help",)),
        ("scroll_down", {"reason": "more"}, "scroll", ("down",)),
        ("scroll_up", {"reason": "more"}, "scroll", ("up",)),
        ("press_back", {"reason": "wrong page"}, "press_button", ("BACK",)),
        ("wait_for_response", {"reason": "they type"}, "wait", (5,)),
        ("request_human_review", {"reason": "r", "inputPrompt": "Which?"}, "ask_user", ("Which?",)),
        ("request_human_review", {"reason": "r", "needsInput": False}, "ask_user", ("r",)),
        ("mark_resolved", {"summary": "Refunded."}, "finish", (True, "Refunded.")),
        ("finish_task", {"result": "Done."}, "finish", (True, "Done.")),
        ("fail_task", {"reason": "No."}, "finish", (False, "No.")),
        ("open_app", {"name": "Clock"}, "launch_app", ("Clock",)),
        ("go_back", {}, "press_button", ("BACK",)),
        ("tap", {"index": 3}, "click_element", (3,)),
        ("input_text", {"text": "hi"}, "type_text", ("hi",)),
        ("done", {}, "finish", (True, "Done.")),
        ("done", {"message": "It is on."}, "finish", (True, "It is on.")),
        ("terminate", {"status": "failure", "reason": "No."}, "finish", (False, "No.")),
        ("final_answer", {"answer": "42"}, "finish", (True, "42")),
        ("finish", {"success": True, "message": "It is on."}, "finish", (True, "It is on.")),
        ("finish", {"status": "infeasible", "text": "No."}, "finish", (False, "No.")),
        ("save_memory", {"key": "code", "value": "a7"}, "remember", ("code: a7",)),
        ("note", {"note": "a7"}, "remember", ("a7",)),
        (
            "ask_human",
            {"question": "Which?", "options": "a or b"},
            "ask_user",
            ("Which?", "a or b"),
        ),
        ("toggle", {"element": "7", "reason": "freeze it"}, "click_element", ("7",)),
        ("toggle_switch", {"element": 4, "state": "on"}, "click_element", (4,)),
        ("press_key", {"key": "enter"}, "press_button", ("ENTER",)),
        ("set_text", {"text": "hi", "element": 2}, "type_text", ("hi", 2)),
        ("create_plan", {"steps": ["a"]}, "update_plan", (["a"],)),
        ("sleep", {"duration": 4}, "wait", (4,)),
        ("swipe", {"direction": "up"}, "scroll", ("down",)),
        ("swipe_left", {}, "scroll", ("right",)),
        ("type_text", {"content": "hi", "target": 3}, "type_text", ("hi", 3)),
        ("type_text", {"elementId": 3, "typed_words": "hi"}, "type_text", (3, "hi")),
        ("click_element", {"target": "Send"}, "click_element", ("Send",)),
        ("click_element", {"text": "Send", "why": "so"}, "click_element", ("so", "Send")),
        ("click_element", {"node_index": 7}, "click_element", (7,)),
        ("click_element", {"which_one": 7}, "click_element", (7,)),
        ("scroll", {"scroll_direction": "down"}, "scroll", ("down",)),
        ("launch_app", {"packageName": "com.app"}, "launch_app", ("com.app",)),
        ("wait", {"duration": 3}, "wait", (3,)),
    ],
)
def test_a_call_of_another_system_is_ours_by_another_name(
    name: str, arguments: dict[str, object], ours: str, given_then: tuple[object, ...]
) -> None:
    call = in_our_words(ToolCall(call_id="c", name=name, arguments=json.dumps(arguments)))
    assert (call.call_id, call.name) == ("c", ours)
    given = json.loads(call.arguments)
    told = (given["success"], given["summary"]) if ours == "finish" else tuple(given.values())
    assert told == given_then
    if "label" not in given:
        # A label is found on a screen, which is not here.
        assert type(read_call(call)) is TOOLS[ours]


@given(
    name=st.sampled_from([*TOOLS, "type_message", "click_button", "mark_resolved", "fly"]),
    arguments=st.text(max_size=20) | st.just('{"text": [1], "summary": {}, "elementId": null}'),
)
@settings(deadline=None, max_examples=60)
def test_whatever_is_called_stays_a_call(name: str, arguments: str) -> None:
    call = in_our_words(ToolCall(call_id="c", name=name, arguments=arguments))
    if name in TOOLS:
        assert (call.name, call.arguments) == (name, arguments)
    try:
        read_call(call)
    except BadArguments as error:
        assert str(error)


async def test_a_turn_in_another_systems_words_does_the_same() -> None:
    context = await run(
        scripted(
            says("click_button", buttonLabel="press"),
            says("type_message", text="hello", elementId="3"),
            says("press_back", reason="I saw enough"),
            says("mark_resolved", summary="It is pressed."),
        )
    )
    assert [m.tool for m in context.of(ToolCallRequested) if isinstance(m, ToolCallRequested)] == [
        *("click_element", "type_text", "press_button", "finish")
    ]
    assert results(context)[0].startswith('OK: Clicked [1] "Press".')
    assert results(context)[-1] == "RESOLVED: It is pressed."


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (says("click_element", label="Nothing"), 'no element that can be clicked is called "Noth'),
        (
            says("click_element", label="pressed 0"),
            'no element that can be clicked is called "pressed 0", only [2] text "pressed 0" after '
            '"Press"; to tap it anyway, give its number in `element`',
        ),
        (
            says("type_text", label="Press", text="a"),
            'no field is called "Press", only [1] btn "Press". Correct',
        ),
        (says("click_button", label="…"), "no element that can be clicked is called"),
        (says("click_button", buttonLabel=5), "`element`"),
    ],
)
async def test_a_label_that_is_no_buttons_is_refused_in_words(reply: ModelReply, said: str) -> None:
    counter = Counter()
    context = await run(scripted(reply, says("fail_task", reason="Lost.")), counter)
    assert said in results(context)[0]
    assert counter.phone.done == []


async def test_safety_a_click_by_label_on_a_send_button_waits_for_approval() -> None:
    counter = Counter()
    context = MemoryContext(
        scripted(says("click_button", buttonLabel="Send"), says("fail_task", reason="No.")),
        counter.phone,
    )
    await task().run(context)
    assert [question.kind.value for question in context.questions] == ["approval"]
    assert counter.phone.done == []


def test_every_other_name_means_one_of_our_tools() -> None:
    for name in OTHER_NAMES:
        assert in_our_words(ToolCall(call_id="c", name=name, arguments="{}")).name in TOOLS


@pytest.mark.parametrize(
    ("tool", "given", "own", "ignored"),
    [
        ("click_element", {"elementId": 4}, {"element": 4}, ()),
        ("click_element", {"index": 4, "thought": "I press it now"}, {"element": 4}, ()),
        ("click_element", {"element": 4, "index": 4, "x": None}, {"element": 4}, ()),
        ("click_element", {"elemnt": 4}, {"element": 4}, ()),
        ("click_element", {"label": "Save"}, {"label": "Save"}, ()),
        (
            "type_text",
            {"text": "a", "element": 2, "clear_first": True},
            {"text": "a", "element": 2, "clear": True},
            (),
        ),
        ("ask_user", {"question": "?", "choices": ["a"]}, {"question": "?", "options": ["a"]}, ()),
        (
            "type_text",
            {"text": "a", "element": 2, "press_enter": True},
            {"text": "a", "element": 2},
            ("press_enter",),
        ),
        (
            "scroll",
            {"direction": "down", "amount": 500, "speed": "slow"},
            {"direction": "down"},
            ("amount", "speed"),
        ),
        ("scroll", {"direction": "down", "fast": False, "until": ""}, {"direction": "down"}, ()),
    ],
)
def test_a_call_is_kept_by_our_names_and_what_was_ignored_is_said(
    tool: str, given: dict[str, object], own: dict[str, object], ignored: tuple[str, ...]
) -> None:
    kept = in_own_names(tool, json.dumps(given))
    assert (json.loads(kept.arguments), kept.ignored) == (own, ignored)
    note = ignored_note(kept.ignored)
    assert all(name in note for name in ignored) and bool(note) == bool(ignored)
