"""Support cases: where they stand, what is collapsed then, and what is not pressed again."""

from msgspec.structs import replace

from agent.loop.conversation.brief import brief_of
from agent.loop.conversation.prompts import goal_text, observation_text
from agent.loop.screen.elements import number_elements
from agent.loop.screen.screen_kind import is_navigation
from agent.loop.screen.screen_text import screen_text
from agent.loop.screen.support_phase import Phase, is_support_goal, phase_of
from agent.loop.signals.recover import RecentActions
from agent.protocol import ToolCallFinished
from agent.records import Bounds, Element, Foreground, Observation, UiNode
from tests.loop.paper_phone import PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task, texts


def element(label: str, number: int = 1, **more: object) -> Element:
    fields: dict[str, object] = {"clickable": True, **more}
    top = 0.2 + number / 50
    bounds = Bounds(left=0.1, top=top, right=0.9, bottom=top + 0.01)
    return Element(number=number, key=label, kind="btn", label=label, bounds=bounds, **fields)  # type: ignore[arg-type]


def test_a_goal_is_a_support_case_only_when_it_asks_somebody_for_help() -> None:
    for goal in ("Get a refund for my order", "Contact support: a missing item"):
        assert is_support_goal(goal)
    for goal in ("turn on Bluetooth", "order a pizza", "write a note: call mum"):
        assert not is_support_goal(goal)


def test_the_first_phase_that_fits_counts() -> None:
    chat = [element("Type a message", editable=True), element("Help"), element("Contact us")]
    assert phase_of(chat) is Phase.IN_CHAT
    assert phase_of(chat[1:]) is Phase.ON_SUPPORT_PAGE
    assert phase_of([element("Your orders"), element("Track")]) is Phase.ON_ORDER_PAGE
    assert phase_of([element("Helpful tips"), element("Pizza")]) is Phase.NAVIGATING


def shop(count: int) -> Observation:
    goods = tuple(element(f"Pizza {n}", n) for n in range(1, count + 1))
    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="com.shop"),
        elements=(*goods, element("Account", count + 1)),
    )


def written(seen: Observation, phase: Phase | None) -> str:
    return observation_text(seen, steps_left=30, plan=(), warnings=(), phase=phase)


def test_on_the_way_to_support_long_pages_are_shortened_to_what_leads_on() -> None:
    text = written(shop(12), Phase.NAVIGATING)
    assert "[12 other items -- NOT paths to support]" in text
    assert '"Account"' in text
    assert "[1] btn" not in text
    assert "Phase: NAVIGATING_TO_SUPPORT" in text
    for phase in (None, Phase.ON_ORDER_PAGE, Phase.IN_CHAT):
        assert "[1] btn" in written(shop(12), phase)


def test_a_short_page_and_one_without_a_way_on_are_shown_whole() -> None:
    assert "[1] btn" in written(shop(3), Phase.NAVIGATING)
    seen = shop(12)
    goods = Observation(
        started_ms=1,
        ended_ms=2,
        foreground=seen.foreground,
        elements=tuple(e for e in seen.elements if not is_navigation(e)),
    )
    assert "[1] btn" in written(goods, Phase.NAVIGATING)


def test_masking_keeps_the_phase() -> None:
    text = written(shop(3), Phase.ON_ORDER_PAGE)
    assert ", Phase: ON_ORDER_PAGE" in brief_of(replace(shop(3), screen_text=text))


# --- bans ----------


def test_what_was_opened_and_left_twice_is_not_opened_again() -> None:
    trail = RecentActions()
    for _ in range(2):
        assert trail.bans == {}
        trail.pressed("wallet")
        trail.went_back()
    assert list(trail.bans) == ["wallet"]


def test_something_done_in_between_makes_it_no_dead_end() -> None:
    trail = RecentActions()
    for _ in range(3):
        trail.pressed("wallet")
        trail.pressed("")
        trail.went_back()
    assert trail.bans == {}


