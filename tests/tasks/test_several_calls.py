"""Several calls in one answer: a form is filled with one request, and a surprise ends it."""

import io
import itertools
from collections.abc import Sequence

import pytest
from PIL import Image

from agent.devices.protocols import Capture
from agent.loop.task_context import Steering
from agent.models.model import MessageKind, ModelReply, ModelRequest
from agent.protocol import StepCompleted, ToolCallRequested
from agent.records import Frame, UiNode
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.counter import results, run, yes
from tests.tasks.scripted import Clock, says, scripted, task

FAILS = says("finish", success=False, summary="It cannot be done.")


def at_once(*replies: ModelReply) -> ModelReply:
    calls = tuple(call for reply in replies for call in reply.tool_calls)
    return ModelReply(tool_calls=calls, usage=replies[0].usage)


class Form:
    """A form with three fields; what is over them moves down when the first is touched."""

    def __init__(self, *, dialog_after: str = "", gone_after: str = "") -> None:
        self.texts = {"Name": "", "Street": "", "Town": ""}
        self.saved = 0
        self._focus = ""
        self._dialog_after = dialog_after
        self._gone_after = gone_after
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        hint = [node("All fields are needed", (0.1, 0.05, 0.9, 0.1))] if self._focus else []
        fields = [
            field(name, 0.2 + 0.1 * at, text, focused=name == self._focus)
            for at, (name, text) in enumerate(self.texts.items())
            if not (self._gone_after and self.texts[self._gone_after] and name == "Town")
        ]
        dialog = []
        if self._dialog_after and self.texts[self._dialog_after]:
            dialog = [
                node(
                    "Use the suggested address?",
                    (0.2, 0.6, 0.8, 0.65),
                    resource_id="android:id/alertTitle",
                ),
                button("Use it", 0.7),
            ]
        return (*hint, *fields, button("Keep", 0.9), *dialog)

    def on(self, what: str) -> None:
        if what.startswith("tap ") and what.removeprefix("tap ") in self.texts:
            self._focus = what.removeprefix("tap ")
        elif what.startswith("type ") and self._focus:
            self.texts[self._focus] += what.removeprefix("type ")
        elif what == "tap Keep":
            self.saved += 1


def fill(*, then: ModelReply | None = None) -> ModelReply:
    calls = [
        says("type_text", element=1, text="Ada"),
        says("type_text", element=2, text="Hill 3"),
        says("type_text", element=3, text="Bern"),
    ]
    return at_once(*calls, *([then] if then else []))


def tools(context: MemoryContext) -> list[str]:
    return [m.tool for m in context.of(ToolCallRequested) if isinstance(m, ToolCallRequested)]


async def test_a_form_is_filled_by_one_request_though_its_numbers_move() -> None:
    form = Form()
    model = scripted(fill(then=says("click_element", element=4)), FAILS)
    context = MemoryContext(model, form.phone)
    await task().run(context)
    assert form.texts == {"Name": "Ada", "Street": "Hill 3", "Town": "Bern"}
    assert form.saved == 1
    assert len(model.requests) == 2
    # Each is a step with a screen, a judgement and a result of its own.
    assert len(context.of(StepCompleted)) == 5
    assert not any("not done" in text for text in results(context))


async def test_a_dialog_that_opens_ends_the_answer_and_is_said() -> None:
    form = Form(dialog_after="Street")
    model = scripted(fill(then=says("click_element", element=4)), FAILS)
    context = await run(model, form)  # type: ignore[arg-type]
    assert form.texts["Town"] == ""
    assert form.saved == 0
    assert any(
        "2 other calls were not done: the screen is another one" in t for t in results(context)
    )


async def test_an_element_that_is_gone_is_not_replaced_by_the_one_with_its_number() -> None:
    form = Form(gone_after="Street")
    context = await run(scripted(fill(), FAILS), form)  # type: ignore[arg-type]
    assert form.texts["Town"] == ""
    assert form.saved == 0
    assert any("1 other call was not done" in text for text in results(context))


async def test_a_call_that_fails_ends_the_answer() -> None:
    form = Form()
    wrong = at_once(says("click_element", element=99), says("click_element", element=4))
    context = await run(scripted(wrong, FAILS), form)  # type: ignore[arg-type]
    assert form.saved == 0
    assert "did not do what was expected" in results(context)[0]


@pytest.mark.parametrize("last", ["finish", "ask_user", "launch_app"])
async def test_what_needs_a_look_does_not_follow_an_act(last: str) -> None:
    form = Form()
    given = {
        "finish": {"success": True, "summary": "Kept."},
        "ask_user": {"question": "Which?"},
        "launch_app": {"app": "Clock"},
    }
    first = says("type_text", element=1, text="Ada")
    model = scripted(at_once(first, says(last, **given[last])), FAILS)
    context = await run(model, form)  # type: ignore[arg-type]
    assert tools(context) == ["type_text", "finish"]
    assert f"look at the screen before you call {last}" in results(context)[0]


