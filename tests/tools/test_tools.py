"""What a model may call: untrusted arguments, and the deeds that they become."""

import inspect
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.knowledge.card import Card
from agent.knowledge.library import Library, load
from agent.loop.screen.elements import number_elements
from agent.models.model import ToolCall
from agent.records import AppInfo, Foreground, Observation, PlanStatus, UiNode
from agent.tools.actions import resolve, swipe_for
from agent.tools.app_names import find_app
from agent.tools.arguments import (
    Arguments,
    AskUser,
    BadArguments,
    ClickElement,
    Finish,
    PressButton,
    Scroll,
    ToolKind,
    TypeText,
    UpdatePlan,
    clean_json,
    decode,
)
from agent.tools.planned_action import PhoneTool
from agent.tools.registry import PHONE_TOOLS, TOOLS, read_call, schemas
from agent.tools.watching import CreateWatcher
from tests.loop.paper_phone import button, field, node

NO_CARDS = Library({})


def call(name: str, arguments: str | dict[str, object]) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(call_id="c", name=name, arguments=text)


def screen(*nodes: UiNode) -> Observation:
    elements = number_elements(nodes, redact=str)
    return Observation(
        started_ms=1, ended_ms=2, foreground=Foreground(package="a"), elements=elements
    )


@pytest.mark.parametrize("tool", PHONE_TOOLS, ids=lambda tool: tool.tool_name)
def test_what_a_tool_does_can_be_asked_as_well_as_told(tool: type[PhoneTool]) -> None:
    told = set(re.findall(r'said ?= ?f?"([A-Z][\w-]*)', inspect.getsource(tool)))
    assert tool.verbs
    assert told <= set(tool.verbs)


def test_the_registry_has_the_documented_tools_and_kinds() -> None:
    kinds = {name: tool.tool_kind for name, tool in TOOLS.items()}
    actions = {"click_element", "long_press_element", "type_text", "scroll", "press_button"}
    actions |= {"tap_point", "drag", "press_keys", "open_link", "clipboard", "rotate"}
    actions |= {"launch_app", "background_job_create", "background_job_stop"}
    actions |= {"watcher_create", "watcher_stop", "commitment_create", "commitment_update_status"}
    actions |= {"notification_commitment_create", "message_commitment_create"}
    assert {n for n, k in kinds.items() if k is ToolKind.ACTION} == actions
    control = {"wait", "update_plan", "ask_user", "finish", "remember", "more_tools"}
    assert {n for n, k in kinds.items() if k is ToolKind.CONTROL} == control
    free = {name for name, tool in TOOLS.items() if not tool.counted}
    assert free == {"update_plan", "remember", "more_elements", "more_tools", "ask_user"}


def test_schemas_are_whole_objects_without_references() -> None:
    for tool in schemas():
        assert tool.parameters["type"] == "object"
        assert tool.parameters["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.parameters)


def test_schemas_say_nothing_that_a_model_does_not_need() -> None:
    def nodes(value: object) -> list[dict[str, object]]:
        if isinstance(value, list):
            return [node for one in value for node in nodes(one)]
        if not isinstance(value, dict):
            return []
        return [value, *(node for one in value.values() for node in nodes(one))]

    for tool in schemas():
        for one in nodes(tool.parameters):
            assert not isinstance(one.get("title"), str), tool.name
            assert one.get("type") != "null", tool.name
            assert "default" not in one or one["default"], tool.name
            assert one.get("required") != [], tool.name


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.tool_name)
def test_what_may_be_left_out_may_be_null(tool: type[Arguments]) -> None:
    # Endpoints that enforce schemas write every field.
    given = {"text": "a", "app": "a", "link": "a", "reason": "a", "title": "a", "success": True}
    given |= {"summary": "a", "to": "auto", "do": "read", "button": "BACK", "direction": "up"}
    given |= {"group": "jobs", "plan": ["a"], "element": 1, "x": 1, "y": 1, "prompt": "a"}
    given |= {"commitment_id": 1, "status": "active", "package": "a", "type": "time"}
    needed = {n: v for n, v in given.items() if n in tool.__struct_fields__}
    assert decode(tool, json.dumps({**dict.fromkeys(tool.__struct_fields__), **needed})) == decode(
        tool, json.dumps(needed)
    )


