"""A timer that wakes when something is due, by a clock that may be set at any time."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.wake_timer import WakeTimer
from tests.stage import PATIENCE_S

UNSTEADY_MS = 1000


class Clock:
    """A clock that a test sets, what is due by it, and how often it was set back."""

    def __init__(self, now_ms: int = 1_000_000) -> None:
        self.now_ms = now_ms
        self.due_ms: int | None = None
        self.set_back = 0
        self.timer = WakeTimer(lambda: self.now_ms, lambda: self.due_ms, self._on_set_back)

    def _on_set_back(self) -> None:
        self.set_back += 1


@given(st.lists(st.integers(0, 10_000_000), min_size=2), st.none() | st.integers(0, 10_000_000))
def test_it_is_time_when_something_is_due_or_the_clock_went_back(
    times: list[int], due_ms: int | None
) -> None:
    clock = Clock(times[0])
    clock.due_ms = due_ms
    clock.timer.is_time()
    for before, clock.now_ms in pairwise(times):
        went_back = clock.now_ms < before - UNSTEADY_MS
        told = clock.set_back
        is_due = due_ms is not None and due_ms <= clock.now_ms
        assert clock.timer.is_time() == (went_back or is_due)
        assert clock.set_back - told == went_back


async def test_a_wait_ends_when_what_is_awaited_comes_due_earlier() -> None:
    clock = Clock()
    waiting = asyncio.create_task(clock.timer.wait())
    await asyncio.sleep(0)
    clock.due_ms = clock.now_ms + 1_000_000
    clock.timer.changed()
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.due_ms = clock.now_ms
    clock.timer.changed()
    async with asyncio.timeout(PATIENCE_S):
        await waiting


async def test_a_clock_that_is_set_is_noticed_without_anything_having_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.wake_timer.LONGEST_SLEEP_S", 0.001)
    clock = Clock()
    clock.due_ms = clock.now_ms + 86_400_000
    for by in (86_400_000, -86_400_000):
        waiting = asyncio.create_task(clock.timer.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        clock.now_ms += by
        async with asyncio.timeout(PATIENCE_S):
            await waiting
        clock.due_ms = clock.now_ms + 86_400_000
    assert clock.set_back == 1
