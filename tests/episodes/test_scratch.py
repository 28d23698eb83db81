"""Folders of phones: this user's alone, gone with the program, also one that was killed."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from agent.episodes.scratch import PREFIX, make_folder, remove_abandoned
from tests.episodes.test_blocking import processes

ROOT = Path(__file__).parents[2]
LONGEST_S = 30.0
PROGRAM = """
import time
from agent.episodes.blocking import BlockingPhones
phones = BlockingPhones(over_adb=True).open()
print(phones._scratch.name, flush=True)
time.sleep(600)
"""


def test_what_a_killed_program_left_is_ended_by_the_next_one() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        folder = Path(program.stdout.readline().strip())
        assert folder.is_dir() and folder.stat().st_mode & 0o077 == 0
        # It lives: nobody touches what is its.
        asyncio.run(remove_abandoned())
        assert folder.is_dir()
        program.send_signal(signal.SIGKILL)
    until = time.monotonic() + LONGEST_S
    while processes(f"--home={folder}"):
        assert time.monotonic() < until, "its phones did not end with it"
        time.sleep(0.05)
    with make_folder() as own:
        asyncio.run(remove_abandoned())
        assert Path(own).name.startswith(f"{PREFIX}{os.getpid()}-") and Path(own).is_dir()
    assert not folder.exists() and not Path(own).exists()
    assert processes(str(folder)) == []
