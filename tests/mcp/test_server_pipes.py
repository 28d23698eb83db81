"""A server that is started here ends with its connection, whatever it left in its pipes."""

import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from agent.mcp.bounded import MAX_MESSAGE_BYTES, ErrorTail, over_pipes
from support.patience import until

FULL = f"import sys, time; sys.stdout.write('x' * {8 * MAX_MESSAGE_BYTES}); time.sleep(600)"
LEFT_BEHIND = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


async def test_a_server_whose_pipe_is_full_ends_at_once() -> None:
    async with over_pipes((sys.executable, "-c", FULL), {}, ErrorTail()) as (read, _):
        with pytest.raises(anyio.EndOfStream):
            while True:
                await read.receive()
        began = time.monotonic()
    assert time.monotonic() - began < 10


async def test_what_a_server_left_behind_does_not_hold_its_connection(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    async with over_pipes((sys.executable, "-c", LEFT_BEHIND, str(left)), {}, ErrorTail()):
        await until(lambda: left.exists() and left.read_text())
        began = time.monotonic()
    try:
        assert time.monotonic() - began < 15
    finally:
        os.kill(int(left.read_text()), 9)
