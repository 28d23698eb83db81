"""A stage for each test, with one phone plugged in and a clock that the test sets."""

from pathlib import Path

import pytest

from tests.fakes import FakeFleet
from tests.stage import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path / "data", FakeFleet("phone-1"))
    stage.now_ms = 1_000_000_000
    return stage
