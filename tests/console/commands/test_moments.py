"""Durations and moments as typed in a shell."""

import contextlib
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from console.cli_support.time_parsing import duration_ms, moment_ms

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("90s", 90_000),
        ("1h30m", 5_400_000),
        ("2d", 172_800_000),
        ("250ms", 250),
        ("0.5h", 1_800_000),
    ],
)
def test_a_duration_is_the_sum_of_its_parts(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "10", "m", "10x", "-5m", "1h and 2m", "9" * 30 + "d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        duration_ms(text)
    assert refused.value.remedy


@given(st.text())
def test_any_text_is_a_duration_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert duration_ms(text) >= 0


def test_a_bare_time_is_the_next_one() -> None:
    assert moment_ms("18:30", NOW) == round(
        datetime(2026, 3, 1, 18, 30, tzinfo=NOW.tzinfo).timestamp() * 1000
    )
    assert moment_ms("07:00", NOW) == round(
        datetime(2026, 3, 2, 7, 0, tzinfo=NOW.tzinfo).timestamp() * 1000
    )


@pytest.mark.parametrize("text", ["", "soon", "25:00", "2026-02-30", "2026-03-01T11:59:59"])
def test_what_is_no_moment_to_come_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        moment_ms(text, NOW)
