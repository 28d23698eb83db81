"""Going by what another session did: by identity, and asking where the screen is another."""

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent import records
from agent.loop.acting.action_replay import Route, find
from agent.protocol import Event, EventMsg, RouteGiven, ToolCallRequested
from agent.sessions.lifecycle.replaying import actions_of
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task

DONE_OUTCOME = records.ActionOutcome.DONE


def element(number: int, label: str, **fields: object) -> records.Element:
    known: dict[str, object] = {
        "kind": "btn",
        "package": "org.example",
        "class_name": "Button",
        "resource_id": "",
        **fields,
    }
    bounds = records.Bounds(left=0, top=number / 100, right=1, bottom=(number + 1) / 100)
    return records.Element(number=number, key=label, label=label, bounds=bounds, **known)  # type: ignore[arg-type]


def screen(*elements: records.Element, package: str = "org.example") -> records.Observation:
    return records.Observation(
        started_ms=0, ended_ms=0, foreground=records.Foreground(package=package), elements=elements
    )


def click(wanted: records.Element) -> records.RouteAction:
    arguments = json.dumps({"element": wanted.number, "expected": "x"})
    return records.RouteAction(
        tool="click_element", arguments=arguments, element=wanted, package="org.example"
    )


def test_an_element_is_found_where_it_stands_now() -> None:
    route = Route([click(element(3, "Save"))])
    call = route.next(screen(element(1, "Save"), element(2, "Cancel")))
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == (
        "click_element",
        {"element": 1, "expected": "x"},
    )
    assert route.is_over
    assert route.next(screen(element(1, "Save"))) is None


def test_two_that_look_alike_are_nobodys_choice() -> None:
    assert find(element(1, "Delete"), [element(1, "Delete"), element(2, "Delete")]) is None
    by_id = [element(1, "Delete", resource_id="a"), element(2, "Delete", resource_id="b")]
    assert find(element(9, "Delete", resource_id="b"), by_id) is by_id[1]


def test_the_only_row_of_a_list_is_not_taken_for_another_row() -> None:
    ann, bob = (element(1, name, resource_id="conversation") for name in ("Ann", "Bob"))
    assert find(ann, [bob]) is None
    field = element(1, "Hello", resource_id="draft", editable=True)
    assert find(field, [replace(field, label="Message", key="m")]) is not None


def test_what_has_neither_words_nor_an_id_is_the_models_to_find() -> None:
    icon = element(1, "")
    assert find(icon, [element(1, "")]) is None
    assert find(replace(icon, resource_id="send"), [element(4, "", resource_id="send")]) is not None


def test_what_a_row_says_of_its_state_does_not_hide_it() -> None:
    was = element(4, "Bluetooth | Off")
    assert find(was, [element(2, "Bluetooth | On"), element(3, "Wi-Fi | Off")]) is not None
    assert find(was, [element(2, "Bluetooth | On", package="evil.app")]) is None


def test_a_switch_that_stands_as_it_was_left_is_not_touched() -> None:
    switch = element(1, "Use Bluetooth", checkable=True, checked=False)
    after = click(element(2, "Done"))
    route = Route([click(switch), after])
    call = route.next(screen(replace(switch, checked=True), element(2, "Done")))
    assert call is None or call.call_id == "route_1"
    assert route.position >= 1


def test_another_screen_is_the_models_and_the_route_goes_on_after_it() -> None:
    one, two, three = (click(element(n, f"Button {n}")) for n in (1, 2, 3))
    route = Route([one, two, three])
    dialog = screen(element(1, "Allow"))
    assert route.next(dialog) is None
    # The model has gone its own way, past the first action.
    call = route.next(screen(element(5, "Button 2")))
    assert call is not None
    assert call.call_id == "route_1"
    assert json.loads(call.arguments)["element"] == 5


def test_nothing_is_left_out_unless_the_model_was_asked() -> None:
    one, two = click(element(1, "One")), click(element(2, "Two"))
    route = Route([one, two])
    assert route.next(screen(element(2, "Two"))) is None
    assert route.position == 0


