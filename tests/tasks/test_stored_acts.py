"""What a session did is judged after a restart as it was judged when it was done."""

from collections.abc import Sequence
from typing import Any

import pytest

from agent import protocol
from agent.knowledge.library import Library
from agent.loop.acting.acts import acts_of, stored_acts
from agent.loop.acting.tool_call_parsing import read_choice
from agent.models.model import ToolCall
from agent.records import AppInfo, UiNode
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.flow import Flow
from agent.safety.redacting.finding import Kind
from agent.safety.typed_text import TypedText
from agent.tools.arguments import ServiceArguments, ToolKind
from agent.tools.registry import TOOLS
from tests.loop.paper_phone import APP, PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.counter import yes
from tests.tasks.scripted import DONE, says, scripted, task

CALLS: tuple[tuple[str, dict[str, Any], ActKind], ...] = (
    ("click_element", {"element": 1}, ActKind.PRESS),
    ("click_element", {"label": "Open"}, ActKind.PRESS),
    ("click_element", {"element": "[1]", "double": True}, ActKind.PRESS),
    ("long_press_element", {"element": 1}, ActKind.LONG_PRESS),
    ("long_press_element", {"label": "Open"}, ActKind.LONG_PRESS),
    ("type_text", {"text": "a b", "element": 2}, ActKind.TYPE),
    ("type_text", {"text": "a", "clear": "true"}, ActKind.TYPE),
    ("type_text", {"text": "a", "label": "Note"}, ActKind.TYPE),
    ("scroll", {"direction": "down"}, ActKind.SWIPE),
    ("scroll", {"direction": "left", "element": 1}, ActKind.SWIPE),
    ("press_button", {"key": "KEYCODE_BACK"}, ActKind.KEY),
    ("launch_app", {"app": APP}, ActKind.LAUNCH),
    ("tap_point", {"x": 500, "y": 120}, ActKind.PRESS),
    ("tap_point", {"x": 500, "y": 120, "press": "long"}, ActKind.LONG_PRESS),
    ("drag", {"element": 1, "to_element": 4}, ActKind.DRAG),
    ("drag", {"start": "100,120", "end": "900,120", "hold": True}, ActKind.DRAG),
    ("press_keys", {"keys": "3 1"}, ActKind.PRESS),
    ("press_keys", {"elements": [3, 5]}, ActKind.PRESS),
    ("press_keys", {"keys": "[SECRET]"}, ActKind.PRESS),
    ("open_link", {"link": "android.settings.WIFI_SETTINGS"}, ActKind.LAUNCH),
    ("open_link", {"link": "https://example.org/a"}, ActKind.OPEN_LINK),
    ("clipboard", {"do": "paste", "text": "a"}, ActKind.TYPE),
    ("clipboard", {"do": "copy", "text": "a"}, ActKind.COPY),
    ("clipboard", {"do": "read"}, ActKind.COPY),
    ("rotate", {"to": "landscape"}, ActKind.VIEW),
)
NAMES = [f"{name} {given}" for name, given, _ in CALLS]


def screen() -> Sequence[UiNode]:
    digits = (
        node(digit, (0.1 + 0.2 * at, 0.5, 0.25 + 0.2 * at, 0.55), clickable=True)
        for at, digit in enumerate("1234")
    )
    return (button("Open", 0.1), field("Note", 0.3, focused=True), *digits)


async def stored(name: str, given: dict[str, Any]) -> MemoryContext:
    """Play a turn of one call and return what it stored."""
    model = scripted(says(name, **given), DONE, DONE, DONE)
    model.sees = True
    context = MemoryContext(model, PaperPhone(screen), goal="read the clipboard", answer=yes)
    await task().run(context)
    return context


def call_of(context: MemoryContext) -> protocol.ToolCallRequested:
    asked = (m for m in context.of(protocol.ToolCallRequested))
    return next(m for m in asked if isinstance(m, protocol.ToolCallRequested))


@pytest.mark.parametrize(("name", "given", "kind"), CALLS, ids=NAMES)
async def test_a_stored_action_becomes_the_acts_that_it_was(
    name: str, given: dict[str, Any], kind: ActKind
) -> None:
    context = await stored(name, given)
    [first, *_] = context.of(protocol.ObservationRecorded)
    assert isinstance(first, protocol.ObservationRecorded)
    seen = first.observation
    said = ToolCall(call_id="c", name=name, arguments=call_of(context).arguments)
    choice = read_choice(said, seen, (AppInfo(package=APP),), Library({}))
    assert choice.resolved is not None, choice.unusable
    acts = acts_of(choice.resolved)
    again = stored_acts(call_of(context), seen)
    assert [act.kind for act in again] == [act.kind for act in acts]
    assert again[0].kind is kind
    for one, act in zip(again, acts, strict=True):
        assert (one.element, one.text, one.clear, one.key) == (
            act.element,
            act.text,
            act.clear,
            act.key,
        )
        assert (one.direction, one.link, one.is_secret) == (act.direction, act.link, act.is_secret)
        assert one.point == act.point


def test_every_tool_that_touches_the_phone_is_tried_and_every_kind_of_act() -> None:
    touching = {
        name
        for name, tool in TOOLS.items()
        if tool.tool_kind is ToolKind.ACTION and not issubclass(tool, ServiceArguments)
    }
    assert {name for name, _, _ in CALLS} == touching
    assert {kind for _, _, kind in CALLS} == set(ActKind)


async def test_a_dragged_row_was_not_chosen() -> None:
    context = await stored("drag", {"element": 1, "to_element": 4})
    assert Flow.of(context.events, stored_acts).chosen == ""


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("type_text", {"text": "4111 1111 1111"}),
        ("clipboard", {"do": "paste", "text": "4111 1111 1111"}),
        ("press_keys", {"keys": "411111111111"}),
    ],
)
async def test_a_card_that_was_begun_before_a_restart_is_found_when_it_is_completed(
    name: str, given: dict[str, Any]
) -> None:
    context = await stored(name, given)
    typed = TypedText.of(context.events, stored_acts)
    assert typed.completes(Act(kind=ActKind.TYPE, text="1111")) == {Kind.CARD}
