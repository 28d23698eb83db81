"""Intervals and tests against figures that others computed, and against what they must obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.evaluation.statistics import paired, wilson


@pytest.mark.parametrize(
    ("passed", "trials", "low", "high"),
    # R's prop.test(…, correct = FALSE).
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (48, 51, 0.8408, 0.9798),
    ],
)
def test_wilsons_interval_is_that_of_others(
    passed: int, trials: int, low: float, high: float
) -> None:
    assert wilson(passed, trials) == pytest.approx((low, high), abs=5e-4)


def test_mcnemars_exact_test_is_that_of_others() -> None:
    # R: binom.test(5, 20)$p.value and binom.test(1, 9)$p.value.
    assert paired(30, 5, 15, 10).p == pytest.approx(0.04139, abs=1e-5)
    assert paired(0, 1, 8, 0).p == pytest.approx(0.03906, abs=1e-5)
    assert paired(7, 0, 0, 3).p == 1.0


COUNT = st.integers(0, 500)


@given(both=COUNT, only_a=COUNT, only_b=COUNT, neither=COUNT)
def test_a_difference_lies_in_its_interval_and_turns_its_sign_with_the_runs(
    both: int, only_a: int, only_b: int, neither: int
) -> None:
    told = paired(both, only_a, only_b, neither)
    other = paired(both, only_b, only_a, neither)
    assert -1 <= told.low <= told.high <= 1 and 0 <= told.p <= 1
    assert told.share == -other.share and told.p == other.p
    assert told.low == pytest.approx(-other.high)
    if both + only_a + only_b + neither:
        # Half a trial is added to each count, so the middle lies a little towards no difference.
        assert told.low - 0.51 <= told.share <= told.high + 0.51


@given(passed=COUNT, more=COUNT)
def test_a_rate_lies_in_its_interval(passed: int, more: int) -> None:
    trials = passed + more
    low, high = wilson(passed, trials)
    assert 0 <= low <= high <= 1
    if trials:
        assert low - 1e-9 <= passed / trials <= high + 1e-9
