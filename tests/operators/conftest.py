"""A core with two phones of different tags, and two operators: one for each."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.operators.house import House, opened


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as made:
        yield made
