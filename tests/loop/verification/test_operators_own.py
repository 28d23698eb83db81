"""What the operator wrote into the list, what they broke off, and what has to be counted."""

import pytest

from agent.loop.verification.coverage import Wished, uncovered
from agent.records import Requirement, RequirementOrigin
from agent.records.requirements import numbered
from tests.loop.paper_phone import button, node
from tests.loop.verification.judged import (
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
