"""What a planner may propose, and how the pilot reads who is to do what from a goal's words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.model import Message, MessageKind, Role
from agent.models.pilot.planning import divide, plan
from agent.protocol import Target
from agent.records import AppInfo, DeviceInfo, DeviceState, TargetPresentation
from agent.tasks.delegation import PhoneView
from agent.tasks.planner_prompts import goal_text
from agent.tasks.targets import FORBIDDEN_PACKAGES, BadTargets, checked_targets, on_main_displays

APP = "org.example.app"


def a_phone(serial: str, *packages: str, refusal: str = "", name: str = "") -> PhoneView:
    return PhoneView(
        info=DeviceInfo(serial=serial, state=DeviceState.ONLINE, name=name),
        apps=tuple(AppInfo(package=package) for package in packages),
        detach_refusal=refusal,
    )


PHONES = (a_phone("one", APP, name="Kitchen"), a_phone("two", APP, "org.example.other"))


def test_targets_that_say_the_same_are_started_once() -> None:
    same = Target(objective="look", serial="one")
    assert checked_targets([same, same], PHONES) == (same,)


def test_a_phone_may_be_named_by_its_name_and_an_app_finds_the_phone_with_the_least_to_do() -> None:
    placed = checked_targets(
        [
            Target(objective="a", serial="kitchen"),
            Target(objective="b", package=APP),
            Target(objective="c", package="org.example.other"),
            Target(objective="d"),
        ],
        PHONES,
    )
    assert [target.serial for target in placed] == ["one", "two", "two", ""]


@pytest.mark.parametrize("package", sorted(FORBIDDEN_PACKAGES))
def test_system_parts_and_our_own_helpers_are_never_targets(package: str) -> None:
    phones = (a_phone("one", package),)
    with pytest.raises(BadTargets, match="not an app to drive"):
        checked_targets([Target(objective="x", package=package)], phones)


@pytest.mark.parametrize(
    ("targets", "why"),
    [
        ([], "empty"),
        ([Target(objective=" ")], "no `objective`"),
        ([Target(objective="x", serial="three")], "no phone 'three' is online; online: one, two"),
        ([Target(objective="x", package="org.absent")], "not installed on any phone"),
        (
            [Target(objective="x", serial="one", package="org.example.other")],
            "not installed on one",
        ),
        ([Target(objective=str(n)) for n in range(17)], "too many"),
        (
            [Target(objective=what, package=APP, serial="one") for what in "xy"],
            "into one objective",
        ),
        (
            [Target(objective="x", presentation=TargetPresentation.DETACHED_HIDDEN)],
            "only an app can be DETACHED_HIDDEN",
        ),
    ],
)
def test_what_cannot_be_started_is_refused_with_what_to_do(targets: list[Target], why: str) -> None:
    with pytest.raises(BadTargets, match=why):
        checked_targets(targets, PHONES)


def test_a_phone_that_cannot_detach_says_so_at_planning_time() -> None:
    phones = (a_phone("one", APP, refusal="Android 8 has no such displays"),)
    hidden = Target(objective="x", package=APP, presentation=TargetPresentation.DETACHED_HIDDEN)
    with pytest.raises(BadTargets, match="Android 8 has no such displays; propose ATTACHED"):
        checked_targets([hidden], phones)
    assert checked_targets([hidden], (a_phone("one", APP),))[0].serial == "one"


def test_an_app_is_hidden_unless_somebody_said_where_it_ends_or_its_phone_cannot() -> None:
    phones = (a_phone("one", APP), a_phone("two", APP, refusal="its scrcpy is too old"))
    wanted = [
        Target(objective="a", serial="one", package=APP),
        Target(objective="b", serial="two", package=APP),
        Target(objective="c", serial="one"),
    ]
    placed = checked_targets(wanted, phones, unsaid=(1, 2, 3))
    choice = TargetPresentation.AGENT_CHOICE
    assert [target.presentation for target in placed] == [
        TargetPresentation.DETACHED_HIDDEN,
        choice,
        choice,
    ]
    assert on_main_displays(placed, phones) == (
        f"{APP} works on the main display of two, which cannot detach it: its scrcpy is too old",
    )
    said = checked_targets(wanted, phones, unsaid=())
    assert {target.presentation for target in said} == {choice}


@given(st.lists(st.builds(Target, objective=st.text(), serial=st.text(), package=st.text())))
def test_whatever_is_proposed_is_refused_or_can_be_started(proposed: list[Target]) -> None:
    try:
        placed = checked_targets(proposed, PHONES)
    except BadTargets:
        return
    assert len(set(placed)) == len(placed) > 0
    for target in placed:
        assert target.objective.strip() and target.serial in {"", "one", "two"}
        assert target.package in {"", APP, "org.example.other"}


# --- the pilot ----------

SERIALS = ("emulator-5554", "phone-2", "phone-3")


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        ("turn on Bluetooth", {}),
        ('send "see you on phone 2" to Anna', {}),
        ("on every phone turn on Bluetooth", dict.fromkeys(SERIALS, "turn on Bluetooth")),
        ("open Mail on all my phones", dict.fromkeys(SERIALS, "open Mail")),
        ("turn Bluetooth on on both phones", dict.fromkeys(SERIALS, "turn Bluetooth on")),
        ("on two phones open Mail", dict.fromkeys(SERIALS[:2], "open Mail")),
        (
            "open Mail; and on phone B open Clock",
            {SERIALS[0]: "open Mail", "phone-2": "open Clock"},
        ),
        (
            "on phone 2 open Mail and on phone-3 open Clock and search for tea",
            {"phone-2": "open Mail", "phone-3": "open Clock and search for tea"},
        ),
        (
            "On the first phone open Mail, on the second phone open Clock, and on phone 3 "
            "open Files",
            {SERIALS[0]: "open Mail", "phone-2": "open Clock", "phone-3": "open Files"},
        ),
        (
            'on phone A write a note "on phone C; hi"; open Mail',
            {SERIALS[0]: 'write a note "on phone C; hi"; open Mail'},
        ),
    ],
)
def test_the_pilot_divides_a_goal_by_its_words(goal: str, parts: dict[str, str]) -> None:
    divided = divide(goal, SERIALS)
    assert {serial: "; ".join(said) for serial, said in divided.parts.items()} == parts
    assert divided.missing == []


def test_the_pilot_says_which_phone_is_missing_and_starts_nothing() -> None:
    call = plan((_goal("open Mail; on phone 9 open Clock"),))
    assert call.tool == "finish" and call.arguments["success"] is False
    assert "phone 9" in str(call.arguments["summary"])


def test_the_pilot_reads_the_phones_from_what_a_planner_is_shown() -> None:
    call = plan((_goal("on every phone open Mail"),))
    assert call.tool == "propose_targets"
    assert [target["device"] for target in call.arguments["targets"]] == ["one", "two"]  # type: ignore[union-attr, index]
    assert json.dumps(call.arguments)
    assert plan((_goal("open Mail"),)).tool == "work_alone"


@given(st.text(max_size=200), st.lists(st.text("abc-1", min_size=1), max_size=4, unique=True))
def test_whatever_the_goal_says_each_part_has_a_phone_that_is_there(
    goal: str, serials: list[str]
) -> None:
    assert set(divide(goal, serials).parts) <= set(serials)


def _goal(text: str) -> Message:
    return Message(role=Role.USER, kind=MessageKind.GOAL, text=goal_text(text, PHONES))
