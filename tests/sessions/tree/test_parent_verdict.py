"""A tree is judged by its goal's words, on each phone by the sessions there that were verified."""

import pytest

from agent.records import (
    GoalVerdict,
    Requirement,
    RequirementKind,
    RequirementOrigin,
    Session,
    SessionState,
    Verification,
    VerifiedBy,
)
from agent.records.requirements import numbered
from agent.sessions.rules.parent_verdict import parent_verification

NIGHT, QUIET = "turn on Night Light", "turn on Do Not Disturb"
ON_BOTH = (
    Requirement(number=1, text=NIGHT, phone="s1"),
    Requirement(number=2, text=QUIET, phone="s2"),
)


def child(
    serial: str,
    goal: str,
    *handed: str,
    by: VerifiedBy = VerifiedBy.EFFECTS,
    verdict: GoalVerdict = GoalVerdict.MET,
) -> Session:
    return Session(
        session_id=f"c-{serial}",
        goal=goal,
        created_ms=1,
        serial=serial,
        state=SessionState.COMPLETED,
        verdict=verdict,
        verified_by=by,
        requirements=numbered(handed, RequirementOrigin.PLAN),
    )


def judged(requirements: tuple[Requirement, ...], *children: Session) -> Verification:
    parent = Session(session_id="p", goal="whatever", created_ms=1, requirements=requirements)
    return parent_verification(parent, children, {})


def test_a_goal_is_met_where_each_phone_was_judged_by_its_own_words() -> None:
    found = judged(ON_BOTH, child("s1", NIGHT), child("s2", "do what is left", QUIET))
    assert found.is_met and found.verified_by is VerifiedBy.EFFECTS


@pytest.mark.parametrize(
    "children",
    [
        (child("s1", QUIET), child("s2", NIGHT)),
        (child("s1", NIGHT),),
        (child("s1", NIGHT), child("s2", NIGHT)),
        (child("s1", NIGHT), child("s2", "turn off Do Not Disturb")),
        (child("s1", "Night Light: turn it on"), child("s2", QUIET)),
    ],
)
def test_other_words_or_phones_are_another_goal(children: tuple[Session, ...]) -> None:
    found = judged(ON_BOTH, *children)
    assert not found.is_met
    assert any("No subtask on s" in one.reason for one in found.requirements)


def test_the_weakest_word_counts_and_nobodys_is_none() -> None:
    sure, seen = child("s1", NIGHT), child("s2", QUIET, by=VerifiedBy.VERIFIER)
    assert judged(ON_BOTH, sure, seen).verified_by is VerifiedBy.VERIFIER
    nobody = child("s2", QUIET, by=VerifiedBy.NOBODY, verdict=GoalVerdict.CANNOT_TELL)
    assert not judged(ON_BOTH, sure, nobody).is_met
    wrong = child("s2", QUIET, verdict=GoalVerdict.NOT_MET)
    assert judged(ON_BOTH, sure, wrong).verdict is GoalVerdict.NOT_MET


def test_a_doubt_about_the_plan_stays_until_a_person_withdraws_it() -> None:
    doubt = Requirement(
        number=3,
        text="The plan is right although s3 is left out",
        kind=RequirementKind.PERSON,
        origin=RequirementOrigin.PLAN,
    )
    children = child("s1", NIGHT), child("s2", QUIET)
    found = judged((*ON_BOTH, doubt), *children)
    assert not found.is_met and "person" in found.requirements[-1].reason
    gone = Requirement(
        **{**{f: getattr(doubt, f) for f in doubt.__struct_fields__}, "withdrawn": True}
    )
    assert judged((*ON_BOTH, gone), *children).is_met


def test_what_the_operator_requires_of_all_may_be_done_by_several() -> None:
    text = "turn on Night Light and turn on Do Not Disturb"
    wish = Requirement(number=1, text=text, origin=RequirementOrigin.OPTION)
    met = judged((*ON_BOTH, wish), child("s1", NIGHT), child("s2", QUIET))
    assert met.is_met
    assert not judged((wish,), child("s1", NIGHT)).is_met


def test_targets_that_the_operator_wrote_are_requirements() -> None:
    found = judged((), child("s1", "x", by=VerifiedBy.VERIFIER))
    assert found.is_met and found.verified_by is VerifiedBy.VERIFIER
    assert not judged(()).is_met