async def test_a_hint_between_two_calls_ends_the_answer() -> None:
    form = Form()
    context: MemoryContext

    def hinted(_request: ModelRequest) -> ModelReply:
        context.steering.append(Steering(message_id="m-1", text="Leave the street out."))
        return fill()

    model = scripted(hinted, FAILS)
    context = MemoryContext(model, form.phone)
    await task().run(context)
    assert form.texts["Street"] == ""
    assert len(model.requests) == 2


async def test_an_approval_in_between_ends_the_answer() -> None:
    class Sender(Form):
        def screen(self) -> Sequence[UiNode]:
            return (field("Message", 0.3, "hello"), button("Send", 0.4), button("Keep", 0.9))

    form = Sender()
    answer = at_once(says("click_element", element=2), says("click_element", element=3))
    context = await run(scripted(answer, FAILS), form, answer=yes)  # type: ignore[arg-type]
    assert form.saved == 0
    assert tools(context) == ["click_element", "finish"]


class Dialog(Form):
    """A dialog with two fields; the keyboard moves it, and hides its title."""

    def screen(self) -> Sequence[UiNode]:
        typed = any(self.texts.values())
        title = [] if typed else [node("Set time", (0.2, 0.3, 0.8, 0.34), resource_id=_TITLE)]
        up = 0.2 if typed else 0.0
        return (
            *title,
            field("Name", 0.4 - up, self.texts["Name"], focused=self._focus == "Name"),
            field("Town", 0.5 - up, self.texts["Town"], focused=self._focus == "Town"),
            button("Cancel", 0.6 - up),
            button("Keep", 0.7 - up),
        )


_TITLE = "android:id/alertTitle"


async def test_a_dialog_that_the_keyboard_moves_is_still_that_dialog() -> None:
    form = Dialog()
    calls = at_once(
        says("type_text", element=2, text="Ada"),
        says("type_text", element=3, text="Bern"),
        says("click_element", element=5),
    )
    context = await run(scripted(calls, FAILS), form)  # type: ignore[arg-type]
    assert (form.texts["Name"], form.texts["Town"], form.saved) == ("Ada", "Bern", 1)
    assert not any("not done" in text for text in results(context))


async def test_a_plan_between_two_acts_needs_no_screen() -> None:
    form = Form()
    plan = says("update_plan", plan=[{"step": "Fill it", "status": "completed"}])
    keep = says("click_element", element=4)
    name = says("type_text", element=1, text="Ada")
    await run(scripted(at_once(name, plan, keep), FAILS), form)  # type: ignore[arg-type]
    assert (form.texts["Name"], form.saved) == ("Ada", 1)


async def test_a_claim_beside_a_plan_is_not_lost_where_a_clock_ticks() -> None:
    clock, ticks = Clock(), [0]
    shown = PaperPhone(lambda: (node(f"11:{ticks[0]:02}"), button("Keep", 0.9)))

    def slowly(_request: ModelRequest) -> ModelReply:
        clock.now += 60
        ticks[0] += 1
        plan = says("update_plan", plan=[{"step": "See it run", "status": "completed"}])
        return at_once(plan, FAILS)

    model = scripted(slowly, FAILS)
    context = MemoryContext(model, shown)
    await task(clock).run(context)
    assert tools(context) == ["update_plan", "finish"]
    assert len(model.requests) == 1


async def test_the_screens_between_two_calls_of_an_answer_are_not_shown_later() -> None:
    form = Form()
    model = scripted(fill(then=says("click_element", element=4)), FAILS)
    await run(model, form)  # type: ignore[arg-type]
    kinds = [message.kind for message in model.requests[-1].messages[2:]]
    one = [MessageKind.REPLY, MessageKind.RESULT]
    last = [MessageKind.OBSERVATION, MessageKind.EFFECTS]
    assert kinds == [MessageKind.OBSERVATION, *(4 * one), *last]


async def test_an_act_that_only_the_picture_shows_ends_the_answer() -> None:
    game = PaperPhone(lambda: (button("Left", 0.5), button("Right", 0.7)))
    both = at_once(says("click_element", element=1), says("click_element", element=2))
    context = MemoryContext(scripted(both, FAILS), game)
    pictures = itertools.count()

    async def capture(*, timeout_s: float = 10.0) -> Capture:
        drawn = io.BytesIO()
        Image.new("RGB", (108, 240), (next(pictures) * 40 % 256,) * 3).save(drawn, "PNG")
        frame = Frame(digest="", width_px=108, height_px=240, captured_ms=1)
        return Capture(frame=frame, data=drawn.getvalue())

    game.capture = capture  # type: ignore[method-assign]
    await task().run(context)
    assert game.done == ["tap Left"]
    assert "only the picture shows" in results(context)[0]
