"""Routes are followed by what a conversation shows, strayed from and come back to."""

import json

from agent.exercises.route import Await, Back, Launch, Step, Tap, Write
from agent.models.model import Message, MessageKind, Role, ToolCall
from agent.models.pilot.reading import View, read
from bench.exercises.fallible.flaws import Flaw, think
from bench.exercises.route import next_call

ROUTE: tuple[Step, ...] = (Launch("a.b"), Tap("More"), Tap("Delete"), Tap("Delete"))
SCREEN = """Steps left: 30
## Screen State
Package: a.b
[CONTENT]
  [1] btn: "More"
  [2] btn: "Delete"
  [3] INPUT: "Name"
  (scrollable)"""


class Talk:
    def __init__(self, goal: str = "Delete it") -> None:
        self.messages = [Message(role=Role.USER, kind=MessageKind.GOAL, text=f"## Goal\n{goal}")]

    def see(self, screen: str = SCREEN) -> "Talk":
        self.messages.append(Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=screen))
        return self

    def do(self, tool: str, result: str, **arguments: object) -> "Talk":
        call = ToolCall(call_id=str(len(self.messages)), name=tool, arguments=json.dumps(arguments))
        self.messages += [
            Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,)),
            Message(role=Role.TOOL, kind=MessageKind.RESULT, text=result, call_id=call.call_id),
        ]
        return self

    @property
    def view(self) -> View:
        return read(self.messages)


def test_steps_come_one_after_the_other_and_then_the_end() -> None:
    talk = Talk().see()
    assert next_call(talk.view, ROUTE).arguments == {"app": "a.b"}
    talk.do("launch_app", "OK: Launched.", app="a.b").see()
    assert next_call(talk.view, ROUTE).arguments == {"element": 1}
    talk.do("click_element", 'OK: Clicked [1] "More". NEW SCREEN: X.', element=1).see()
    talk.do("click_element", 'OK: Clicked [2] "Delete". Now shows "Sure?".', element=2).see()
    assert next_call(talk.view, ROUTE).arguments == {"element": 2}, "the same label again"
    talk.do("click_element", 'OK: Clicked [2] "Delete". NEW SCREEN: Y.', element=2).see()
    assert next_call(talk.view, ROUTE).arguments["success"] is True


def test_who_strays_to_another_screen_goes_back_once() -> None:
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    talk.do("click_element", 'OK: Clicked [9] "Wallet". NEW APP: Changed.', element=9).see()
    assert next_call(talk.view, ROUTE).arguments == {"button": "BACK"}
    talk.do("press_button", "OK: Pressed BACK.", button="BACK").see()
    assert next_call(talk.view, ROUTE).arguments == {"element": 1}


def test_what_failed_is_not_behind() -> None:
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    talk.do("click_element", "FAILED: element [1] is disabled.", element=1).see()
    assert next_call(talk.view, ROUTE).arguments == {"element": 1}


def test_what_is_not_there_is_waited_for_scrolled_to_and_given_up() -> None:
    route = (Launch("a.b"), Tap("Nowhere"))
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    tools = []
    for _ in range(12):
        call = next_call(talk.view, route)
        tools.append(call.tool)
        if call.tool == "finish":
            break
        talk.do(call.tool, "WARNING: nothing moved.", **call.arguments).see()
    assert tools[:4] == ["wait", "scroll", "scroll", "press_button"]
    assert tools[-1] == "finish"


def test_words_are_waited_for_until_they_are_seen() -> None:
    route = (Launch("a.b"), Await("refunded"))
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    assert next_call(talk.view, route).tool == "wait"
    talk.do("wait", "Waited 1 s.", seconds=1).see(SCREEN.replace("Delete", "It is refunded now"))
    assert next_call(talk.view, route).arguments["success"] is True


def test_text_goes_into_the_field_that_is_named() -> None:
    route = (Launch("a.b"), Write("x", "Name"), Back())
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    assert next_call(talk.view, route).arguments == {"text": "x", "element": 3}


