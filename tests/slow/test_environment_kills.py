"""What is killed under an environment is brought back, and nothing of a killed program stays."""

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.episodes.scratch import PREFIX, remove_abandoned
from tests.gymnasium.kills import play, processes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
MOMENTS = 10
TRAINERS = 6
LATEST_S = 4.0
LONGEST_S = 30.0
TRAINER = """
import gymnasium, console.gymnasium
env = gymnasium.make_vec(
    console.gymnasium.NAME, num_envs=2, looks="tree", max_steps=3, over_adb=True
)
env.reset(seed=1)
while True:
    env.step(env.action_space.sample())
"""


def test_phones_are_played_on_whatever_is_killed_under_them(tmp_path: Path) -> None:
    counts = play(MOMENTS, seed=7, folder=tmp_path / "phones")
    assert counts["truncated by it"] > 0
    assert sum(count for name, count in counts.items() if name.endswith(" killed")) == MOMENTS
    assert processes(str(tmp_path)) == []


def test_nothing_of_killed_trainers_stays() -> None:
    chance, pids = random.Random(7), []
    for _ in range(TRAINERS):
        with subprocess.Popen([sys.executable, "-c", TRAINER], cwd=ROOT) as trainer:
            time.sleep(chance.uniform(0.5, LATEST_S))
            trainer.kill()
        pids.append(trainer.pid)
    marks = [f"{PREFIX}{pid}-" for pid in pids]
    until = time.monotonic() + LONGEST_S
    # The phones end by themselves, the adb servers by whoever opens phones next.
    while any(processes(f"--home=/dev/shm/{mark}") for mark in marks):
        assert time.monotonic() < until, "phones of a killed trainer did not end"
        time.sleep(0.05)
    asyncio.run(remove_abandoned())
    assert [mark for mark in marks if processes(mark)] == []
    left = [path.name for path in Path("/dev/shm").glob(f"{PREFIX}*")]
    assert [name for name in left if name.startswith(tuple(marks))] == []
