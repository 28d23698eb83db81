"""A daemon for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.daemon.bench import Bench, serving


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with serving(tmp_path / "data") as made:
        yield made
