"""What waits for an approval in a turn, and what one approval covers."""

from collections.abc import Sequence

import pytest

from agent.errors import DeviceTimeoutError, TreeUnavailableError
from agent.records import Question, UiNode
from tests.loop.paper_phone import PaperPhone, button, node
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run, yes
from tests.tasks.scripted import DONE, says, scripted, task


async def test_safety_a_click_by_number_on_a_send_button_waits_for_approval() -> None:
    counter = Counter()
    model = scripted(says("click_element", element=4, expected="Nothing happens."), DONE)
    context = await run(model, counter, answer=yes)
    assert context.questions[0].kind == "approval"
    assert '"Send"' in context.questions[0].text
    assert counter.count == 1
    assert results(context)[0].startswith("OK: ")
    assert results(context)[0].endswith("The operator approved it.")


@pytest.mark.parametrize("answer", [None, "Deny", "maybe"])
async def test_safety_silence_and_no_are_no(answer: str | None) -> None:
    counter = Counter()
    again = says("click_element", element=4)
    context = await run(scripted(again, again, DONE), counter, answer=lambda _q: answer)
    assert counter.count == 0
    assert len(context.questions) == 1
    assert results(context)[0].startswith("FAILED: ")
    assert "already rejected" in results(context)[1]


async def test_safety_an_element_that_is_gone_after_the_approval_is_not_clicked() -> None:
    counter = Counter()

    def vanish(_question: Question) -> str:
        counter.phone.screen = lambda: (button("Pay now", 0.6),)
        return "Approve"

    context = await run(scripted(says("click_element", element=4), DONE), counter, answer=vanish)
    assert counter.phone.done == []
    assert "not there now" in results(context)[0]


async def test_safety_a_label_that_changed_at_its_end_during_the_approval_is_not_clicked() -> None:
    amount = "5"
    label = "Pay the bill of the electricity company, in all {} euros"
    phone = PaperPhone(lambda: (button(label.format(amount), 0.4),))

    def raise_it(_question: Question) -> str:
        nonlocal amount
        amount = "500"
        return "Approve"

    context = MemoryContext(
        scripted(says("click_element", element=1), DONE), phone, answer=raise_it
    )
    await task().run(context)
    assert phone.done == []
    assert "not there now" in results(context)[0]


async def test_safety_enter_is_not_pressed_where_the_focus_has_gone_meanwhile() -> None:
    counter = Counter()
    counter.focused, counter.text = True, "hello"

    def rewrite(_question: Question) -> str:
        counter.text = "something else"
        return "Approve"

    press = says("press_button", button="ENTER")
    context = await run(scripted(press, DONE), counter, answer=rewrite)
    assert len(context.questions) == 1
    assert counter.phone.done == []
    context = await run(scripted(press, DONE), counter, answer=yes)
    assert counter.phone.done == ["press ENTER"]


async def test_safety_text_goes_to_its_field_though_the_focus_moved_during_the_approval() -> None:
    counter = Counter()
    counter.focused = True

    def move(_question: Question) -> str:
        counter.focused = False
        return "Approve"

    typed = says("type_text", text="password: hunter2")
    await run(scripted(typed, DONE), counter, answer=move)
    assert counter.phone.done == ["tap Message", "type password: hunter2"]


class Rows:
    """A list whose rows each have a button that deletes; a dialog may ask once more."""

    def __init__(self, *, confirms: bool) -> None:
        self.left = [0.2, 0.4, 0.6]
        self.asked: float | None = None
        self.confirms = confirms
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        if self.asked is not None:
            return (button("Cancel", 0.5), button("Delete", 0.7))
        return tuple(button("Delete", y) for y in self.left)

    def on(self, what: str) -> None:
        if self.confirms and self.asked is None:
            self.asked = self.left[0]
        else:
            self.left, self.asked = self.left[1:], None


async def test_safety_one_approval_deletes_one_thing() -> None:
    rows = Rows(confirms=False)
    press = says("click_element", element=1)
    context = MemoryContext(scripted(press, press, press, DONE), rows.phone, answer=yes)
    await task().run(context)
    assert len(context.questions) == 3
    assert rows.left == []


async def test_safety_the_phones_own_question_is_covered_by_the_approval() -> None:
    rows = Rows(confirms=True)
    steps = (says("click_element", element=1), says("click_element", element=2))
    context = MemoryContext(scripted(*steps, DONE), rows.phone, answer=yes)
    await task().run(context)
    assert len(context.questions) == 1
    assert len(rows.left) == 2


async def test_a_screen_that_cannot_be_read_after_the_approval_is_no_end_of_the_turn() -> None:
    counter = Counter()

    def stutter(_question: Question) -> str:
        counter.phone.failures["tree"] = [TreeUnavailableError("no tree")] * 50
        counter.phone.failures["capture"] = [DeviceTimeoutError("no picture")]
        return "Approve"

    press = says("click_element", element=4)
    context = MemoryContext(scripted(press, DONE), counter.phone, answer=stutter)
    end = await task().run(context)
    assert end.completed
    assert counter.phone.done == []
    assert "nothing was done" in results(context)[0]


async def test_safety_a_swipe_over_a_slider_that_pays_waits_for_approval() -> None:
    phone = PaperPhone(lambda: (node("Slide to pay", (0.1, 0.4, 0.9, 0.5)),))
    swipe = says("scroll", direction="left", element=1)
    context = MemoryContext(scripted(swipe, DONE), phone)
    await task().run(context)
    assert '"Slide to pay"' in context.questions[0].text
    assert phone.done == []


async def test_safety_a_card_is_never_typed_and_stands_nowhere() -> None:
    counter = Counter()
    typed = says("type_text", text="4111 1111 1111 1111", element=3)
    context = await run(scripted(typed, DONE), counter, answer=yes)
    assert counter.phone.done == []
    assert context.questions == []
    assert "not allowed" in results(context)[0]
    everything = repr(context.events) + repr(context.blobs)
    assert "4111 1111" not in everything


async def test_personal_data_on_the_screen_is_in_no_event_no_blob_and_no_request() -> None:
    counter = Counter()
    screen = counter.screen
    counter.phone.screen = lambda: (*screen(), node("SSN 123-45-6789", (0.1, 0.7, 0.9, 0.75)))
    model = scripted(DONE)
    context = await run(model, counter)
    assert "123-45-6789" not in repr(context.events) + repr(model.requests)
    kept = [data for data in context.blobs.values() if b"<h>" not in data]
    assert not any(b"123-45-6789" in data for data in kept)
