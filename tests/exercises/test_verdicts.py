"""What a fallible model answers when it is asked whether a goal is met."""

import pytest

from agent.exercises.route import Launch, Tap
from bench.exercises.fallible.verdicts import _is_done

ROUTE = (Launch("com.android.settings"), Tap("Network"), Tap("Airplane mode"))


@pytest.mark.parametrize(
    ("results", "done"),
    [
        (('OK: Clicked [1] "Network"', 'OK: Clicked [2] "Airplane mode"'), True),
        (('UNKNOWN: Clicked [1] "Network"', 'OK: Clicked [2] "Airplane mode"'), True),
        (('OK: Clicked [1] "Network"', 'UNKNOWN: Clicked [2] "Airplane mode"'), False),
        (('OK: Clicked [1] "Network"', 'WARNING: Clicked [2] "Airplane mode"'), False),
        (('OK: Clicked [2] "Airplane mode"', 'OK: Clicked [1] "Network"'), False),
        (('OK: Clicked [2] "Airplane mode"',), False),
    ],
)
def test_a_press_of_unknown_outcome_counts_where_a_later_one_had_an_effect(
    results: tuple[str, ...], done: bool
) -> None:
    assert _is_done("\n".join(results), ROUTE) is done
