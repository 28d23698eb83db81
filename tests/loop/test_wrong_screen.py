"""A support case that strayed among what is sold: it is told so, and does not go there again."""

import pytest

from agent.loop.screen.wrong_screen import misleads
from agent.loop.signals.recover import RecentActions
from agent.loop_features import Pattern
from agent.protocol import ToolCallFinished
from agent.records import Bounds, Element, Foreground, Observation, UiNode
from tests.loop.paper_phone import PaperPhone, button, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task, texts

GOAL = "Get a refund for my order from their support"
PRODUCTS = ("Desk lamp | $24.00", "Steel bottle | $19.50", "Mug | 8 €", "Jacket | 30% off, sale")


def page(*labels: str, activity: str = ".Main") -> Observation:
    def element(at: int, label: str) -> Element:
        top = 0.2 + at / 40
        return Element(
            number=at + 1,
            key=label,
            kind="nav-btn" if label == "Back" else "btn",
            label=label,
            bounds=Bounds(left=0.1, top=top, right=0.9, bottom=top + 0.02),
            clickable=True,
        )

    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="a.shop", activity=activity),
        elements=tuple(element(at, label) for at, label in enumerate(labels)),
    )


@pytest.mark.parametrize(
    ("seen", "searched", "expected"),
    [
        (page(*PRODUCTS, "Back"), 1, True),
        (page(*PRODUCTS, "Help"), 1, True),
        (page(*PRODUCTS, "Help", "Account"), 1, False),
        (page(*PRODUCTS[:2], "Add to wishlist"), 2, False),
        (page(*PRODUCTS[:2], "Add to wishlist"), 3, True),
        (page(*PRODUCTS[:2], "Account"), 9, False),
        (page("Order 1 | $4", "Order 2 | $5", "Order 3 | $6", "Order 4 | $7"), 9, False),
        (page("Balance", activity=".ui.MyWalletActivity"), 1, True),
        (page("Cards", activity=".WalletActivity"), 1, True),
        (page("Cards", activity=".Swallet"), 1, False),
        (page("Bluetooth", "Sound"), 9, False),
    ],
)
def test_a_page_that_sells_or_pays_leads_to_no_support(
    seen: Observation, searched: int, expected: bool
) -> None:
    assert misleads(seen, searched) is expected


class Shop:
    """A home page with an account, and a page of products behind one of its buttons."""

    def __init__(self) -> None:
        self.selling = False
        self.phone = PaperPhone(self.screen, self.on)

    def screen(self) -> list[UiNode]:
        if self.selling:
            return [button(label, 0.2 + at / 10) for at, label in enumerate(PRODUCTS)]
        return [button("Explore", 0.3), button("Account", 0.5), node("Welcome")]

    def on(self, what: str) -> None:
        if what == "tap Explore":
            self.selling = True
        elif "back" in what.casefold():
            self.selling = False


async def test_what_led_to_products_is_warned_of_and_not_pressed_again() -> None:
    shop = Shop()
    explore = says("click_element", element=1)
    model = scripted(explore, says("press_button", button="BACK"), explore, DONE, DONE)
    context = MemoryContext(model, shop.phone, goal=GOAL)
    await task().run(context)
    assert shop.phone.done.count("tap Explore") == 1
    assert "leads to no support" in texts(model, 1)[-1]
    assert "Do not press again (it led nowhere): [1]" in texts(model, 2)[-1]
    told = [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    assert told[2].startswith('BLOCKED: Element [1] "Explore"')


async def test_who_does_not_look_for_support_may_shop() -> None:
    shop = Shop()
    model = scripted(says("click_element", element=1), DONE)
    await task().run(MemoryContext(model, shop.phone, goal="Look at what they sell"))
    assert all("leads to no support" not in text for text in texts(model, 1))


def test_every_fifth_screen_without_a_way_to_support_says_to_plan_anew() -> None:
    trail, told = RecentActions(), []
    for _ in range(10):
        trail.looked_for_support(found=False, misleads=False)
        told.append(trail.warnings())
    assert [at for at, said in enumerate(told, start=1) if said] == [5, 10]
    assert told[4] == (
        "WARNING: 5 screens in a row showed no way to support. Plan another way with update_plan.",
    )
    trail.looked_for_support(found=True, misleads=False)
    assert trail.warnings() == ()
    trail = RecentActions(without={Pattern.NAVIGATION_FIRST}, searched=4)
    trail.looked_for_support(found=False, misleads=False)
    assert trail.warnings() == ()
