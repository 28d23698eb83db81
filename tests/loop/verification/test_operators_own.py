"""What the operator wrote into the list, what they broke off, and what has to be counted."""

import pytest

from agent.loop.verification.coverage import Wished, uncovered
from agent.records import Requirement, RequirementOrigin
from agent.records.requirements import numbered
from tests.loop.paper_phone import button, node
from tests.loop.verification.judged import (
    ADDED,
    APPROVED,
    STATE,
    Witness,
    Work,
    accomplice,
    decide,
    effect,
    is_met,
    listed,
    says,
)
from tests.loop.verification.test_lies import switch

PAGE = node("Alarms", (0.1, 0.02, 0.9, 0.06))
GOAL = "07:00 alarmını aç"


def alarms(first: bool, second: bool) -> tuple[object, ...]:
    other = button("09:30", 0.5, checkable=True, checked=second, class_name="android.widget.Switch")
    return PAGE, switch("07:00", on=first), other


def with_option(text: str) -> tuple[Requirement, ...]:
    made = listed(GOAL, Wished(GOAL, object="07:00", value="on"))
    return (*made, *numbered((text,), RequirementOrigin.OPTION, after=len(made)))


@pytest.mark.parametrize("text", ["9:30 alarmı kapalı kalsın", "leave 9:30 as it is"])
def test_a_state_that_the_operator_wants_kept_is_shown_by_the_thing_that_has_it(text: str) -> None:
    turned = effect(STATE, "07:00", "on", "off")
    work = Work(GOAL).see(*alarms(False, False)).act()  # type: ignore[arg-type]
    work.see(*alarms(True, False), effects=(turned,))  # type: ignore[arg-type]
    assert is_met(decide(work, with_option(text), accomplice()))
    assert not is_met(decide(work, with_option("10:15 kapalı kalsın"), accomplice()))


def test_a_state_that_was_to_be_kept_and_changed_is_not_shown() -> None:
    turned = effect(STATE, "07:00", "on", "off"), effect(STATE, "09:30", "on", "off")
    work = Work(GOAL).see(*alarms(False, False)).act()  # type: ignore[arg-type]
    work.see(*alarms(True, True), effects=turned)  # type: ignore[arg-type]
    pointing = says("met", "S2[3]")
    assert not is_met(decide(work, with_option("9:30 alarmı kapalı kalsın"), pointing))


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Archive… no: star the newest mail", ()),
        ("Quante mele... anzi no: star the newest mail", ()),
        (
            "Archive every old receipt at once, star the newest mail",
            ("Archive every old receipt at once",),
        ),
        ('Write "so… maybe" and star the newest mail', ('Write "so… maybe" and',)),
        ("star the newest mail…", ()),
    ],
)
def test_what_was_broken_off_is_no_part_of_a_goal(said: str, left: tuple[str, ...]) -> None:
    listed_parts = (Requirement(number=1, text="star the newest mail"),)
    assert uncovered(said, listed_parts) == left


def test_a_verifier_that_has_to_count_gets_all_rows_of_the_list() -> None:
    names = ["Ana Silva", "Ben Carter", "Chloe", "Dad", "Emil Novak", "Fatima", "Grace", "Hiro"]

    def page(first: int) -> list[object]:
        shown = names[first : first + 4]
        return [
            button(name, 0.2 + 0.15 * at, resource_id="org.example:id/row")
            for at, name in enumerate(shown)
        ]

    goal = "Quanti contatti ho in rubrica?"
    work = Work(goal).see(PAGE, *page(0)).act("scroll")  # type: ignore[arg-type]
    work.see(PAGE, *page(4)).act()  # type: ignore[arg-type]
    work.see(node("Hiro", (0.1, 0.02, 0.9, 0.06)))
    seen: list[str] = []

    def gives(text: str, _numbers: list[int]) -> list[dict[str, object]]:
        seen.append(text)
        return []

    decide(work, listed(goal, Wished(goal, kind="tell")), Witness(gives), answer="8 contatti")
    assert all(name in seen[0] for name in names)
    decide(work, listed(goal, Wished(goal, kind="tell")), Witness(gives), answer="5 contatti")
    assert not all(name in seen[-1] for name in names)


TITLE = node("Saturday, 5 December", (0.1, 0.02, 0.9, 0.06))
EVENT = "Dîner ¦ 19:30 – 21:30"
DINNER = "Crée un événement « Dîner » le 5 décembre de 19:30 à 21:30"


