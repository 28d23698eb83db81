"""What a step may cost, counted: Python calls, which no other program of the machine changes.

A change that needs more calls a step says why in its commit and moves the bound (CONTRIBUTING).
"""

import sys
import tempfile
from pathlib import Path
from types import FrameType

from agent.store.embedded.sqlite_store import SqliteStore
from bench.steps import loop
from tests.fakes import FakeFleet

_MOST_CALLS = 12_500
"""Of a text step on which each of sixty elements is another one: the worst screen there is."""
_FEW, _MANY = 4, 16


async def test_a_text_step_takes_no_more_python_calls_than_its_bound() -> None:
    await _calls(2)  # What is imported and compiled once is no part of a step.
    few, many = await _calls(_FEW), await _calls(_MANY)
    assert 0 < (many - few) / (_MANY - _FEW) <= _MOST_CALLS


async def _calls(steps: int) -> int:
    """Return how many Python functions a session of so many steps calls in this thread."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    clock, fleet = loop.Moment(), FakeFleet("bench")
    fleet.adopt(loop.BenchDevice(fleet, "bench", seconds=clock.seconds))
    model = loop.BenchModel(steps)
    with tempfile.TemporaryDirectory() as name:
        async with SqliteStore.open(Path(name)) as store:
            before = sys.getprofile()
            sys.setprofile(count)
            try:
                await loop.session_of(store, Path(name), fleet, model, serial="bench", clock=clock)
            finally:
                sys.setprofile(before)
    return calls
