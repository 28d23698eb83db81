"""What a goal asks of which phone: by the places of names, and what a reading may not say."""

import pytest

from agent.records import DeviceInfo, DeviceState
from agent.tasks.delegation import PhoneView
from agent.tasks.goal_parts import BadReading, GoalPart, checked_reading, parts_by_place
from agent.tasks.phone_names import mentions, serials_of
from agent.tasks.planner_prompts import phones_text
from tests.tasks.goals_for_phones import phones_of

PHONES = phones_of(("Alpha", "Beta", "Gamma"))
S1, S2, S3 = (phone.serial for phone in PHONES)
ALL = frozenset({S1, S2, S3})


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        (
            "On Alpha turn on Night Light, on Beta turn on Do Not Disturb",
            {S1: "turn on Night Light, on", S2: "turn on Do Not Disturb"},
        ),
        (
            "Turn on Night Light on Alpha and Do Not Disturb on Beta",
            {S1: "Turn on Night Light on", S2: "and Do Not Disturb on"},
        ),
        (
            "Schalte Bluetooth auf Alpha und NFC auf Beta ein",
            {S1: "Schalte Bluetooth auf", S2: "und NFC auf"},
        ),
        ("Turn on Bluetooth on Alpha but not on Beta", {}),
        ("On Alpha turn on Bluetooth, not on Beta", {}),
        ("Turn on Bluetooth on Alpha and Beta", {}),
        ("Turn on Bluetooth on every phone", {}),
    ],
)
def test_names_part_a_goal_only_where_each_has_words_of_its_own(
    goal: str, parts: dict[str, str]
) -> None:
    found = parts_by_place(goal, PHONES)
    assert {serial: part.text for part in found for serial in part.serials} == parts


def test_phones_are_named_by_all_that_the_console_knows_of_them() -> None:
    phones = (
        DeviceInfo(
            serial="emulator-5554",
            state=DeviceState.ONLINE,
            name="Anna's phone",
            model="Pixel 7",
            tags=("lab",),
        ),
        DeviceInfo(serial="s2", state=DeviceState.ONLINE, model="Galaxy S21", tags=("lab",)),
        DeviceInfo(serial="s3", state=DeviceState.ONLINE, model="Galaxy S21"),
    )

    def named(goal: str, *, sure: bool = False) -> set[str]:
        return set(serials_of(mentions(goal, phones), sure=sure))

    assert named("on anna's phone", sure=True) == {"emulator-5554"}
    assert named("on the Pixel") == named("on 5554") == {"emulator-5554"}
    assert named("on lab phones") == {"emulator-5554", "s2"}
    assert named("on Galaxy S21") == {"s2", "s3"} and not named("on Galaxy S21", sure=True)
    assert not named("write a note 's2'", sure=True)
    assert named("on phone 3") == {"s3"} and not named("on phone 3", sure=True)


BLUETOOTH = "Turn on Bluetooth"


@pytest.mark.parametrize(
    ("goal", "part"),
    [
        (f"{BLUETOOTH} on every phone", GoalPart(BLUETOOTH, ALL)),
        (f"{BLUETOOTH} on every phone except Beta", GoalPart(BLUETOOTH, ALL - {S2})),
        (f"{BLUETOOTH} on Alpha but not on Beta", GoalPart(BLUETOOTH, frozenset({S1}))),
        (f"{BLUETOOTH} on both Alpha and Beta", GoalPart(BLUETOOTH, frozenset({S1, S2}))),
        (f"{BLUETOOTH} on two phones", GoalPart(BLUETOOTH, frozenset(), 2)),
        (f"{BLUETOOTH} on phone 3", GoalPart(BLUETOOTH, frozenset({S3}))),
    ],
)
def test_a_reading_that_can_be_true_is_taken(goal: str, part: GoalPart) -> None:
    assert checked_reading([part], goal, PHONES) == (part,)


@pytest.mark.parametrize(
    ("goal", "part"),
    [
        ("Turn on Bluetooth and NFC on every phone", GoalPart(BLUETOOTH, ALL)),
        (f"{BLUETOOTH} and set an alarm for 6:30 everywhere", GoalPart(BLUETOOTH, ALL)),
        (f"{BLUETOOTH} on every phone", GoalPart("Turn off Bluetooth", ALL)),
        (f"{BLUETOOTH} on every phone", GoalPart(BLUETOOTH, frozenset({S1, S2}))),
        (f"{BLUETOOTH} on every phone except Beta", GoalPart(BLUETOOTH, ALL)),
        (f"{BLUETOOTH} on every phone except Beta", GoalPart(BLUETOOTH, frozenset({S2}))),
        (f"{BLUETOOTH} on every phone except Beta", GoalPart(BLUETOOTH, frozenset({S1}))),
        (f"{BLUETOOTH} on Alpha and Beta", GoalPart(BLUETOOTH, frozenset({S1}))),
        (f"{BLUETOOTH} on 2 phones", GoalPart(BLUETOOTH, ALL)),
        (f"{BLUETOOTH} on 2 phones", GoalPart(BLUETOOTH, frozenset(), 3)),
        (BLUETOOTH, GoalPart(BLUETOOTH, frozenset())),
        (f"{BLUETOOTH} on Alpha and Beta", GoalPart(BLUETOOTH, frozenset(), 2)),
        (f"Turn on the NFC and {BLUETOOTH} on every phone", GoalPart(BLUETOOTH, ALL)),
    ],
)
def test_a_reading_that_cannot_be_true_is_none(goal: str, part: GoalPart) -> None:
    with pytest.raises(BadReading):
        checked_reading([part], goal, PHONES)


def test_what_the_operator_answered_names_a_phone_too() -> None:
    part = GoalPart(BLUETOOTH, frozenset({S3}))
    goal = f"{BLUETOOTH} on the tablet"
    with pytest.raises(BadReading):
        checked_reading([part], goal, PHONES)
    assert checked_reading([part], goal, PHONES, ("Gamma is the tablet",))


def test_who_plans_and_who_reads_see_the_tags_that_a_goal_may_name_phones_by() -> None:
    tagged = DeviceInfo(serial="s1", state=DeviceState.ONLINE, tags=("lab", "wall"))
    assert "- s1: tagged lab, wall, free" in phones_text([PhoneView(info=tagged)])
