"""Phones as an environment: resets, observations, pictures and recording, beside JPEG over HTTP.

`python -m bench env [--phones N] [--seconds S] [--way in-process|over-adb]`. The peer, in the same
run, is a picture as base64 of a JPEG over HTTP (`bench/_env_peer.py`) of phones over adb; × is a
rate in its pictures a second. CPU is of this process alone, which in process is all there is.
"""

import argparse
import asyncio
import base64
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agent.devices.frames.png import scaled_rgb
from agent.episodes.adb_phones import AdbPhone
from agent.episodes.episode import Episode
from agent.episodes.in_process import InProcessPhones
from agent.episodes.phone import EpisodePhone, Look, PhoneSource
from agent.episodes.phones import EpisodePhones
from agent.episodes.recording import Recorder, Recording, Tape
from agent.episodes.scratch import make_folder
from agent.exercises.suite import EXERCISES
from agent.settings import PoolSettings

SMALL_PX = (256, 512)
FULL_PX = (1080, 2400)
RESETS = 3
STEPS = 20
TASK = "dark-theme"
IN_PROCESS, OVER_ADB = "in-process", "over-adb"
PEERS = 4  # How many phones the peer has where nothing else is measured over adb.
EPISODES, EPISODE_STEPS = 1000, 60
TREE = Look(xml=False, picture=False)


class Rate(NamedTuple):
    """How often a second, and what each cost this process."""

    a_second: float
    cpu_ms: float


