"""A stage for each test, and what the extra brings; where it is not installed nothing runs.

`tests/slow/test_extras_installed.py` runs this folder in an environment that has the extra.
"""

from pathlib import Path

import pytest

from agent.extras import is_installed
from tests.fakes import FakeFleet
from tests.stage import Stage

collect_ignore_glob = [] if is_installed("datasets") else ["test_*.py"]


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1"))
