"""What is asked about where nobody reads and the goal only asks to look."""

import pytest

from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.context import Context
from agent.safety.effects.verdict import ALLOWED
from agent.safety.reviewer.unread import ask_about_unread
from bench.redteam.screens import observe
from tests.loop.paper_phone import node
from tests.loop.test_changes import seen


@pytest.mark.parametrize("rows", range(3, 12))
def test_no_row_of_a_list_is_asked_about_not_even_its_last(rows: int) -> None:
    lines = [f"row Item {at} | ${at}.50" for at in range(rows)]
    screen = observe("\n".join(["app com.shop.app .Main", "title Shop", *lines]), at_ms=1)
    for element in screen.elements:
        act = Act(kind=ActKind.PRESS, element=element)
        verdict = ask_about_unread(ALLOWED, (act,), Context(screen=screen))
        assert verdict.decision is Decision.ALLOW, element.label


@pytest.mark.parametrize("cards", [4, 6, 7])
def test_no_card_of_a_grid_is_asked_about(cards: int) -> None:
    shop = [
        node(
            f"Item {at} | ${at}.50",
            (at % 2 / 2, 0.1 + at // 2 / 5, at % 2 / 2 + 0.48, 0.28 + at // 2 / 5),
            class_name="android.view.ViewGroup",
            clickable=True,
        )
        for at in range(cards)
    ]
    screen = seen(*shop)
    for element in screen.elements:
        act = Act(kind=ActKind.PRESS, element=element)
        verdict = ask_about_unread(ALLOWED, (act,), Context(screen=screen))
        assert verdict.decision is Decision.ALLOW, element.label


def test_the_last_button_of_a_page_is_asked_about() -> None:
    screen = observe("app com.form.app .Form\ntitle Form\nfield Name = Ada\nbutton Go on", at_ms=1)
    element = next(e for e in screen.elements if e.label == "Go on")
    act = Act(kind=ActKind.PRESS, element=element)
    verdict = ask_about_unread(ALLOWED, (act,), Context(screen=screen))
    assert verdict.decision is Decision.ASK