def main(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench env", description=__doc__)
    parser.add_argument("--phones", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--way", choices=(IN_PROCESS, OVER_ADB), action="append")
    given = parser.parse_args(list(options))
    ways = given.way or [IN_PROCESS, OVER_ADB]
    asyncio.run(_measure(given.phones, given.seconds, ways))


async def _measure(count: int, seconds: float, ways: Sequence[str]) -> None:
    with make_folder() as folder:
        served = count if OVER_ADB in ways else min(count, PEERS)
        began = time.perf_counter()
        wanted = PoolSettings(virtual=served)
        async with EpisodePhones(wanted, Path(folder) / "phones") as phones:
            print(f"{served} phones over adb ready in {time.perf_counter() - began:.1f} s\n")
            episodes = _episodes(phones.source, served, "tree", None)
            await asyncio.gather(*(one.reset(task=TASK) for one in episodes))
            peer = await _peer_rate(episodes, seconds)
            await _close(episodes)
            if OVER_ADB in ways:
                await _one_way(OVER_ADB, phones.source, count, seconds, peer)
                await _recorded(phones.source, Path(folder))
        if IN_PROCESS in ways:
            began = time.perf_counter()
            async with InProcessPhones(count, Path(folder) / "in-process") as own:
                print(f"{count} phones in process ready in {time.perf_counter() - began:.1f} s\n")
                await _one_way(IN_PROCESS, own, count, seconds, peer)
                await _recorded(own, Path(folder) / "recorded")


async def _one_way(way: str, phones: PhoneSource, count: int, seconds: float, peer: float) -> None:
    await _resets(way, phones, count)
    await _rates(way, phones, count, seconds, peer)


def _episodes(
    phones: PhoneSource, count: int, looks: str, size_px: tuple[int, int] | None
) -> list[Episode]:
    return [
        Episode(phones, EXERCISES, looks=looks, size_px=size_px, max_steps=1 << 30, wait_s=60)
        for _ in range(count)
    ]


async def _close(episodes: list[Episode]) -> None:
    await asyncio.gather(*(one.close() for one in episodes))


async def _resets(way: str, phones: PhoneSource, count: int) -> None:
    print(f"| {way}: reset → first observation | p50 ms | p95 ms | CPU ms |\n|---|---|---|---|")
    for looks, size_px in (("tree", None), ("pixels", SMALL_PX)):
        for workers in sorted({1, count}):
            for task, named in ((TASK, ""), ("", ", each another task")):
                episodes = _episodes(phones, workers, looks, size_px)
                times: list[float] = []
                spent = 0.0
                # The first reset takes a phone and opens what its looks need.
                for trial in range(1 + (RESETS if workers > 1 else RESETS * 10)):
                    cpu = time.process_time()
                    taken = await _timed(episodes, task)
                    if trial:
                        times += taken
                        spent += time.process_time() - cpu
                await _close(episodes)
                ordered = sorted(times)
                p50, p95 = (ordered[len(ordered) * share // 100] for share in (50, 95))
                seen = looks if size_px is None else f"{looks} {size_px[0]}×{size_px[1]}"
                each = spent * 1000 / len(times)
                row = f"{seen}, {workers} at once{named} | {p50:.2f} | {p95:.2f} | {each:.3f}"
                print(f"| {row} |", flush=True)
    print()


async def _timed(episodes: list[Episode], task: str) -> list[float]:
    """Reset all at once; return how many milliseconds each had to wait, from the common start."""
    began = time.perf_counter()

    async def one(number: int, episode: Episode) -> float:
        await episode.reset(seed=number, task=task)
        return (time.perf_counter() - began) * 1000

    return await asyncio.gather(*(one(*each) for each in enumerate(episodes)))


async def _rate(works: Sequence[Callable[[], Awaitable[object]]], seconds: float) -> Rate:
    """Return how often a second all workers together get done what each does again and again."""
    done = 0
    until = time.perf_counter() + seconds

    async def worker(work: Callable[[], Awaitable[object]]) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await work()
            done += 1

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(worker, works))
    spent = time.process_time() - cpu
    return Rate(done / (time.perf_counter() - began), spent * 1000 / done)


async def _rates(way: str, phones: PhoneSource, count: int, seconds: float, peer: float) -> None:
    print(f"| {way}, a second, {count} phones | rate | × | CPU ms |\n|---|---|---|---|")
    print(f"| peer: {FULL_PX[0]}×{FULL_PX[1]} as JPEG in base64 over HTTP | {peer:.1f} | 1 | |")

    async def row(name: str, works: Sequence[Callable[[], Awaitable[object]]]) -> float:
        rate, cpu_ms = await _rate(works, seconds)
        print(f"| {name} | {rate:.1f} | ×{rate / peer:.1f} | {cpu_ms:.3f} |", flush=True)
        return rate

    trees = _episodes(phones, count, "tree", None)
    await asyncio.gather(*(one.reset(task=TASK) for one in trees))
    await row("trees, the screen as it was", [_tree(one.phone) for one in trees])
    for size in (SMALL_PX, FULL_PX):
        works = [_picture(one.phone, size) for one in trees]
        await row(f"pictures {size[0]}×{size[1]}, as it was", works)
    await row(
        "steps with a tree and a verdict, the screen changed", [_changes(one) for one in trees]
    )
    works = [_at_random(one, number) for number, one in enumerate(trees)]
    rate = await row("steps at random with a tree and a verdict", works)
    await _close(trees)
    for size in (SMALL_PX, FULL_PX):
        pictures = _episodes(phones, count, "pixels", size)
        await asyncio.gather(*(one.reset(task=TASK) for one in pictures))
        await row(
            f"steps with a new picture {size[0]}×{size[1]}", [_changes(one) for one in pictures]
        )
        await _close(pictures)
    minutes = EPISODES * EPISODE_STEPS / rate / 60
    print(
        f"\n{EPISODES:,} episodes of {EPISODE_STEPS} steps, a minute each at a step a second: "
        f"{minutes:.1f} minutes (80 by the pool of android_env with 64 emulators).\n"
    )


def _tree(phone: EpisodePhone) -> Callable[[], Awaitable[object]]:
    return phone.device.tree if isinstance(phone, AdbPhone) else lambda: phone.look(TREE)


def _picture(phone: EpisodePhone, size_px: tuple[int, int]) -> Callable[[], Awaitable[object]]:
    if not isinstance(phone, AdbPhone):
        return lambda: phone.look(Look(tree=False, xml=False, picture=False, size_px=size_px))

    async def captured() -> None:
        capture = await phone.device.capture()
        await asyncio.to_thread(scaled_rgb, phone.serial, capture.data, (size_px,))

    return captured


def _changes(episode: Episode) -> Callable[[], Awaitable[object]]:
    """Return a step to another screen each time: the recent apps, and home again."""
    turn = ["HOME", "RECENTS"]

    def step() -> Awaitable[object]:
        turn.reverse()
        return episode.step("press_button", {"button": turn[0]})

    return step


def _at_random(episode: Episode, seed: int) -> Callable[[], Awaitable[object]]:
    """Return a step of a random agent, mostly taps; a task that is done is begun anew."""
    chance = random.Random(seed)

    async def step() -> None:
        tool = chance.choice(("tap", "tap", "tap", "scroll_down", "swipe_left", "press_button"))
        parameters: dict[str, object] = {}
        if tool == "tap":
            parameters = {"x": chance.random(), "y": chance.random()}
        elif tool == "press_button":
            parameters = {"button": chance.choice(("HOME", "BACK", "RECENTS"))}
        seen = await episode.step(tool, parameters)
        if seen.done:
            await episode.reset(task=TASK)

    return step


async def _peer_rate(episodes: list[Episode], seconds: float) -> float:
    serials = [one.serial for one in episodes]
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench._env_peer",
        episodes[0].server,
        *serials,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdin is not None and child.stdout is not None
    port = int(await child.stdout.readline())
    links = [await asyncio.open_connection("127.0.0.1", port, limit=1 << 25) for _ in serials]

    async def ask(at: int) -> None:
        reader, writer = links[at]
        writer.write(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % at)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.rpartition(b": ")[2])
        base64.b64decode(json.loads(await reader.readexactly(length))["screen_image"])

    try:
        rate = await _rate([partial(ask, at) for at in range(len(serials))], seconds)
        return rate.a_second
    finally:
        for _, writer in links:
            writer.close()
        child.stdin.close()
        await child.wait()


class _Timed(Recorder):
    """A recorder that tells how long whoever ends an episode waits for it."""

    waited_s = 0.0

    async def keep(self, tape: Tape) -> None:
        began = time.perf_counter()
        await super().keep(tape)
        self.waited_s += time.perf_counter() - began


async def _recorded(phones: PhoneSource, folder: Path) -> None:
    print(f"| {STEPS} steps with tree and picture | ms a step |\n|---|---|")
    wall = spent = 0.0
    async with _Timed(Recording(folder=folder / "data")) as recorder:
        for name, used in (("not recorded", None), ("recorded", recorder)):
            episode = Episode(phones, EXERCISES, recorder=used, max_steps=STEPS, wait_s=60)
            await episode.reset(task=TASK)
            began = time.perf_counter()
            for at in range(STEPS):
                await episode.step("press_button", {"button": ("RECENTS", "HOME")[at % 2]})
            print(f"| {name} | {(time.perf_counter() - began) * 1000 / STEPS:.2f} |")
            began, cpu = time.perf_counter(), time.process_time()
            await recorder.settled()
            wall, spent = time.perf_counter() - began, time.process_time() - cpu
            await episode.close()
        print(f"| waited for recording | {recorder.waited_s * 1000 / STEPS:.3f} |")
        print(f"| stored behind the caller's back, wall | {wall * 1000 / STEPS:.2f} |")
        print(f"| stored behind the caller's back, CPU | {spent * 1000 / STEPS:.2f} |\n")
