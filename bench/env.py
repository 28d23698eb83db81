"""Phones as an environment: resets, observations, pictures and recording, beside JPEG over HTTP.

`python -m bench env [--phones N] [--seconds S]`. The peer, in the same run on the same phones, is a
picture as base64 of a JPEG over HTTP (`bench/_env_peer.py`); × is a rate in its pictures a second.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from agent.devices.frames.png import scaled_rgb
from agent.episodes.episode import Episode
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


def main(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench env", description=__doc__)
    parser.add_argument("--phones", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=4.0)
    given = parser.parse_args(list(options))
    asyncio.run(_measure(given.phones, given.seconds))


async def _measure(count: int, seconds: float) -> None:
    with make_folder() as folder:
        began = time.perf_counter()
        async with EpisodePhones(PoolSettings(virtual=count), Path(folder) / "phones") as phones:
            print(f"{count} phones ready in {time.perf_counter() - began:.1f} s\n")
            await _resets(phones, count)
            await _rates(phones, count, seconds)
            await _recorded(phones, Path(folder))


def _episodes(
    phones: EpisodePhones, count: int, looks: str, size_px: tuple[int, int] | None
) -> list[Episode]:
    return [
        Episode(phones.pool, EXERCISES, looks=looks, size_px=size_px, max_steps=1 << 30, wait_s=60)
        for _ in range(count)
    ]


async def _close(episodes: list[Episode]) -> None:
    await asyncio.gather(*(one.close() for one in episodes))


async def _resets(phones: EpisodePhones, count: int) -> None:
    print("| reset → first observation | p50 ms | p95 ms |\n|---|---|---|")
    for looks, size_px in (("tree", None), ("pixels", SMALL_PX)):
        for workers in sorted({1, count}):
            episodes = _episodes(phones, workers, looks, size_px)
            # The first reset takes a phone and opens what its looks need.
            await asyncio.gather(*(one.reset(task=TASK) for one in episodes))
            times: list[float] = []
            for _ in range(RESETS if workers > 1 else RESETS * 10):
                times += await asyncio.gather(*(_timed(one) for one in episodes))
            await _close(episodes)
            ordered = sorted(times)
            p50, p95 = (ordered[len(ordered) * share // 100] for share in (50, 95))
            seen = looks if size_px is None else f"{looks} {size_px[0]}×{size_px[1]}"
            print(f"| {seen}, {workers} at once | {p50:.1f} | {p95:.1f} |")
    print()


async def _timed(episode: Episode) -> float:
    began = time.perf_counter()
    await episode.reset(task=TASK)
    return (time.perf_counter() - began) * 1000


async def _rate(works: Sequence[Callable[[], Awaitable[object]]], seconds: float) -> float:
    """Return how often a second all workers together get done what each does again and again."""
    done = 0
    until = time.perf_counter() + seconds

    async def worker(work: Callable[[], Awaitable[object]]) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await work()
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*map(worker, works))
    return done / (time.perf_counter() - began)


async def _rates(phones: EpisodePhones, count: int, seconds: float) -> None:
    episodes = _episodes(phones, count, "tree", None)
    await asyncio.gather(*(one.reset(task=TASK) for one in episodes))
    devices = [one.device for one in episodes]
    turn = ["HOME"] * count

    async def changed(at: int) -> None:
        # Another screen each time: the recent apps, and home again.
        turn[at] = "RECENTS" if turn[at] == "HOME" else "HOME"
        await episodes[at].step("press_button", {"button": turn[at]})

    async def picture(at: int, size_px: tuple[int, int]) -> None:
        capture = await devices[at].capture()
        await asyncio.to_thread(scaled_rgb, devices[at].serial, capture.data, (size_px,))

    async def fresh(at: int, size_px: tuple[int, int]) -> None:
        turn[at] = "RECENTS" if turn[at] == "HOME" else "HOME"
        await episodes[at].step("press_button", {"button": turn[at]})
        await picture(at, size_px)

    every = range(count)
    rows = {
        "trees, the screen as it was": [devices[at].tree for at in every],
        "steps with a tree and a verdict, the screen changed": [
            lambda at=at: changed(at) for at in every
        ],
        f"pictures {SMALL_PX[0]}×{SMALL_PX[1]}, as it was": [
            lambda at=at: picture(at, SMALL_PX) for at in every
        ],
        f"pictures {FULL_PX[0]}×{FULL_PX[1]}, as it was": [
            lambda at=at: picture(at, FULL_PX) for at in every
        ],
        f"steps with a new picture {SMALL_PX[0]}×{SMALL_PX[1]}": [
            lambda at=at: fresh(at, SMALL_PX) for at in every
        ],
    }
    peer = await _peer_rate(episodes, seconds)
    print(f"| a second, {count} phones | rate | × |\n|---|---|---|")
    print(f"| peer: {FULL_PX[0]}×{FULL_PX[1]} as JPEG in base64 over HTTP | {peer:.1f} | 1 |")
    for name, works in rows.items():
        rate = await _rate(works, seconds)
        print(f"| {name} | {rate:.1f} | ×{rate / peer:.1f} |", flush=True)
    await _close(episodes)
    print()


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
        return await _rate([lambda at=at: ask(at) for at in range(len(serials))], seconds)
    finally:
        for _, writer in links:
            writer.close()
        child.stdin.close()
        await child.wait()


class _Timed(Recorder):
    """A recorder that tells how long whoever ends an episode waits for it."""

    waited_s = 0.0

    async def keep(self, tape: Tape) -> None:
        """Keep an episode."""
        began = time.perf_counter()
        await super().keep(tape)
        self.waited_s += time.perf_counter() - began


async def _recorded(phones: EpisodePhones, folder: Path) -> None:
    print(f"| {STEPS} steps with tree and picture | ms a step |\n|---|---|")
    async with _Timed(Recording(folder=folder / "data")) as recorder:
        for name, used in (("not recorded", None), ("recorded", recorder)):
            episode = Episode(phones.pool, EXERCISES, recorder=used, max_steps=STEPS, wait_s=60)
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