@pytest.mark.parametrize(
    "arguments",
    [{"element": 3}, {"element": "3"}, {"elementId": 3}, {"element": "[3]"}, {"element": 3.0}],
)
def test_an_element_is_named_by_a_number_in_any_usual_form(arguments: dict[str, object]) -> None:
    args = read_call(call("click_element", arguments))
    assert isinstance(args, ClickElement)
    assert args.element == 3


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("click_element", "{]", "not valid JSON"),
        ("click_element", "[1]", "one JSON object"),
        ("click_element", "{}", "element"),
        ("click_element", '{"element": 0}', "element"),
        ("click_element", '{"element": "three"}', "element"),
        ("click_element", '{"element": true}', "element"),
        ("click_element", '{"element": 1e400}', "element"),
        ("click_element", '{"element": null}', "element"),
        ("press_button", '{"button": "EJECT"}', "button"),
        ("scroll", '{"direction": "sideways"}', "direction"),
        ("wait", '{"seconds": 900}', "seconds"),
        ("wait", '{"seconds": NaN}', "seconds"),
        ("update_plan", '{"plan": "later"}', "plan"),
        ("update_plan", '{"plan": [{"step": 1}]}', "step"),
        ("update_plan", '{"plan": [{"step": "a", "status": "sideways"}]}', "status"),
        ("finish", '{"summary": "done"}', "success"),
        ("fly", "{}", 'no tool "fly"'),
        ("click_elment", "{}", 'did you mean "click_element"?'),
        ("clickElement", "{}", 'did you mean "click_element"?'),
        ("remeber", "{}", 'did you mean "remember"?'),
        ("", "{}", "no tool"),
        ("type_text", '{"text": "\\ud800"}', "half of a character"),
        ("background_job_list", '{"query": ["\\udc00"]}', "half of a character"),
        ("click_element", "[" * 100_000, ""),
        ("click_element", '{"a":' * 10_000, ""),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_words(
    name: str, arguments: str, said: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        read_call(call(name, arguments))
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


@given(
    st.sampled_from(sorted(TOOLS)),
    st.text()
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "element",
                        "text",
                        "plan",
                        "steps",
                        "step",
                        "seconds",
                        "button",
                        "success",
                        "summary",
                    ]
                ),
                inner,
            )
        ),
    ).map(json.dumps),
)
def test_whatever_a_model_writes_is_read_or_refused(name: str, arguments: str) -> None:
    try:
        read_call(call(name, arguments))
    except BadArguments as refusal:
        assert str(refusal)
    stored = json.loads(clean_json(arguments, str))
    assert isinstance(stored, dict)


def test_a_plan_may_come_as_plan_or_as_steps() -> None:
    for key in ("plan", "steps"):
        items = [{"step": "a", "status": "completed"}, "b"]
        args = read_call(call("update_plan", {key: items}))
        assert isinstance(args, UpdatePlan)
        assert [(i.step, i.status) for i in args.plan] == [
            ("a", PlanStatus.COMPLETED),
            ("b", PlanStatus.PENDING),
        ]


def test_usual_slips_are_understood() -> None:
    pressed = read_call(call("press_button", {"key": "KEYCODE_BACK"}))
    assert pressed == PressButton(button="BACK")
    finished = read_call(call("finish", {"success": "false", "reason": "no app"}))
    assert finished == Finish(success=False, summary="no app")


def test_stored_arguments_are_clean_json_even_when_the_model_wrote_none() -> None:
    assert json.loads(clean_json('{"text": "a\\u001b[31m"}', lambda t: t.replace("\x1b", ""))) == {
        "text": "a[31m"
    }
    assert json.loads(clean_json('{"broken', str)) == {"unreadable": '{"broken'}


# --- deeds ----------


