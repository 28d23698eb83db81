"""Bars and small columns have the cells they are given, and never draw something as nothing."""

import math
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.records import DaySpent, Session, SessionSpent, Spending, Usage
from widgets.base.bars import bar, sparkline
from widgets.plots.spending_plot import NOTHING, Measure, spending_parts, telling

amounts = st.one_of(
    st.floats(0, 1e12), st.sampled_from([0.0, 1e-9, math.inf, math.nan, -1.0]), st.integers(0, 10)
)


@settings(max_examples=80, deadline=None)
@given(value=amounts, most=st.floats(0, 1e12), cells=st.integers(-2, 60))
def test_a_bar_has_its_cells_and_something_is_never_nothing(
    value: float, most: float, cells: int
) -> None:
    drawn = bar(value, most, cells)
    assert len(drawn) == max(0, cells)
    if cells > 0 and most > 0 and math.isfinite(value):
        assert bool(drawn.strip()) == (value > 0 and value / most > 0)


@settings(max_examples=80, deadline=None)
@given(values=st.lists(amounts, max_size=70), cells=st.integers(-2, 60))
def test_a_sparkline_has_its_cells_and_its_tallest_is_the_largest(
    values: list[float], cells: int
) -> None:
    drawn = sparkline(values, cells)
    assert len(drawn) == max(0, cells)
    shown = values[-cells:] if cells > 0 else []
    assert len(drawn.strip()) == len(shown)
    if any(math.isfinite(one) and one > 0 for one in shown):
        assert "█" in drawn


def test_half_as_much_is_half_as_long_and_half_as_tall() -> None:
    assert bar(5, 10, 8) == "████    "
    assert bar(1, 16, 8) == "▌       "
    assert sparkline([0, 7, 14], 4) == " ▁▅█"


def a_fortnight(today: date) -> Spending:
    days = [
        DaySpent(
            day=(today - timedelta(days=at)).isoformat(),
            sessions=12 - at,
            completed=10 - at,
            failed=2,
            usage=Usage(input_tokens=100_000 * (at + 1), cost_usd=0.01 * at),
        )
        for at in (5, 1, 0)
    ]
    dear = Session(session_id="s1", goal="Buy tickets 漢字漢字漢字漢字漢字漢字", created_ms=1)
    usage = Usage(input_tokens=512_000, cost_usd=1.5)
    return Spending(days=tuple(days), dearest=(SessionSpent(session=dear, usage=usage),))


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("width", [36, 58, 100])
def test_what_was_spent_reads_without_colour_and_fits(measure: Measure, width: int) -> None:
    today = date(2026, 11, 21)
    parts = spending_parts(a_fortnight(today), today=today, days=14, measure=measure, width=width)
    first, *lines = "".join(text for text, _ in parts).splitlines()
    assert first.startswith("14 days  30 sessions · 900.0k tok · $0.0600")
    assert all(cell_len(line) <= width for line in lines), lines
    days = lines[1:15]
    assert [line[:6].strip() for line in days[:3]] == ["today", "Nov 20", "Nov 19"]
    assert "100.0k" in days[0]
    assert days[2].endswith("·"), "a day without sessions is a line too"
    longest = max(days, key=lambda line: line.count("█"))
    assert ("today" if measure is Measure.SESSIONS else "Nov 16") in longest
    assert any("512.0k" in line and "$1.50" in line for line in lines)


def test_a_day_on_which_only_watchers_used_a_model_has_its_figures() -> None:
    today = date(2026, 11, 21)
    judging = Usage(input_tokens=4_000, calls=2)
    spending = Spending(days=(DaySpent(day=today.isoformat(), usage=judging, watchers=judging),))
    parts = spending_parts(spending, today=today, days=14, measure=Measure.TOKENS, width=80)
    first, _, line, *_ = "".join(text for text, _ in parts).splitlines()
    assert "4.0k tok of it for watchers" in first
    assert line.startswith("today")
    assert line.split()[-4:] == ["–", "·", "·", "·"]
    assert "4.0k" in line


def test_where_no_tokens_are_known_the_bars_count_sessions() -> None:
    today = date(2026, 11, 21)
    assert telling(a_fortnight(today)) is Measure.TOKENS
    offline = Spending(days=(DaySpent(day=today.isoformat(), sessions=3),))
    assert telling(offline) is Measure.SESSIONS


def test_nothing_spent_is_a_sentence_and_the_next_key() -> None:
    today = date(2026, 11, 21)
    parts = spending_parts(Spending(), today=today, days=14, measure=Measure.TOKENS, width=60)
    assert parts == ((NOTHING, "$muted"),)
