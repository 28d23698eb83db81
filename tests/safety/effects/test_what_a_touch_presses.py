"""Buttons that do not say plainly what they do: the policy judges what a finger would press."""

from collections.abc import Sequence

import pytest

from agent.loop.acting.guard import judge
from agent.loop.screen.elements import number_elements
from agent.records import Element, Foreground, Observation, UiNode
from agent.safety.capabilities import Capability, Decision
from agent.safety.effects.labels import find_named
from agent.safety.effects.verdict import Risk, Verdict
from agent.safety.words import is_price, joined_words, words
from agent.tools.actions import resolve
from agent.tools.arguments import ClickElement, TypeText
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task

HERE = (0.1, 0.6, 0.9, 0.65)
LEFT, RIGHT = (0.1, 0.6, 0.4, 0.65), (0.5, 0.6, 0.9, 0.65)
WEB = {"class_name": "android.webkit.WebView", "scrollable": True}


def numbered(nodes: Sequence[UiNode]) -> tuple[Element, ...]:
    return number_elements(nodes, redact=str)


def pressing(nodes: Sequence[UiNode], label: str = "") -> Verdict:
    """Judge a click on the element with a label, or on the lowest that can be clicked."""
    elements = numbered(nodes)
    found = [e for e in elements if (e.label == label if label else e.clickable)]
    screen = Observation(
        started_ms=1, ended_ms=2, foreground=Foreground(package="a.b"), elements=elements
    )
    deed = resolve(ClickElement(element=found[-1].number), screen, (), None)  # type: ignore[arg-type]
    return judge(deed, screen)


BUTTONS: dict[str, tuple[UiNode, ...]] = {
    "a description alone": (button("", 0.6, description="Pay $99"),),
    "a description under a harmless text": (button("Continue", 0.6, description="Pay $99"),),
    "a child that holds the text": (button("", 0.6), node("Pay $99", HERE, parent=0)),
    "a child under a name": (
        button("", 0.6, description="Continue"),
        node("Pay $99", HERE, parent=0),
    ),
    "a child two levels down": (
        button("", 0.6),
        node("", HERE, parent=0),
        node("Pay now", HERE, parent=1),
    ),
    "two nodes": (button("", 0.6), node("P", LEFT, parent=0), node("ay", RIGHT, parent=0)),
    "three nodes and a price": (
        button("", 0.6),
        node("Pa", LEFT, parent=0),
        node("y", LEFT, parent=0),
        node("$99", RIGHT, parent=0),
    ),
    "a text that lies on it": (button("", 0.6), node("Pay $99", (0.4, 0.61, 0.6, 0.64))),
    "texts in pieces that lie on it": (
        button("", 0.6),
        node("Place", LEFT),
        node("the order", RIGHT),
        node("Buy", (0.7, 0.61, 0.8, 0.64)),
    ),
    "words far into a long label": (button(f"{'Terms apply. ' * 20} Pay now", 0.6),),
    "a price alone": (button("$19.99", 0.6),),
    "a price in a child": (button("", 0.6), node("4,99 €", HERE, parent=0)),
    "a web page's button": (
        node("", (0.0, 0.1, 1.0, 0.9), **WEB),
        button("Pay $99", 0.6, class_name="android.widget.Button", parent=0),
    ),
    "a web page's link of parts": (
        node("", (0.0, 0.1, 1.0, 0.9), **WEB),
        node("", HERE, parent=0, clickable=True, class_name="android.view.View"),
        node("Buy", LEFT, parent=1, class_name="android.widget.TextView"),
        node("now", RIGHT, parent=1, class_name="android.widget.TextView"),
    ),
    "letters in squares": (button("🅿🅰🆈", 0.6),),
    "letters in circles": (button("🅟🅐🅨 🅝🅞🅦", 0.6),),
    "mathematical letters": (button("𝐏𝐚𝐲", 0.6),),
    "Cyrillic letters": (button("Раy", 0.6),),
    "joiners between the letters": (button("P\u200da\u200dy", 0.6),),
    "an override": (button("\u202ewon yaP\u202c", 0.6),),
    "a space inside": (button("Pa y", 0.6),),
    "a number behind it": (button("Pay99", 0.6),),
    "words without a space": (button("PayNow", 0.6),),
    "a payment that is made": (button("Make a payment", 0.6),),
}


@pytest.mark.parametrize("nodes", BUTTONS.values(), ids=BUTTONS.keys())
def test_safety_a_button_that_pays_is_asked_about_however_it_says_so(
    nodes: tuple[UiNode, ...],
) -> None:
    verdict = pressing(nodes)
    assert (verdict.decision, verdict.risk) == (Decision.ASK, Risk.FINANCIAL)
    assert verdict.capability is Capability.PAY