def test_a_click_points_at_the_named_nodes_own_bounds_not_at_its_twin() -> None:
    twins = screen(button("Open", 0.3), button("Open", 0.6))
    deed = resolve(ClickElement(element=2), twins, (), NO_CARDS)
    assert deed.point is not None
    assert deed.point.y == pytest.approx(0.625)


@pytest.mark.parametrize("number", [2, 99])
def test_an_element_that_is_not_there_is_refused(number: int) -> None:
    with pytest.raises(BadArguments, match="no element"):
        resolve(ClickElement(element=number), screen(button("Open", 0.3)), (), NO_CARDS)


def test_a_disabled_element_is_not_clicked() -> None:
    with pytest.raises(BadArguments, match="disabled"):
        resolve(ClickElement(element=1), screen(button("Open", 0.3, enabled=False)), (), NO_CARDS)


def test_text_goes_into_a_field_and_nowhere_else() -> None:
    shown = screen(button("Open", 0.3), field("To", 0.5))
    assert resolve(TypeText(text="x", element=2), shown, (), NO_CARDS).point is not None
    for wrong in (TypeText(text="x", element=1), TypeText(text="")):
        with pytest.raises(BadArguments):
            resolve(wrong, shown, (), NO_CARDS)
    with pytest.raises(BadArguments, match="surrogate"):
        resolve(TypeText(text="\ud800", element=2), shown, (), NO_CARDS)


def test_a_focused_field_is_not_tapped_again() -> None:
    focused = screen(field("To", 0.5, focused=True))
    assert resolve(TypeText(text="x"), focused, (), NO_CARDS).point is None


def test_text_without_a_place_goes_into_the_only_field_unless_it_hides_what_it_holds() -> None:
    deed = resolve(TypeText(text="x"), screen(field("To", 0.5), button("Send", 0.7)), (), NO_CARDS)
    assert deed.element is not None and deed.element.label == "To" and deed.point is not None
    for unclear in (
        screen(field("To", 0.3), field("Subject", 0.5)),
        screen(field("Password", 0.5, password=True)),
    ):
        with pytest.raises(BadArguments, match="no field is focused"):
            resolve(TypeText(text="x"), unclear, (), NO_CARDS)


def test_scrolling_down_moves_the_finger_up_within_the_largest_list() -> None:
    shown = screen(
        node(at=(0, 0.2, 1, 0.8), scrollable=True), node(at=(0, 0.85, 1, 0.9), scrollable=True)
    )
    deed = resolve(Scroll(direction="down"), shown, (), NO_CARDS)
    start, end = swipe_for("down", deed.element)
    assert 0.2 < end.y < start.y < 0.8


def test_an_app_is_found_by_package_label_or_words_and_never_guessed() -> None:
    apps = (
        AppInfo(package="com.android.settings", label="Settings"),
        AppInfo(package="com.ola.cabs", label="Ola"),
        AppInfo(package="com.cola.shop", label="Cola"),
        AppInfo(package="org.mail.one", label="Mail"),
        AppInfo(package="org.mail.two", label="Mail"),
    )
    assert find_app("settings", apps, NO_CARDS).package == "com.android.settings"
    assert find_app("org.mail.two", apps, NO_CARDS).package == "org.mail.two"
    assert find_app("ola", apps, NO_CARDS).package == "com.ola.cabs"
    with pytest.raises(BadArguments, match="several apps"):
        find_app("mail", apps, NO_CARDS)
    with pytest.raises(BadArguments, match="no installed app"):
        find_app("Domino's", apps, NO_CARDS)


def test_an_app_without_a_label_is_found_by_what_its_card_calls_it() -> None:
    apps = (
        AppInfo(package="com.android.Messaging"),
        AppInfo(package="com.ubercab"),
        AppInfo(package="com.ubercab.eats"),
    )
    for name in ("Messages", "SMS", "text messages"):
        assert find_app(name, apps, load()).package == "com.android.Messaging"
    assert find_app("Uber", apps, load()).package == "com.ubercab"
    for name in ("Wallet", "Uber Eats", "text"):
        with pytest.raises(BadArguments, match="no installed app"):
            find_app(name, apps, load())
    two = Library(
        {name: Card(package=name, app_name="Shop") for name in ("com.ubercab", "com.ubercab.eats")}
    )
    with pytest.raises(BadArguments, match="several apps"):
        find_app("shop", apps, two)


