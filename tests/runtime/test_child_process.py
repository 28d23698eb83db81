"""A process that was started here ends, whatever became of its pipes."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from agent.child_process import end_child
from support.patience import until

HOLDS_THE_PIPE = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""
FILLS_THE_PIPE = """
import sys, time
open(sys.argv[1], "w").write("0")
sys.stdout.write("x" * 10_000_000)
"""
ENDS_WHEN_ASKED = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
open(sys.argv[1], "w").write("0")
time.sleep(600)
"""


@pytest.mark.parametrize("script", [HOLDS_THE_PIPE, FILLS_THE_PIPE, ENDS_WHEN_ASKED])
@pytest.mark.parametrize("group", [False, True])
async def test_a_process_ends_in_bounded_time(tmp_path: Path, script: str, *, group: bool) -> None:
    started = tmp_path / "started"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, str(started)),
        stdin=DEVNULL,
        stdout=PIPE,
        start_new_session=True,
    )
    await until(lambda: started.exists() and started.read_text())
    began = time.monotonic()
    try:
        await end_child(process, signals=[signal.SIGTERM], within_s=1, group=group)
        assert time.monotonic() - began < 10
        assert process.returncode == (7 if script == ENDS_WHEN_ASKED else process.returncode)
        assert process.returncode is not None
    finally:
        left = int(started.read_text())
        if left:
            os.kill(left, signal.SIGKILL)


async def test_what_has_ended_already_is_let_go() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "", stdout=PIPE)
    await process.communicate()
    await end_child(process, signals=[signal.SIGTERM])
    assert process.returncode == 0
