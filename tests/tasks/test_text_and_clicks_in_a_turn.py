"""How a turn types and clicks: the focused field, the element that is meant, no third try."""

from __future__ import annotations

from agent.protocol import StepCompleted
from tests.loop.paper_phone import field, node
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import DONE, says, scripted


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
