"""A server that fails after its time limit leaves no unhandled error behind."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent.mcp.connection import ServerConnection, ServerTrouble


async def test_a_failure_after_the_time_limit_is_reported_once() -> None:
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: unhandled.append(about))
    given_up, failed = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def streams() -> AsyncIterator[Any]:
        try:
            await given_up.wait()
            raise OSError("it is gone")
            yield
        finally:
            failed.set()

    connection = ServerConnection("one", streams, timeout_s=20.0, connect_s=0.01)
    with pytest.raises(ServerTrouble, match="did not answer"):
        await connection.open()
    given_up.set()
    async with asyncio.timeout(20.0):
        await failed.wait()
    await connection.close()
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []
