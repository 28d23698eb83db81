"""A tree is what its goal says: on each phone its clause, all of it done."""

import pytest

from agent.protocol import Target
from agent.records import (
    DeviceInfo,
    DeviceState,
    GoalVerdict,
    Requirement,
    Session,
    SessionState,
    Transport,
    Verification,
    VerifiedBy,
)
from agent.sessions.rules.parent_verdict import parent_verification
from agent.tasks.phone_parts import (
    PhonePart,
    idle_phones,
    named_phones,
    phone_parts,
    plan_gap,
    said_of_all,
)


def _phone(serial: str, name: str) -> DeviceInfo:
    return DeviceInfo(serial=serial, state=DeviceState.ONLINE, name=name, transport=Transport.USB)


Case = tuple[str, *tuple[tuple[str, str], ...]]
PHONES = (_phone("s1", "Alpha"), _phone("s2", "Beta"))
LEADS = "On Alpha turn on Night Light, on Beta turn on Do Not Disturb"
TRAILS = "Turn on Night Light on Alpha and Do Not Disturb on Beta"
BOTH = "On Alpha and Beta turn on Night Light at 22:30"
NIGHT, QUIET = "turn on Night Light", "turn on Do Not Disturb"
LATE = "turn on Night Light at 22:30"
BLUE, DARK, EARLY = "turn on Bluetooth", "turn on the dark theme", "Set an alarm for 06:20"


def _plan(*parts: tuple[str, str]) -> tuple[Target, ...]:
    return tuple(Target(serial=serial, objective=text) for serial, text in parts)


def _parts(goal: str, parts: tuple[tuple[str, str], ...]) -> list[PhonePart]:
    """Return what a plan requires of each phone."""
    idle = idle_phones(goal, _plan(*parts), PHONES)
    return [*phone_parts(goal, PHONES), *(PhonePart(goal, serial) for serial in idle)]


def _judged(goal: str, *parts: tuple[str, str], verified: bool = True) -> Verification:
    """Judge a tree whose children are all verified, as nobody lied."""
    names = " ".join(f"{phone.name} {phone.serial}" for phone in PHONES)
    names += f" {said_of_all(goal, _plan(*parts), PHONES)}"
    requirements = tuple(
        Requirement(number=number, text=part.text, phone=part.serial, object=names)
        for number, part in enumerate(_parts(goal, parts), start=1)
    )
    parent = Session(session_id="p", goal=goal, created_ms=1, requirements=requirements)
    children = [
        Session(
            session_id=f"c{at}",
            goal=text,
            created_ms=1,
            serial=serial,
            state=SessionState.COMPLETED,
            verdict=GoalVerdict.MET if verified else GoalVerdict.CANNOT_TELL,
            verified_by=VerifiedBy.EFFECTS if verified else VerifiedBy.NOBODY,
        )
        for at, (serial, text) in enumerate(parts)
    ]
    return parent_verification(parent, children, {})


RIGHT = [
    (LEADS, ("s1", NIGHT), ("s2", QUIET)),
    (TRAILS, ("s1", NIGHT), ("s2", QUIET)),
    (BOTH, ("s1", LATE), ("s2", LATE)),
    (
        "Turn on Night Light and Do Not Disturb",
        ("s1", f"{NIGHT} and Do Not Disturb"),
        ("s2", NIGHT),
    ),
]
WRONG = [
    (LEADS, ("s1", QUIET), ("s2", NIGHT)),
    (TRAILS, ("s1", QUIET), ("s2", NIGHT)),
    (LEADS, ("s1", NIGHT)),
    (LEADS, ("s1", NIGHT), ("s2", NIGHT)),
    (BOTH, ("s1", LATE), ("s2", "turn on Night Light at 21:30")),
    (BOTH, ("s1", LATE)),
    (f"On Alpha {DARK}; on Beta set an alarm", ("s1", DARK), ("s2", DARK)),
    (f"On Alpha {BLUE}; on Beta {DARK}", ("s1", BLUE), ("s2", BLUE)),
    (f"{EARLY} on both phones", ("s1", EARLY), ("s2", "Set an alarm for 06:40")),
    ("Text Dad 'Late' from both phones", ("s1", "Text Dad 'Late'"), ("s2", "Text Ana 'Late'")),
    ("Turn on Night Light and Do Not Disturb", ("s1", NIGHT), ("s2", NIGHT)),
]