def test_safety_a_button_that_lies_over_another_is_the_one_that_is_pressed() -> None:
    harmless = button("Read more", 0.6)
    over = node("Pay $99", (0.4, 0.61, 0.6, 0.64), clickable=True)
    assert pressing((harmless, over), "Read more").risk is Risk.FINANCIAL
    beside = node("Pay $99", (0.7, 0.61, 0.9, 0.64), clickable=True)
    assert pressing((harmless, beside), "Read more") is not None
    assert pressing((harmless, beside), "Read more").decision is Decision.ALLOW


def test_safety_a_text_in_a_button_presses_the_button() -> None:
    pay = button("", 0.6, description="Pay $99")
    note = node("Terms apply", (0.4, 0.61, 0.6, 0.64), parent=0)
    assert pressing((pay, note), "Terms apply").risk is Risk.FINANCIAL


def test_safety_what_is_around_a_button_is_not_pressed_with_it() -> None:
    card = node("", (0.0, 0.4, 1.0, 0.9), clickable=True, description="Buy this lamp")
    details = button("Details", 0.6, parent=0)
    assert pressing((card, details), "Details").decision is Decision.ALLOW


def test_safety_a_field_under_a_button_is_not_tapped_unasked() -> None:
    elements = numbered((field("Note", 0.6), node("Buy", (0.4, 0.6, 0.6, 0.65), clickable=True)))
    screen = Observation(
        started_ms=1, ended_ms=2, foreground=Foreground(package="a.b"), elements=elements
    )
    at = next(e.number for e in elements if e.editable)
    deed = resolve(TypeText(text="hello", element=at), screen, (), None)  # type: ignore[arg-type]
    assert judge(deed, screen).risk is Risk.FINANCIAL


@pytest.mark.parametrize(
    "label",
    [
        *("Display", "PayPal", "Paypal settings", "Payments", "How to spell", "Paya", "Sup ayer"),
        *("19:99", "12.5", "3 of 5", "Desk lamp | $24.00", "$ settings", "Room 19", "EURO 2024"),
        *("Balance: $19.99", "Continue", "De tails"),
    ],
)
def test_what_only_resembles_it_is_not_asked_about(label: str) -> None:
    assert pressing((button(label, 0.6),)).decision is Decision.ALLOW


@pytest.mark.parametrize(
    "label",
    [
        "$19.99",
        "19,99 €",
        "€4",
        "US$ 5.00",
        "1 299,00 kr",
        "CHF 5.-",
        "£3.99/mo",
        "¥1,200 per month",
    ],
)
def test_safety_a_button_that_is_a_price_buys(label: str) -> None:
    assert is_price(label)
    assert pressing((button(label, 0.6),)).risk is Risk.FINANCIAL
    text = numbered((node(label, HERE),))[0]
    assert find_named(text) is None, "a price that is no button is read, not pressed"


@pytest.mark.parametrize("label", ["De | lete", "Era se", "Delete | account"])
def test_safety_what_destroys_is_asked_about_in_pieces_too(label: str) -> None:
    assert pressing((button(label, 0.6),)).risk is Risk.DESTRUCTIVE


def test_only_a_few_words_are_read_as_one() -> None:
    assert joined_words(words("P a | y 99")) == "pay"
    assert joined_words(words("we do not go there to p ay")) == ""


async def test_an_approval_whose_button_moved_presses_nothing() -> None:
    """The operator is asked about one button; while they think another takes its place."""
    moved = False

    def screen() -> list[UiNode]:
        first = button("Pay $1", 0.6 if not moved else 0.75, resource_id="a:id/first")
        second = button("Pay $999", 0.75 if not moved else 0.6, resource_id="a:id/second")
        return [first, second]

    def answer(_question: object) -> str:
        nonlocal moved
        moved = True
        return "Approve"

    phone = PaperPhone(screen)
    model = scripted(says("click_element", element=1), DONE)
    context = MemoryContext(model, phone, answer=answer)
    await task().run(context)
    assert [q.kind.value for q in context.questions] == ["approval"]
    assert phone.done == []


async def test_an_approval_that_something_slid_under_presses_nothing() -> None:
    covered = False

    def screen() -> list[UiNode]:
        shown = [button("Send", 0.6)]
        if covered:
            shown.append(node("Pay $999", (0.4, 0.61, 0.6, 0.64), clickable=True))
        return shown

    def answer(_question: object) -> str:
        nonlocal covered
        covered = True
        return "Approve"

    phone = PaperPhone(screen)
    model = scripted(says("click_element", element=1), DONE)
    context = MemoryContext(model, phone, answer=answer)
    await task().run(context)
    assert [q.kind.value for q in context.questions] == ["approval"]
    assert phone.done == []
