"""Sessions do exercises on every kind of phone, and claim nothing where one refuses touches."""

from pathlib import Path

import pytest

from agent.exercises.suite import EXERCISES
from bench.exercises.runner import Plan, run

BY_NAME = {exercise.name: exercise for exercise in EXERCISES}
NAMES = ("bluetooth-on", "note-titled", "alarm-on")
SIX_KINDS = ("flip", "car", "tv", "samsung", "keyless", "small")
"""Between them: every version, two displays in both orders, users, a leanback launcher, no keys."""


def plan(folder: Path, profile: str) -> Plan:
    exercises = [BY_NAME[name] for name in NAMES]
    return Plan(
        exercises=exercises, models=["fallible-none"], phones=1, profile=profile, folder=folder
    )


@pytest.mark.slow
@pytest.mark.parametrize("profile", SIX_KINDS)
async def test_exercises_are_done_on_six_kinds_of_phone(profile: str, tmp_path: Path) -> None:
    outcomes = await run(plan(tmp_path, profile), lambda *_: None)
    assert [(outcome.exercise, outcome.why) for outcome in outcomes] == [
        (name, "") for name in NAMES
    ]


@pytest.mark.slow
async def test_nothing_is_claimed_on_a_phone_that_refuses_injected_touches(tmp_path: Path) -> None:
    outcomes = await run(plan(tmp_path, "hyperos"), lambda *_: None)
    assert all(outcome.why for outcome in outcomes)
    assert not any(outcome.is_false_done for outcome in outcomes)