async def test_a_dead_end_is_refused_by_its_key_whatever_its_number() -> None:
    inside = False
    ads = 0

    def screen() -> list[object]:
        if inside:
            return [node("a wallet", (0.1, 0.4, 0.9, 0.45))]
        above = [node(f"ad {n}", (0.1, 0.15 + n * 0.05, 0.9, 0.18 + n * 0.05)) for n in range(ads)]
        return [*above, button("Wallet", 0.6)]

    def on(what: str) -> None:
        nonlocal inside, ads
        if what == "tap Wallet":
            inside = True
        elif what == "press BACK":
            inside, ads = False, ads + 1

    phone = PaperPhone(screen, on)  # type: ignore[arg-type]
    model = scripted(
        says("click_element", element=1),
        says("press_button", button="BACK"),
        says("click_element", element=2),
        says("press_button", button="BACK"),
        says("click_element", element=3),
        DONE,
    )
    context = MemoryContext(model, phone)
    await task().run(context)
    assert phone.done.count("tap Wallet") == 2
    told = [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    assert told[4].startswith('BLOCKED: Element [3] "Wallet"')
    assert 'Do not press again (it led nowhere): [3] "Wallet"' in texts(model, 4)[-1]


def test_a_delegated_session_is_told_where_its_app_has_to_be_in_the_end() -> None:
    told = goal_text("tidy up", (), target="org.example.app", required="DETACHED_SHOWN")
    assert told.splitlines()[-1] == "Required final target presentation: DETACHED_SHOWN"
    assert "Required" not in goal_text("tidy up", (), target="org.example.app")
    anywhere = goal_text("tidy up", (), target="org.example.app", required="AGENT_CHOICE")
    assert anywhere.splitlines()[-1] == "Stay in the app org.example.app."


# --- the view of a support case ----------


def zoned(*nodes: UiNode) -> list[str]:
    elements = number_elements(nodes, redact=str)
    return screen_text(Foreground(package="com.shop"), elements, zones=True).splitlines()


def line_of(label: str, lines: list[str]) -> str:
    return next(line for line in lines if f'"{label}' in line)


def an_order() -> list[UiNode]:
    return [
        node("Order 1037", (0.1, 0.05, 0.5, 0.09)),
        node("Delivered", (0.1, 0.2, 0.5, 0.24)),
        node("$58.50", (0.1, 0.3, 0.5, 0.34)),
        node("Get help", (0.05, 0.9, 0.45, 0.96), clickable=True),
        node("Return items", (0.55, 0.9, 0.95, 0.96), clickable=True),
    ]


def test_what_changes_an_order_and_a_search_field_are_not_marked_as_ways_on() -> None:
    lines = zoned(*an_order(), field("Search products", 0.5))
    assert line_of("Get help", lines).startswith("  >>> ")
    assert ">>>" not in line_of("Return items", lines)
    assert ">>>" not in line_of("Search products", lines)
    for label in ("Cancel order", "Return items", "Skip delivery"):
        assert not is_navigation(element(label))
    for label in ("Close", "Return", "My orders", "Get help"):
        assert is_navigation(element(label))


def test_the_page_of_one_order_is_no_list_of_orders_and_no_page_of_help() -> None:
    assert not any(line.startswith("Layout") for line in zoned(*an_order()))
    assert phase_of(number_elements(an_order(), redact=str)) is Phase.ON_ORDER_PAGE
    orders = [button(f"Order {n} | Delivered", n / 5000) for n in (1037, 1042, 2100)]
    assert "Layout: Order list/history" in zoned(*orders)
    assert phase_of(number_elements(orders, redact=str)) is Phase.ON_ORDER_PAGE


def test_a_search_field_beside_the_word_chat_is_no_chat() -> None:
    shown = [
        field("Search help topics", 0.2),
        button("Chat with support", 0.5),
        button("Help", 0.7),
    ]
    assert phase_of(number_elements(shown, redact=str)) is Phase.ON_SUPPORT_PAGE


def a_support_chat(shift: float = 0.0) -> list[str]:
    mine = "I ordered a mug and got a lamp. " * 5 + "I want a refund of $12.00 please."
    return zoned(
        node("How can I help?", (0.04, 0.2, 0.5, 0.24)),
        node(mine, (0.3, 0.26, 0.96, 0.4)),
        field("Write a message", 0.9 - shift, focused=True),
        node("", (0.91, 0.9 - shift, 0.99, 0.95 - shift), clickable=True, description="Send"),
    )


def test_a_support_chat_tells_its_sides_the_focus_and_whole_messages() -> None:
    lines = a_support_chat()
    assert "Layout: chat; (me) is on the right, (them) on the left" in lines
    assert line_of("How can I help?", lines).endswith("(them)")
    assert line_of("I ordered", lines).endswith('refund of $12.00 please." (me)')
    assert line_of("Write a message", lines).endswith("[FOCUSED]")
    assert not any(line.startswith("Focused:") for line in lines)


def test_send_keeps_its_mark_when_the_keyboard_lifts_it() -> None:
    for shift in (0.0, 0.4):
        assert line_of("Send", a_support_chat(shift)).startswith("  >>> ")


async def test_a_dialog_has_no_phase() -> None:
    asks = [
        node("Return items?", (0.13, 0.43, 0.5, 0.47), resource_id="android:id/alertTitle"),
        button("Return items", 0.5),
    ]
    model = scripted(says("finish", success=False, summary="It asks."))
    phone = PaperPhone(lambda: asks)
    await task().run(MemoryContext(model, phone, goal="Get a refund for my order"))
    assert "Phase:" not in texts(model)[-1]
