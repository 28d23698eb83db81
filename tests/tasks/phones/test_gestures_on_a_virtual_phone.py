"""Gesture tools at real work: a real adb server, a virtual phone, and what is kept of a PIN."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from agent.models.model import ModelReply, ModelRequest
from agent.protocol import ToolCallFinished, ToolCallRequested
from agent.records import Question
from agent.tasks.regular import RegularTask
from tests.digits import holds_number
from tests.tasks.context import MemoryContext
from tests.tasks.phones.test_pilot_on_a_virtual_phone import virtual_phone
from tests.tasks.scripted import ScriptedModel, says

PIN = "2580"  # The Wallet's own.
END = (says("finish", success=False, summary="Enough."),) * 3


def on(
    label: str, tool: str = "click_element", **more: object
) -> Callable[[ModelRequest], ModelReply]:
    """Call a tool on the element whose line says a label."""

    def turn(request: ModelRequest) -> ModelReply:
        shown = next(m.text for m in reversed(request.messages) if "## Screen State" in m.text)
        lines = shown.splitlines()
        elements = [line for line in lines if re.match(r"\s*\[\d+\]", line)]
        found = [line for line in elements if label in line]
        assert found, "\n".join((f"No element says {label}:", *elements))
        number = int(re.findall(r"\[(\d+)\]", found[0])[0])
        name = "secret_for" if tool == "ask_user" else "element"
        return says(tool, **{name: number, **more})

    return turn


def results_of(context: MemoryContext) -> list[str]:
    return [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]


async def test_the_screen_is_turned_and_what_came_of_it_is_seen(tmp_path: Path) -> None:
    async with virtual_phone(tmp_path) as device:
        turns = [
            says("launch_app", app="Settings"),
            says("rotate", to="auto"),
            says("rotate", to="landscape"),
            says("rotate", to="portrait"),
            says("rotate", to="sideways"),
            *END,
        ]
        model = ScriptedModel(turns)
        context = MemoryContext(model, device, goal="read the settings in landscape")
        await RegularTask().run(context)
    _, free, wide, tall, wrong, *_ = results_of(context)
    assert wide.startswith("OK: Turned the screen to landscape.")
    across, down = (int(n) for n in re.findall(r"(\d+)×(\d+) now", wide)[0])
    assert across > down
    assert free.endswith("Auto-rotate is on now.")
    assert wide.endswith("Auto-rotate is off now.")
    assert tall.endswith(f"The picture is {down}×{across} now.")
    assert wrong.startswith("FAILED") and "to" in wrong


async def test_a_sum_is_pressed_in_one_call_and_pages_are_opened_by_their_links(
    tmp_path: Path,
) -> None:
    async with virtual_phone(tmp_path) as device:
        turns = [
            says("launch_app", app="Calculator"),
            says("press_keys", keys="12345+678*9="),
            says("open_link", link="android.settings.WIFI_SETTINGS"),
            on("Lakehouse", "drag", end="500,100"),
            says("open_link", link="https://example.com/"),
            *END,
        ]
        model = ScriptedModel(turns)
        context = MemoryContext(model, device, goal="add up, then open example.com")
        await RegularTask().run(context)
        assert (await device.foreground()).package == "com.android.browser"
    results = results_of(context)
    assert 'Now shows "18447"' in results[1]
    assert "NEW APP: Changed from com.android.calculator2 to com.android.settings" in results[2]
    assert results[3].startswith(("OK: Dragged", "WARNING: Dragged"))
    assert "com.android.browser" in results[4]


async def test_a_pin_pays_and_is_kept_nowhere(tmp_path: Path) -> None:
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return PIN if question.secret else "Approve"

    async with virtual_phone(tmp_path) as device:
        turns = [
            says("launch_app", app="Wallet"),
            on('"Send"'),
            on("Tom Becker"),
            on("0.00", "type_text", text="5"),
            says("press_button", button="BACK"),
            on("Continue"),
            on('btn: "1"', "ask_user", question="What is the Wallet's PIN?"),
            says("press_keys", keys="[SECRET]"),
            *END,
        ]
        model = ScriptedModel(turns)
        context = MemoryContext(model, device, goal="pay Tom Becker 5 dollars", answer=answer)
        await RegularTask().run(context)
    assert any("DoneActivity" in text for text in results_of(context))
    assert [question.secret for question in asked] == [False, True]
    kept = msgspec.json.encode(context.events) + b"".join(context.blobs.values())
    kept += repr(model.requests).encode() + repr(context.deltas).encode()
    assert not holds_number(kept, PIN)
    [pressed] = [
        m
        for m in context.of(ToolCallRequested)
        if isinstance(m, ToolCallRequested) and m.tool == "press_keys"
    ]
    assert (pressed.path, pressed.point, pressed.element) == ((), None, None)
    assert pressed.arguments == '{"keys": "[SECRET]"}'