EVERY = [
    "On every phone turn on Night Light and Do Not Disturb",
    "Turn on Night Light and Do Not Disturb everywhere, please",
    "Auf allen Handys: turn on Night Light and Do Not Disturb",
    "すべての電話で turn on Night Light and Do Not Disturb",
]
EACH_ALL = f"{NIGHT} and Do Not Disturb"


@pytest.mark.parametrize("goal", EVERY)
def test_what_is_asked_of_every_phone_is_done_on_every_phone(goal: str) -> None:
    right = (("s1", goal), ("s2", goal))
    assert plan_gap(goal, _plan(*right), PHONES) == "" and _judged(goal, *right).is_met
    for wrong in (
        (("s1", EACH_ALL),),
        (("s1", NIGHT), ("s2", QUIET)),
        (("s1", EACH_ALL), ("s2", NIGHT)),
    ):
        assert plan_gap(goal, _plan(*wrong), PHONES)
        assert not _judged(goal, *wrong).is_met


@pytest.mark.parametrize("case", RIGHT)
def test_a_plan_that_says_all_of_the_goal_is_verified(case: Case) -> None:
    goal, *parts = case
    assert plan_gap(goal, _plan(*parts), PHONES) == ""
    found = _judged(goal, *parts)
    assert found.is_met, found
    assert found.verified_by is VerifiedBy.EFFECTS
    assert not _judged(goal, *parts, verified=False).is_met


@pytest.mark.parametrize("case", WRONG)
def test_swapped_phones_and_half_a_goal_are_told_and_never_verified(case: Case) -> None:
    goal, *parts = case
    assert plan_gap(goal, _plan(*parts), PHONES)
    assert not _judged(goal, *parts).is_met


@pytest.mark.parametrize(
    ("goal", "objective", "met"),
    [
        ("Stelle auf allen Handys einen Wecker auf 06:45", "Stelle einen Wecker auf 06:45", True),
        ("すべての電話でBluetoothをオンにする", "Bluetoothをオンにする", True),
        ("Stelle einen Wecker auf 06:45 und rufe Anna an", "Stelle einen Wecker auf 06:45", False),
    ],
)
def test_that_it_is_for_all_phones_is_shown_by_all_phones(
    goal: str, objective: str, met: bool
) -> None:
    assert _judged(goal, ("s1", objective), ("s2", objective)).is_met is met
    assert not _judged(goal, ("s1", objective)).is_met


def test_phones_are_named_as_the_operator_calls_them() -> None:
    assert named_phones("on beta, then on s1", PHONES) == ("s2", "s1")
    assert named_phones("on every phone", PHONES) == ()


def test_a_phone_without_a_target_is_told_where_the_goal_names_none() -> None:
    assert "no target works on s2" in plan_gap(NIGHT, _plan(("s1", NIGHT)), PHONES)


def test_targets_that_the_operator_wrote_are_requirements() -> None:
    parent = Session(session_id="p", goal="whatever", created_ms=1)
    child = Session(
        session_id="c",
        goal="x",
        created_ms=1,
        state=SessionState.COMPLETED,
        verdict=GoalVerdict.MET,
        verified_by=VerifiedBy.VERIFIER,
    )
    found = parent_verification(parent, [child], {})
    assert found.is_met and found.verified_by is VerifiedBy.VERIFIER
    assert not parent_verification(parent, [], {}).is_met
