"""A core with one virtual phone for each test of the MCP rooms."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.config import load_settings
from agent.rpc.rpc_server import serve
from bench.exercises.house import house
from tests.mcp.stand import Stand


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    settings = load_settings(
        overrides={"data_dir": str(tmp_path / "data"), "model.vision": False}, environ={}
    )
    async with house(tmp_path, settings, phones=1) as at:
        socket = tmp_path / "core.sock"
        async with serve(at.core, socket):
            yield Stand(at, socket)
