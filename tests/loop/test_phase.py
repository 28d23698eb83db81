"""Support cases: where they stand, what is collapsed then, and what is not pressed again."""

from __future__ import annotations

from msgspec.structs import replace

from agent.loop.conversation.brief import brief_of
from agent.loop.conversation.prompts import goal_text, observation_text
from agent.loop.screen.screen_kind import is_navigation
from agent.loop.screen.support_phase import Phase, is_support_goal, phase_of
from agent.loop.signals.recover import Trail
from agent.protocol import ToolCallFinished
from agent.records import Bounds, Element, Foreground, Observation
from tests.loop.paper_phone import PaperPhone, button, node
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
    trail = Trail()
    for _ in range(2):
        assert trail.bans == {}
        trail.pressed("wallet")
        trail.went_back()
    assert list(trail.bans) == ["wallet"]


def test_something_done_in_between_makes_it_no_dead_end() -> None:
    trail = Trail()
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
