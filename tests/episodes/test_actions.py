"""Actions by name: their parameters are checked before the phone is touched, and clipped."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices import gestures
from agent.devices.protocols import Button
from agent.episodes.actions import TOOLS, carry_out, checked
from agent.errors import UsageError
from agent.records import Point


class Recording:
    def __init__(self) -> None:
        self.done: list[Any] = []

    async def perform(self, gesture: gestures.Gesture, *, timeout_s: float = 5.0) -> None:
        self.done.append(gesture)

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> None:
        self.done.append(text)

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None:
        self.done.append(button)


async def done(tool: str, **parameters: Any) -> Any:
    device = Recording()
    await carry_out(device, tool, checked(tool, parameters))  # type: ignore[arg-type]
    [one] = device.done
    return one


def at(x: float, y: float) -> Point:
    return Point(x=x, y=y)


async def test_the_ten_actions_are_those_of_android_env() -> None:
    assert await done("tap", x=0.5, y=0.5) == gestures.LongPress(at(0.5, 0.5), 100)
    assert await done("tap", x=1.5, y=-0.5) == gestures.LongPress(at(1, 0), 100)
    assert await done("long_press", x=0, y=1) == gestures.LongPress(at(0, 1), 1000)
    assert await done("double_tap", x=0.1, y=0.2) == gestures.DoubleTap(at(0.1, 0.2), 100)
    swiped = await done("swipe", x1=0.5, y1=0.8, x2=0.5, y2=0.2)
    assert swiped == gestures.Swipe(at(0.5, 0.8), at(0.5, 0.2), 300)
    assert await done("scroll_down") == gestures.Swipe(at(0.5, 0.7), at(0.5, 0.2), 300)
    assert await done("scroll_down", distance=1) == gestures.Swipe(at(0.5, 0.7), at(0.5, 0.2), 300)
    assert await done("scroll_up", x=0.2) == gestures.Swipe(at(0.2, 0.3), at(0.2, 0.8), 300)
    assert await done("swipe_left") == gestures.Swipe(at(0.7, 0.5), at(0.2, 0.5), 300)
    assert await done("swipe_right", y=0.9) == gestures.Swipe(at(0.3, 0.9), at(0.8, 0.9), 300)
    assert await done("type_text", text="$HOME 世界 🌍") == "$HOME 世界 🌍"
    assert await done("press_button", button="home") is Button.HOME
    assert len(TOOLS) == 10 + 3


async def test_several_fingers_act_too() -> None:
    middle = at(0.5, 0.5)
    assert await done("pinch", scale=2) == gestures.Pinch(middle, 2, duration_ms=400)
    shrunk = await done("pinch", scale=0.5, x=1.5, y=0.2, duration_ms=90)
    assert shrunk == gestures.Pinch(at(1, 0.2), 0.5, duration_ms=90)
    assert await done("rotate", degrees=-90) == gestures.Rotate(middle, -90, duration_ms=500)
    swiped = await done("multi_swipe", x1=0.5, y1=0.2, x2=0.5, y2=0.8)
    assert swiped == gestures.MultiSwipe(at(0.5, 0.2), at(0.5, 0.8), 3)
    told = TOOLS["pinch"].schema
    assert told["required"] == ["scale"]
    scale = told["properties"]["scale"]  # type: ignore[index]
    assert scale == {"type": "number", "minimum": 0.05, "maximum": 20}


@pytest.mark.parametrize(
    ("tool", "parameters", "said"),
    [
        ("touch_event", {}, "no tool"),
        ("tap", {"x": 0.5}, "'y'"),
        ("tap", {"x": 0.5, "y": 0.5, "z": 1}, "'z'"),
        ("tap", {"x": "a", "y": 0.5}, "not a number"),
        ("tap", {"x": True, "y": 0.5}, "not a number"),
        ("tap", {"x": float("nan"), "y": 0.5}, "not a number"),
        ("swipe", {"x1": 0, "y1": 0, "x2": 1, "y2": 1, "duration_ms": 0}, "is 0"),
        ("long_press", {"x": 0, "y": 0, "duration_ms": 1e9}, "is 1e\\+09"),
        ("pinch", {}, "'scale'"),
        ("pinch", {"scale": 0}, "'scale' of pinch is 0"),
        ("rotate", {"degrees": 361}, "'degrees' of rotate is 361"),
        ("multi_swipe", {"x1": 0, "y1": 0, "x2": 1, "y2": 1, "fingers": 11}, "'fingers'"),
        ("press_button", {"button": "SELF_DESTRUCT"}, "no button"),
        ("type_text", {"text": 5}, "not a text"),
        ("type_text", {"text": "x" * 10_001}, "not a text"),
    ],
)
def test_wrong_arguments_are_named(tool: str, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        checked(tool, parameters)
    assert refused.value.remedy


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(
    tool=st.sampled_from(list(TOOLS)),
    parameters=st.dictionaries(
        st.sampled_from(
            [
                "x",
                "y",
                "x1",
                "y1",
                "text",
                "button",
                "duration_ms",
                "distance",
                "odd",
                "scale",
                "degrees",
                "fingers",
            ]
        ),
        VALUES,
    ),
)
def test_any_arguments_are_refused_or_whole(tool: str, parameters: dict[str, Any]) -> None:
    try:
        found = checked(tool, parameters)
    except UsageError as refused:
        assert refused.message and refused.remedy
    else:
        assert set(found) == {one.name for one in TOOLS[tool].parameters}
        assert set(parameters) <= set(found)