def dinner(*wished: Wished, title: object = TITLE) -> tuple[Work, tuple[Requirement, ...]]:
    work = Work(DINNER).see(PAGE).act()
    work.see(title, button(EVENT, 0.5), effects=(effect(ADDED, EVENT),))  # type: ignore[arg-type]
    return work, listed(DINNER, *wished)


def test_a_value_that_was_listed_by_itself_is_a_detail_of_the_same_act() -> None:
    wished = Wished("Crée un événement « Dîner » de 19:30 à 21:30"), Wished("le 5 décembre")
    work, required = dinner(*wished)
    assert is_met(decide(work, required, accomplice()))
    other = node("Sunday, 6 December", (0.1, 0.02, 0.9, 0.06))
    work, required = dinner(*wished, title=other)
    assert not is_met(decide(work, required, accomplice()))


def told(goal: str, row: str, answer: str, *, kind: str = "tell", object_: str = "") -> bool:
    """Return whether an answer is verified that was read from one row."""
    work = Work(goal).see(PAGE, button(row, 0.3), button("250 g flour, 30 g sugar, 19:30", 0.5))
    wished = Wished(goal, kind=kind, object=object_)
    return is_met(decide(work, listed(goal, wished), says("met", "S1[2]"), answer=answer))


def test_numbers_that_answer_something_else_do_not_stand_against_an_answer() -> None:
    assert told("wie viele Eier?", "3 eggs", "Man braucht 3 Eier, 250 g Mehl und 30 g Zucker.")
    assert not told("wie viele Eier?", "3 eggs", "Man braucht 4 Eier, 250 g Mehl.")
    assert told("quel jour est-ce?", "Saturday, 5 December", "C'est un samedi, à 19:30.")
    assert not told("quel jour est-ce?", "Saturday, 5 December", "C'est un lundi, à 19:30.")


@pytest.mark.parametrize("answer", ["10:00", "11:00"])
def test_structure_alone_does_not_choose_between_the_numbers_of_a_row(answer: str) -> None:
    goal = "When does the Team meeting start?"
    work = Work(goal).see(PAGE, button("Team meeting ¦ 10:00 – 11:00", 0.3))
    wished = Wished(goal, kind="tell", object="Team meeting")
    assert not is_met(decide(work, listed(goal, wished), None, answer=f"It starts at {answer}."))


def test_an_approval_of_what_turned_something_back_shows_nothing() -> None:
    goal = "Füge Grace Okafor zu den Favoriten hinzu"
    there, back = "Add to favorites", "Remove from favorites"
    work = Work(goal).see(PAGE, button(there, 0.3)).act()
    work.see(PAGE, button(back, 0.3), effects=(effect(STATE, "Grace Okafor", back, there),)).act()
    returned = effect(APPROVED, back), effect(STATE, "Grace Okafor", there, back)
    work.see(PAGE, button(there, 0.3), effects=returned)
    required = listed(goal, Wished(goal, object="Grace Okafor", value="Favorites"))
    assert not is_met(decide(work, required, accomplice()))


@pytest.mark.parametrize("number", [2, 3])
def test_so_many_things_need_so_many_effects_or_their_number(number: int) -> None:
    goal = f"Put {number} mugs into the cart"
    one = effect(STATE, "Cart", "Cart (1)", "Cart")
    work = Work(goal).see(PAGE, button("Cart", 0.3)).act()
    work.see(PAGE, button("Cart (1)", 0.3), effects=(one,))
    required = listed(goal, Wished(goal, object="Cart"))
    assert not is_met(decide(work, required, accomplice()))
    more = effect(STATE, "Cart", f"Cart ({number})", "Cart (1)")
    work.act().see(PAGE, button(f"Cart ({number})", 0.3), effects=(more,))
    assert is_met(decide(work, required, accomplice()))


def test_that_nothing_changed_is_shown_by_no_effect_and_by_nothing_else() -> None:
    goal = "When is the Team meeting?"
    row = button("Team meeting ¦ 10:00", 0.3)
    asked = listed(goal, Wished(goal, kind="tell", object="Team meeting"))
    for text, is_so in (
        ("Takvimde hiçbir şey değişmedi", True),
        ("an alarm for 06:20", False),
        ("Bluetooth is on", False),
    ):
        required = (*asked, *numbered((text,), RequirementOrigin.OPTION, after=len(asked)))
        work = Work(goal).see(PAGE, row, switch("Bluetooth", on=False))
        decided = decide(work, required, accomplice(), answer="It is at 10:00.")
        assert is_met(decided) is is_so, text