def test_after_a_deed_that_did_not_do_what_it_did_the_model_is_asked() -> None:
    route = Route([click(element(1, "One")), click(element(2, "Two"))])
    here = screen(element(1, "One"), element(2, "Two"))
    first = route.next(here)
    assert first is not None
    route.on_result(first.call_id, DONE_OUTCOME, "WARNING: nothing changed")
    assert route.next(here) is None
    assert route.next(here) is not None


def test_a_key_is_pressed_only_in_the_app_it_was_pressed_in() -> None:
    back = records.RouteAction(
        tool="press_button", arguments='{"button": "BACK"}', package="org.example"
    )
    assert Route([back]).next(screen(package="other.app")) is None
    assert Route([back]).next(screen()) is not None


def test_a_route_is_taken_up_where_it_was_left() -> None:
    actions = tuple(click(element(n, f"Button {n}")) for n in (1, 2, 3))
    msgs: tuple[EventMsg, ...] = (
        RouteGiven(origin="s-0", actions=actions),
        ToolCallRequested(step=1, call_id="route_0", tool="click_element", arguments="{}"),
        ToolCallRequested(step=2, call_id="call_x", tool="click_element", arguments="{}"),
    )
    events = [Event(event_id=n, seq=n, ts_ms=0, msg=msg) for n, msg in enumerate(msgs, 1)]
    route = Route.of(events)
    assert route.position == 1
    assert Route.of([]).is_over


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from("abcd"), max_size=6), st.lists(st.sampled_from("abcd"), max_size=6))
def test_only_what_is_on_the_screen_is_ever_called(done: list[str], seen: list[str]) -> None:
    actions = [click(element(n + 1, label)) for n, label in enumerate(done)]
    here = screen(*(element(n + 1, label) for n, label in enumerate(seen)))
    route = Route(actions)
    for _ in range(len(actions) + 2):
        before = route.position
        call = route.next(here)
        assert route.position >= before
        if call is not None:
            number = json.loads(call.arguments)["element"]
            assert seen.count(seen[number - 1]) == 1


class Form:
    """Two buttons that must be pressed in order, and once a question in between."""

    def __init__(self, *, asks: bool) -> None:
        self.place = 0
        self.asks = asks
        self.phone = PaperPhone(self.nodes, self.on)

    def nodes(self) -> Sequence[records.UiNode]:
        if self.place == 1 and self.asks:
            return (button("Allow", 0.3),)
        return (button(("Next", "Send form", "Sent")[self.place], 0.5 - self.place / 10),)

    def on(self, what: str) -> None:
        if what == "tap Allow":
            self.asks = False
        elif what in {"tap Next", "tap Send form"}:
            self.place += 1


async def walked(form: Form, *answers: object, past: Sequence[Event] = ()) -> MemoryContext:
    model = scripted(*answers)  # type: ignore[arg-type]
    context = MemoryContext(model, form.phone, answer=lambda question: "Approve", past=past)
    await task().run(context)
    return context


async def test_a_session_is_done_again_and_heals_where_a_dialog_stands_in_its_way() -> None:
    first = Form(asks=False)
    click_1 = says("click_element", element=1)
    walk = await walked(first, click_1, click_1, DONE)
    assert first.place == 2
    actions = actions_of(walk.events)
    assert [action.element.label for action in actions if action.element] == ["Next", "Send form"]
    given_route = RouteGiven(origin="s-0", actions=actions)
    past = (Event(event_id=1, session_id="s-1", seq=1, ts_ms=0, msg=given_route),)
    same = Form(asks=False)
    again = await walked(same, DONE, past=past)
    assert same.place == 2
    # The model was asked for one thing only: to say that it is done.
    assert len(again.model.requests) == 1  # type: ignore[attr-defined]
    other = Form(asks=True)
    healed = await walked(other, click_1, DONE, past=past)
    assert other.phone.done[-3:] == ["tap Next", "tap Allow", "tap Send form"]
    assert len(healed.model.requests) == 2  # type: ignore[attr-defined]
