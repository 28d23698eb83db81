"""Kill what phones stand on at random moments while an agent plays.

`python -m tests.gymnasium.kills --moments 100`: the process of the phones, the adb server, the
connection of a phone. Whatever is killed, no step raises, the episodes that it hit end truncated,
and every phone is played on again.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import gymnasium

import console.gymnasium
from agent.devices.pool.virtual_channel import begin_fault
from agent.episodes.blocking import BlockingPhones
from console.evaluation.suites import BUILT_IN, read_tasks

LONGEST_S = 120.0
PHONES = 2
LATEST_S = 0.8


def processes(mark: str) -> list[int]:
    """List the processes whose command line, or folder, holds a text; not this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "cmdline").read_bytes() + os.fsencode((entry / "cwd").readlink())
            except OSError:
                continue
            if mark.encode() in told:
                found.append(int(entry.name))
    return found


def _kill_phones(folder: Path) -> None:
    for pid in processes(f"--home={folder}"):
        os.kill(pid, signal.SIGKILL)


def _kill_adb(folder: Path) -> None:
    os.kill(json.loads((folder / "adb/server.json").read_bytes())["pid"], signal.SIGKILL)


def _cut_phone(folder: Path) -> None:
    asyncio.run(
        begin_fault(folder / "pool/phones", "virtual-1", "disconnect", value=0.0, duration_s=0.5)
    )


KILLS: dict[str, Callable[[Path], None]] = {
    "phones": _kill_phones,
    "adb": _kill_adb,
    "connection": _cut_phone,
}


def play(moments: int, *, seed: int, folder: Path) -> Counter[str]:
    """Play while things are killed; returns what happened."""
    chance, counts = random.Random(seed), Counter[str]()
    with BlockingPhones(PHONES, read_tasks(BUILT_IN), over_adb=True, folder=folder) as phones:
        env = gymnasium.make_vec(
            console.gymnasium.NAME,
            num_envs=PHONES,
            phones=phones,
            looks="tree",
            max_steps=6,
            wait_s=LONGEST_S,
        )
        env.action_space.seed(seed)
        env.reset(seed=seed)
        for _ in range(moments):
            name = chance.choice(list(KILLS))
            later = threading.Timer(chance.uniform(0, LATEST_S), _tried, (KILLS[name], folder))
            later.start()
            counts[f"{name} killed"] += 1
            until = time.monotonic() + LONGEST_S
            well = 0
            while later.is_alive() or well < 3:
                assert time.monotonic() < until, f"not played on after {name} was killed"
                _, _, _, truncated, infos = env.step(env.action_space.sample())
                wrong = [bool(error) for error in infos["error"]]
                counts["steps"] += PHONES
                counts["truncated by it"] += sum(
                    end and bad for end, bad in zip(truncated, wrong, strict=True)
                )
                well = 0 if later.is_alive() or (truncated & wrong).any() else well + 1
        env.close()
        taken = phones.run(_taken(phones))
        assert taken == 0, "a phone was not put back"
    return counts


def _tried(kill: Callable[[Path], None], folder: Path) -> None:
    try:
        kill(folder)
    except Exception as error:
        print(f"not killed: {error}")


async def _taken(phones: BlockingPhones) -> int:
    assert phones._phones is not None
    return phones._phones.stats().taken


def main() -> None:
    """Play, and print what happened."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        began = time.perf_counter()
        counts = play(given.moments, seed=given.seed, folder=Path(folder) / "phones")
        left = processes(folder)
        took = time.perf_counter() - began
        print(f"{dict(counts)} in {took:.0f} s; processes left: {len(left)}")
        assert not left


if __name__ == "__main__":
    main()
