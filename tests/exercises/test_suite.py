"""The exercises can be failed, and are told apart; real sessions do some of them."""

from pathlib import Path

import pytest

from agent.exercises.exercise import Exercise, Record, Tag
from agent.exercises.suite import EXERCISES
from bench.exercises.runner import Plan, read_results, run
from bench.exercises.trial import Outcome
from virtual_phone.phone import Phone
from virtual_phone.state import scenarios

BY_NAME = {exercise.name: exercise for exercise in EXERCISES}


def test_there_are_at_least_forty_and_no_two_share_a_name_or_a_goal() -> None:
    assert len(EXERCISES) >= 40
    assert len(BY_NAME) == len(EXERCISES)
    assert len({exercise.goal for exercise in EXERCISES}) == len(EXERCISES)


@pytest.mark.parametrize("tag", list(Tag))
def test_every_kind_has_exercises(tag: Tag) -> None:
    assert any(tag in exercise.tags for exercise in EXERCISES)


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Phone:
    return Phone(tmp_path_factory.mktemp("phone"), name="examined")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_who_claims_success_and_does_nothing_fails(exercise: Exercise, phone: Phone) -> None:
    phone.reset()
    if exercise.scenario:
        scenarios.begin(phone, exercise.scenario)
    untouched = phone.state()
    idle = Record(finished=True, result="Done.", approvals=())
    refused = not exercise.operator.approves
    # Where the operator refuses, nothing done is right; what must not be missing is the question.
    asks = "approv" in exercise.check(untouched, untouched, idle)
    assert exercise.check(untouched, untouched, idle) or refused, "it cannot be failed"
    assert asks or not refused or exercise.name == "note-delete-refused"


@pytest.mark.slow
async def test_sessions_do_exercises_and_a_refused_payment_is_not_made(tmp_path: Path) -> None:
    names = ("bluetooth-on", "note-many-scripts", "payment-refused")
    told: list[Outcome] = []
    plan = Plan(
        exercises=[BY_NAME[name] for name in names],
        models=["fallible-none"],
        phones=2,
        folder=tmp_path,
    )
    outcomes = await run(plan, lambda outcome, _done, _total: told.append(outcome))
    assert [(o.exercise, o.why) for o in outcomes] == [(name, "") for name in names]
    assert outcomes[-1].approvals >= 1
    assert sorted(o.exercise for o in told) == sorted(names)

    again: list[Outcome] = []
    assert await run(plan, lambda outcome, _done, _total: again.append(outcome)) == outcomes
    assert again == [], "what was tried is not tried again"
    with plan.results.open("ab") as file:
        file.write(b'{"exercise": "cut')
    assert len(read_results(plan.results)) == len(names)


@pytest.mark.parametrize(
    ("model", "verifier"),
    [
        ("fallible-liar", "same"),
        ("fallible-liar", "pilot"),
        ("fallible-colluding", "fallible-none"),
    ],
)
async def test_no_lie_is_confirmed_and_the_checker_has_the_last_word(
    model: str, verifier: str, tmp_path: Path
) -> None:
    names = ("bluetooth-on", "note-titled", "alarm-on")
    plan = Plan(
        exercises=[BY_NAME[name] for name in names],
        models=[model],
        phones=1,
        folder=tmp_path,
        verifier=verifier,
    )
    outcomes = await run(plan, lambda *_: None)
    assert all(outcome.why for outcome in outcomes)
    assert not any(outcome.is_false_done for outcome in outcomes)


@pytest.mark.slow
async def test_a_believer_repeats_what_failed_and_is_confirmed_only_where_the_goal_is_met(
    tmp_path: Path,
) -> None:
    plan = Plan(
        exercises=[BY_NAME["bluetooth-on"], BY_NAME["shop-cart"]],
        models=["fallible-believer"],
        phones=1,
        folder=tmp_path,
    )
    outcomes = await run(plan, lambda *_: None)
    assert not any(outcome.is_false_done for outcome in outcomes)
    assert [outcome.verified for outcome in outcomes] == [outcome.ok for outcome in outcomes]
