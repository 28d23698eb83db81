"""The report's plot of time: what was done is drawn, what was only waited for is said."""

import re

from agent.records import TimeSplit
from agent.state.reducer import StepItem
from console.report.plots import time_plot


def step(number: int, idle_ms: int) -> StepItem:
    split = TimeSplit(observe_ms=500, model_ms=1_500, idle_ms=idle_ms)
    return StepItem(key=str(number), at_ms=0, number=number, time=split, done=True)


def test_a_long_wait_hides_none_of_the_work() -> None:
    drawn = time_plot([step(1, 600_000), step(2, 0)])
    heights = [float(found) for found in re.findall(r'height="([\d.]+)" fill', drawn)]
    assert heights[:2] == heights[2:], "both steps took as long, but for the wait"
    assert sum(heights[:2]) > 100
    assert ">2 s<" in drawn and "idle 10:00, not drawn" in drawn


def test_without_a_wait_nothing_is_said_of_one() -> None:
    assert "idle" not in time_plot([step(1, 0)])