def test_the_same_conversation_gets_the_same_answer_from_every_flaw() -> None:
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    for flaw in Flaw:
        one = think(talk.messages, ROUTE, flaw, 7, tracker=False)
        assert one == think(talk.messages, ROUTE, flaw, 7, tracker=False)


def test_a_loop_once_begun_is_ended_by_the_prompt_alone() -> None:
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    for _ in range(2):
        talk.do("scroll", "OK: Scrolled down.", direction="down").see()
    assert think(talk.messages, ROUTE, Flaw.LOOPING, 1, tracker=False).tool == "scroll"
    talk.see(SCREEN.replace("## Screen", "WARNING: You are going back and forth.\n## Screen"))
    assert think(talk.messages, ROUTE, Flaw.LOOPING, 1, tracker=False).tool == "click_element"


def test_who_only_talks_calls_a_tool_once_reminded() -> None:
    talk = Talk().see().do("launch_app", "OK: Launched.", app="a.b").see()
    talk.messages.append(Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, text="Hm."))
    talk.see()
    assert think(talk.messages, ROUTE, Flaw.TALKATIVE, 1, tracker=False).tool == ""
    reminder = "You did not call a tool. Call exactly one tool now."
    talk.messages.insert(-1, Message(role=Role.USER, kind=MessageKind.RESULT, text=reminder))
    assert think(talk.messages, ROUTE, Flaw.TALKATIVE, 1, tracker=False).tool == "click_element"


def test_the_narrow_forget_what_long_screens_push_out() -> None:
    short, long = (Talk().see().do("launch_app", "OK: Launched.", app="a.b") for _ in range(2))
    for _ in range(4):
        short.see()
        long.see(SCREEN + "\n" + "x" * 2500)
    assert think(short.messages, ROUTE, Flaw.NARROW, 1, tracker=False).tool == "click_element"
    assert think(long.messages, ROUTE, Flaw.NARROW, 1, tracker=False).tool == "launch_app"


def test_a_stranger_knows_what_it_is_told_and_tries_the_rest_but_what_led_nowhere() -> None:
    told = Talk("Press More").see().do("launch_app", "OK: Launched.", app="a.b").see()
    assert think(told.messages, ROUTE, Flaw.STRANGER, 1, tracker=False).arguments == {"element": 1}
    lost = Talk("Tidy up").see().do("launch_app", "OK: Launched.", app="a.b").see()
    calls = [think(lost.messages, ROUTE, Flaw.STRANGER, seed, tracker=False) for seed in range(20)]
    assert {str(call.arguments["element"]) for call in calls} == {"1", "2"}
    ban = 'Do not press again (it led nowhere): [1] "More"\n'
    lost.see(SCREEN.replace("## Screen", f"{ban}## Screen"))
    call = think(lost.messages, ROUTE, Flaw.STRANGER, 3, tracker=False)
    assert call.arguments == {"element": 2}


def test_what_a_screen_only_counts_is_asked_for_and_used() -> None:
    route = (Launch("a.b"), Tap("Far"))
    talk = Talk().do("launch_app", "OK: Launched.", app="a.b")
    screen = SCREEN.replace("  (scrollable)", "  (1 more items...)\n  (scrollable)")
    talk.see(screen)
    assert next_call(talk.view, route).tool == "more_elements"
    talk.do("more_elements", 'OK: 1 more items:\n  [4] btn: "Far"').see(screen)
    assert next_call(talk.view, route).arguments == {"element": 4}


def test_the_forgetful_know_where_they_are_by_the_plan_that_is_shown() -> None:
    talk = Talk().see()
    for _ in range(8):
        talk.do("wait", "Waited 1 s.", seconds=1).see()
    marks = "## Plan\n[x] 1. Open a.b\n[~] 2. Tap More\n"
    talk.see(SCREEN.replace("## Screen", f"{marks}## Screen"))
    call = think(talk.messages, ROUTE, Flaw.FORGETFUL, 1, tracker=True)
    assert call.arguments == {"element": 1}
