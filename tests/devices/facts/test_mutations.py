"""Whatever happens to a phone's text on its way, no fact that is read of it is wrong."""

import random
import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.devices.facts.mutated_cases import Case, cases
from tests.devices.facts.mutations import mutate, run, wrong_facts

CASES = list(cases())
ENOUGH = 2.0
"""A square of the text would be four times as much again."""


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(CASES), st.randoms(use_true_random=False))
def test_no_fact_of_a_changed_text_is_wrong(case: Case, draw: random.Random) -> None:
    text, done = mutate(case, draw)
    wrong = wrong_facts(case, case.read(case.text), case.read(text))
    assert not wrong, (case.name, done, wrong)


def test_of_the_first_hundreds_of_one_seed_no_fact_is_wrong() -> None:
    tally = run(CASES, 800, 1)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.right > tally.unknown  # Readers that read nothing make no mistakes either.


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_whole_text_is_read(case: Case) -> None:
    assert case.read(case.text)


def steps(case: Case, times: int) -> int:
    """Count the lines of our own code that reading a text several times over takes."""
    count = 0

    def trace(frame: FrameType, event: str, _arg: object) -> object:
        nonlocal count
        if event == "line":
            count += 1
        return trace if "/agent/" in frame.f_code.co_filename else None

    text = case.text * times
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        case.read(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "case", [one for one in CASES if not one.name.endswith(".xml")], ids=lambda case: case.name
)
def test_work_grows_no_faster_than_the_text(case: Case) -> None:
    short, long = steps(case, 3), steps(case, 12)
    assert long <= 4 * ENOUGH * max(short, 500)