def test_of_many_apps_the_nearest_names_are_told_and_how_many_there_are() -> None:
    apps = (
        *(AppInfo(package=f"org.filler.f{n}", label=f"Filler {n}") for n in range(300)),
        AppInfo(package="com.google.android.youtube", label="YouTube"),
        AppInfo(package="com.whatsapp", label="WhatsApp"),
        AppInfo(package="com.dominos.pizza"),
    )
    for name, nearest in (
        ("Youtub", "YouTube (com.google.android.youtube)"),
        ("the YouTube video player", "YouTube (com.google.android.youtube)"),
        ("Whats App Messenger", "WhatsApp (com.whatsapp)"),
        ("com.whatsapp.w4b", "WhatsApp (com.whatsapp)"),
        ("Domino's", "com.dominos.pizza"),
    ):
        with pytest.raises(BadArguments) as told:
            find_app(name, apps, NO_CARDS)
        said = str(told.value)
        assert f"303 are installed, with the nearest names: {nearest}, " in said
        assert said.endswith(" and 283 more")
    with pytest.raises(BadArguments, match="the phone reported none"):
        find_app("Maps", (), NO_CARDS)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("red, green or blue", ("red", "green", "blue")),
        ("red, green, or blue", ("red", "green", "blue")),
        ("Yes/No", ("Yes", "No")),
        ("1. red\\n2. dark green\\n- blue", ("red", "dark green", "blue")),
        ('["red", "green or blue"]', ("red", "green or blue")),
        ("Approve", ("Approve",)),
        ("", ()),
    ],
)
def test_answers_to_choose_from_may_be_one_text(written: str, read: tuple[str, ...]) -> None:
    said = json.dumps({"question": "Which?", "options": written.replace("\\n", "\n")})
    assert decode(AskUser, said).options == read
    several = json.dumps({"questions": json.dumps([json.loads(said)])})
    assert decode(AskUser, several).questions[0].options == read


def test_answers_to_choose_from_may_be_objects_with_a_label() -> None:
    said = json.dumps({"question": "Which?", "options": [{"label": "red"}, {"text": "blue"}, 3]})
    assert decode(AskUser, said).options == ("red", "blue", "3")


def test_one_text_to_look_out_for_is_not_cut_at_its_commas() -> None:
    said = json.dumps({"type": "notification", "texts": "Hello, world or not"})
    assert decode(CreateWatcher, said).texts == ("Hello, world or not",)


def test_a_plan_may_be_written_as_lines_or_with_other_words_for_its_status() -> None:
    lines = decode(UpdatePlan, json.dumps({"plan": "1. Open Clock\n2. Add an alarm"}))
    assert [item.step for item in lines.plan] == ["Open Clock", "Add an alarm"]
    items = [{"content": "Open Clock", "status": "done"}, {"task": "Add", "status": "In Progress"}]
    plan = decode(UpdatePlan, json.dumps({"todos": 1, "plan": items})).plan
    assert [(item.step, item.status.value) for item in plan] == [
        ("Open Clock", "completed"),
        ("Add", "in_progress"),
    ]


def test_a_number_where_only_a_text_fits_is_that_text() -> None:
    args = read_call(call("type_text", {"text": 5}))
    assert isinstance(args, TypeText) and args.text == "5"
    args = read_call(call("finish", {"success": True, "summary": 2.5}))
    assert isinstance(args, Finish) and args.summary == "2.5"
    with pytest.raises(BadArguments):
        read_call(call("type_text", {"text": True}))


@pytest.mark.parametrize("tool", ["click_element", "long_press_element"])
def test_what_lacks_its_element_is_told_that_a_label_will_do(tool: str) -> None:
    with pytest.raises(BadArguments, match="its exact `label`"):
        read_call(call(tool, {}))
