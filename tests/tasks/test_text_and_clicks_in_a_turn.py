"""How a turn types and clicks: the focused field, the element that is meant, no third try."""

import json

from agent.protocol import ObservationRecorded, StepCompleted
from agent.records import UiNode
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import DONE, says, scripted, task, texts


async def test_text_is_typed_only_once_its_field_has_the_focus() -> None:
    counter = Counter()
    context = await run(scripted(says("type_text", text="hello", element=3), DONE), counter)
    assert counter.phone.done == ["tap Message", "type hello"]
    assert results(context)[0].endswith("The field now holds it.")


async def test_a_field_is_emptied_before_it_is_typed_into_only_when_the_model_says_so() -> None:
    counter = Counter()
    counter.text, counter.focused = "old", True
    typing = says("type_text", text="hello", element=3, clear=True)
    emptying = says("type_text", text="", element=3, clear=True)
    context = await run(scripted(typing, emptying, DONE), counter)
    assert counter.phone.done == ["clear", "type hello", "clear"]
    assert results(context)[0].startswith("OK: Typed")
    assert results(context)[1].startswith("OK: Emptied the field")


async def test_what_the_screen_only_counts_is_listed_on_demand_and_can_be_clicked() -> None:
    counter = Counter()
    many = [node(f"b{n}", (0.1, n / 100, 0.9, n / 100 + 0.008), clickable=True) for n in range(100)]
    counter.phone.screen = lambda: many
    model = scripted(says("more_elements"), says("click_element", element=40), DONE)
    context = await run(model, counter)
    assert results(context)[0].startswith("OK: 40 elements, ")
    assert "1 more at the next call" in results(context)[0]
    assert '  [40] btn: "b39"' in results(context)[0]
    assert counter.phone.done == ["tap b39"]
    counted = [m.counted for m in context.of(StepCompleted) if isinstance(m, StepCompleted)]
    assert counted[:2] == [False, True]


async def test_text_is_not_typed_into_another_field_that_keeps_the_focus() -> None:
    counter = Counter()
    other = field("Other", 0.8, focused=True)
    screen = counter.screen
    counter.phone.screen = lambda: (*(n for n in screen() if not n.focused), other)
    counter.phone.on = lambda _what: None
    context = await run(scripted(says("type_text", text="hello", element=3), DONE), counter)
    assert "type hello" not in counter.phone.done
    assert "another field kept the focus" in results(context)[0]


async def test_the_third_identical_action_without_effect_is_not_carried_out() -> None:
    counter = Counter()
    counter.phone.on = lambda _what: None
    model = scripted(*[says("click_element", element=1) for _ in range(3)], DONE)
    context = await run(model, counter)
    assert counter.phone.done == ["tap Press"] * 2
    assert "exactly this twice" in results(context)[2]


async def test_a_dialog_opens_and_closes_in_results_and_changes_over_a_page_that_stays() -> None:
    asks, deleted = False, False

    def screen() -> list[UiNode]:
        if asks:
            return [
                node("Delete contact?", (0.1, 0.4, 0.9, 0.45), resource_id="android:id/alertTitle"),
                button("Keep", 0.5),
                button("Delete", 0.6),
            ]
        names = ["Berta"] if deleted else ["Anna", "Berta"]
        rows = [button(name, 0.7 + 0.1 * at) for at, name in enumerate(names)]
        return [button("Navigate up", 0.05), button("Remove", 0.3), *rows]

    def on(what: str) -> None:
        nonlocal asks, deleted
        deleted = deleted or what == "tap Delete"
        asks = what == "tap Remove"

    model = scripted(
        says("click_element", element=2),
        says("click_element", element=2),
        says("click_element", element=2),
        says("click_element", element=3),
        says("finish", success=False, summary="That was all."),
    )
    context = MemoryContext(
        model, PaperPhone(screen, on), goal="Remove Anna", answer=lambda _question: "Approve"
    )
    await task().run(context)
    said = [result.partition(". ")[2] for result in results(context)[:4]]
    assert said == [
        'A dialog opened: "Delete contact?".',
        "The dialog closed.",
        'A dialog opened: "Delete contact?".',
        'The dialog closed. Removed: "Anna". The operator approved it.',
    ]
    seen = [m.observation for m in context.of(ObservationRecorded)]  # type: ignore[attr-defined]
    assert [one.change for one in seen[1:]] == [
        'CONTENT_UPDATED: A dialog opened: "Delete contact?".',
        "CONTENT_UPDATED: The dialog closed.",
        'CONTENT_UPDATED: A dialog opened: "Delete contact?".',
        'CONTENT_UPDATED: The dialog closed. Removed: "Anna".',
    ]


async def test_typed_lines_and_spaces_reach_results_and_screens_as_they_are() -> None:
    held = ""

    def on(what: str) -> None:
        nonlocal held
        held = what.removeprefix("type ") if what.startswith("type ") else held

    phone = PaperPhone(lambda: [field("Note", 0.3, held, focused=True)], on)
    text = "First line\nSecond line\n  indented  third"
    model = scripted(
        says("type_text", text=text, element=1), says("finish", success=False, summary="Done.")
    )
    context = MemoryContext(model, phone, goal="Write it down")
    await task().run(context)
    shown = r'"First line\nSecond line\n  indented  third"'
    assert results(context)[0] == f'OK: Typed {shown} into "Note". The field now holds it.'
    assert f"= {shown} [FOCUSED]" in texts(model)[-1]


async def test_an_argument_that_there_is_not_is_told_and_not_kept() -> None:
    typing = says("type_text", text="hello", elementId=3, press_enter=True)
    model = scripted(typing, DONE)
    context = await run(model)
    assert results(context)[0].endswith("There is no argument `press_enter`: it was ignored.")
    [call] = model.requests[-1].messages[3].tool_calls
    assert json.loads(call.arguments) == {"text": "hello", "element": 3}
