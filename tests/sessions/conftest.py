"""A stage for each test, with one phone plugged in."""

from pathlib import Path

import pytest

from tests.fakes import FakeFleet
from tests.stage import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1"))
