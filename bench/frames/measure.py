"""Measure and print: encoding alone, a picture at rest as an image, pictures in an app, a wall with
keys, the same with H.264 to decode, a slow terminal; then every bar, kept or missed.

Run by `bench.frames` with the interpreter of the peers' environment.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from PIL import Image

from bench.frames import scenes, stills
from bench.frames.bars import APP_PEERS, Bar, net_ms, show_bars, wall_bars
from bench.frames.encoders import DIFF, OURS, PEERS, encoders
from bench.frames.terminal import Ran, run

GRIDS = ((20, 22), (45, 50), (90, 100))
SCENES = ("list", "feed", "static")
_HALF = ("term-image", "climage", "chafa.py")
_IMAGE_PEERS = {
    "kitty": ("textual-image", "term-image", "chafa.py"),
    "sixel": ("textual-image", "chafa.py"),
}
_SECONDS = 6.0
_FOCUS_SIZE, _LARGE_SIZE = (120, 54), (140, 104)
_DECODINGS = (
    ("threads", "threads", False, False),
    ("process", "process", False, False),
    ("process, three of four still", "process", True, False),
    ("process, sizes and rates as asked", "process", False, True),
)
_WALLS = {16: ((20, 22), (240, 60)), 64: ((12, 13), (277, 66))}


def main(parts: list[str]) -> None:
    """Measure the named parts."""
    found: list[Bar] = []
    every: dict[str, Callable[[], list[Bar]]] = {
        "encode": _encode,
        "stills": _stills,
        "app": _app,
        "wall": _wall,
        "decode": _decode,
        "slow": _slow,
    }
    for name, measure in every.items():
        if name in parts:
            found += measure()
    show_bars(found)


# --- encoding alone ----------


def _encode() -> list[Bar]:
    """Encode in turn, so that every library meets the same machine."""
    print("\n| grid, scene | " + " | ".join((*PEERS, OURS, DIFF)) + " |")
    print("|---" * (len(PEERS) + 3) + "|")
    bars: list[Bar] = []
    for grid in GRIDS:
        for scene in SCENES:
            ms, size = _one(scene, grid)
            cells = " | ".join(
                f"{ms[n]:.2f} ms {size[n] / 1000:.1f} K" for n in (*PEERS, OURS, DIFF)
            )
            print(f"| {grid[0]}×{grid[1]} {scene} | {cells} |", flush=True)
            bars += _encode_bars(f"{grid[0]}×{grid[1]} {scene}", grid, scene, ms, size)
    return bars


def _one(scene: str, grid: tuple[int, int]) -> tuple[dict[str, float], dict[str, float]]:
    frames = scenes.scaled(scene, *grid)
    images = [Image.fromarray(frame) for frame in frames]
    all_of_them = encoders(*grid)
    times: dict[str, list[float]] = {name: [] for name in all_of_them}
    sizes: dict[str, list[int]] = {name: [] for name in all_of_them}
    rounds = 12 if grid[0] > 45 else 24
    if scene == "static":
        rounds = len(frames)
    slow = {"rich-pixels", "textual-image", "climage"}
    for number in range(rounds):
        for name, encode in all_of_them.items():
            if scene == "static" and name in slow and number > 8:
                continue
            began_s = time.perf_counter()
            text = encode(frames[number], images[number])
            taken_s = time.perf_counter() - began_s
            if number:
                times[name].append(taken_s * 1000)
                sizes[name].append(len(text.encode()))
    return (
        {name: statistics.median(taken) for name, taken in times.items()},
        {name: statistics.fmean(size) for name, size in sizes.items()},
    )


def _encode_bars(
    where: str, grid: tuple[int, int], scene: str, ms: dict[str, float], size: dict[str, float]
) -> list[Bar]:
    fastest = min(ms[name] for name in _HALF)
    smallest = min(size[name] for name in PEERS)
    if scene == "static":
        return [
            Bar(f"bytes, {where} with a cursor, by smallest peer", size[DIFF] / smallest, 1 / 200)
        ]
    bars = [
        Bar(
            f"encode, {where}, by fastest peer",
            ms[OURS] / fastest,
            1 / 3 if grid[0] > 20 else 2 / 3,
        )
    ]
    if grid[0] > 20:
        rich, halfcell = (ms[OURS] / ms[name] for name in APP_PEERS)
        bars += [
            Bar(f"encode, {where}, by rich-pixels and halfcell", max(rich, halfcell), 1 / 15),
            Bar(f"bytes, {where}, whole, by smallest peer", size[OURS] / smallest, 0.9),
            Bar(f"bytes, {where}, whole, by rich-pixels", size[OURS] / size["rich-pixels"], 0.6),
        ]
    return bars


# --- a picture at rest, as an image ----------


def _stills() -> list[Bar]:
    bars: list[Bar] = []
    for protocol, peers in _IMAGE_PEERS.items():
        print(f"\n| {protocol}: grid, scene | " + " | ".join((*peers, stills.OURS)) + " |")
        print("|---" * (len(peers) + 2) + "|")
        for grid in stills.GRIDS:
            for scene in stills.SCENES:
                where = f"{grid[0]}×{grid[1]} {scene}"
                cost = stills.measure(protocol, scene, grid)
                cells = " | ".join(
                    f"{cost[name].cpu_ms:.2f} ms {cost[name].size / 1000:.1f} K"
                    for name in (*peers, stills.OURS)
                )
                print(f"| {where} | {cells} |", flush=True)
                if protocol == "kitty":
                    bars += _kitty_bars(where, cost)
                else:
                    bars.append(_sixel_bar(where, cost))
    return bars


def _kitty_bars(where: str, cost: dict[str, stills.Cost]) -> list[Bar]:
    ours, theirs = cost[stills.OURS], cost["textual-image"]
    smallest = min(one.size for name, one in cost.items() if name != stills.OURS)
    return [
        Bar(f"kitty, {where}, CPU by textual-image", ours.cpu_ms / theirs.cpu_ms, 1 / 10),
        Bar(f"kitty, {where}, bytes by smallest peer", ours.size / smallest, 1 / 100),
    ]


def _sixel_bar(where: str, cost: dict[str, stills.Cost]) -> Bar:
    ours, theirs = cost[stills.OURS], cost["textual-image"]
    return Bar(f"sixel, {where}, CPU by textual-image", ours.cpu_ms / theirs.cpu_ms, 1.5)


# --- in an app ----------


def _row(name: str, ran: Ran, idle: Ran) -> None:
    keys = f"{ran.key_p50_ms:.1f} / {ran.key_p99_ms:.1f}" if ran.key_p50_ms > 0 else "–"
    print(
        f"| {name} | {ran.fps:.1f} | {net_ms(ran, idle):.2f} | {ran.core:.0%} |"
        f" {keys} | {ran.bytes_a_second / 1e6:.2f} |"
        f" {ran.lag_p99_ms:.0f} | {ran.given:.0%} |",
        flush=True,
    )


def _head(what: str) -> None:
    print(
        f"\n| {what} | fps | UI CPU ms a picture | core | key p50 / p99 ms | MB/s | lag p99 ms |"
        " CPU given |\n|---|---|---|---|---|---|---|---|"
    )


def _app() -> list[Bar]:
    """Draw one picture; nobody presses keys, whose answers are no part of what a picture costs."""
    bars: list[Bar] = []
    for grid, size, bounds in (
        ((45, 50), _FOCUS_SIZE, (1 / 5, 1 / 25)),
        ((90, 100), _LARGE_SIZE, (1 / 10, 1 / 40)),
    ):
        for scene in ("list", "feed"):
            where = f"{grid[0]}×{grid[1]} {scene}"
            _head(where)
            idle = run("idle", grid=grid, size=size, seconds=_SECONDS / 2, presses=False)
            _row("no pictures", idle, idle)
            net: dict[str, float] = {}
            given: dict[str, float] = {}
            for route in (*APP_PEERS, "rows", "direct"):
                ran = run(route, scene=scene, grid=grid, size=size, seconds=_SECONDS, presses=False)
                _row(route, ran, idle)
                net[route], given[route] = net_ms(ran, idle), ran.given
            fastest = min(net[name] for name in APP_PEERS)
            bars += [
                Bar(
                    f"UI CPU, {where}, {said}, by faster peer",
                    net[route] / fastest,
                    most,
                    given=min(given[route], *(given[name] for name in APP_PEERS)),
                )
                for route, said, most in (
                    ("rows", "lines", bounds[0]),
                    ("direct", "direct", bounds[1]),
                )
            ]
    return bars


def _wall() -> list[Bar]:
    bars: list[Bar] = []
    for count, (thumb, size) in _WALLS.items():
        where = f"1+{count} ({thumb[0]}×{thumb[1]})"
        _head(where)
        idle = run("idle", size=size, seconds=_SECONDS)
        _row("no pictures", idle, idle)
        seen: dict[str, Ran] = {}
        for route in (*APP_PEERS, "rows", "direct"):
            ran = run(route, size=size, thumbs=count, thumb=thumb, seconds=_SECONDS)
            _row(f"{route} {'×'.join(str(n) for n in ran.tiles)}", ran, idle)
            seen[route] = ran
        bars += wall_bars(where, count, seen, idle)
    return bars


def _decode() -> list[Bar]:
    """Decode a stream for each picture, in threads and beside us.

    Phones that ignore what they are asked for send 360×800 pixels at 30 Hz each.
    """
    bars: list[Bar] = []
    for count, (thumb, size) in _WALLS.items():
        where = f"1+{count} with H.264"
        print(
            f"\n| {where} | fps large, small | console's core | decoder's core |"
            " ms of console a picture | key p50 / p99 ms | lag p99 ms | CPU given |"
            "\n|---|---|---|---|---|---|---|---|"
        )
        idle = run("idle", size=size, seconds=_SECONDS)
        seen: dict[str, Ran] = {}
        for name, decoding, still, obeys in _DECODINGS:
            ran = seen[name] = run(
                "direct",
                size=size,
                thumbs=count,
                thumb=thumb,
                seconds=_SECONDS,
                program="bench.frames.decode_rig",
                decoding=decoding,
                still=still,
                obeys=obeys,
            )
            print(
                f"| {name} | {ran.fps:.1f}, {ran.thumb_fps:.1f} | {ran.core:.0%} |"
                f" {ran.decoder:.0%} | {_picture_ms(ran, idle, count):.2f} |"
                f" {ran.key_p50_ms:.1f} / {ran.key_p99_ms:.1f} | {ran.lag_p99_ms:.0f} |"
                f" {ran.given:.0%} |",
                flush=True,
            )
        threads, process = seen["threads"], seen["process"]
        asked = seen["process, sizes and rates as asked"]
        share = _picture_ms(process, idle, count) / max(_picture_ms(threads, idle, count), 1e-9)
        core = 0.25 if count == 16 else 0.4
        both, alone = min(process.given, threads.given), min(asked.given, idle.given)
        p50, p99 = asked.key_p50_ms / idle.key_p50_ms, asked.key_p99_ms / idle.key_p99_ms
        slowness = 24 / max(asked.fps, 1e-9)
        bars += [
            Bar(f"{where}, console's CPU a picture, process by threads", share, 1 / 2, given=both),
            Bar(f"{where}, as asked, console's core", asked.core, core, given=asked.given),
            Bar(f"{where}, as asked, 24 by the large one's rate", slowness, 1, given=asked.given),
            Bar(f"{where}, as asked, key p50 by idle app", p50, 2, given=alone),
            Bar(f"{where}, as asked, key p99 by idle app", p99, 4, given=alone),
        ]
        if count == 64:
            slowness = 24 / max(process.fps, 1e-9)
            bars.append(
                Bar(
                    f"{where}, at full rate, 24 by the large one's rate",
                    slowness,
                    1,
                    given=process.given,
                )
            )
    return bars


def _picture_ms(ran: Ran, idle: Ran, thumbs: int) -> float:
    """CPU of the console's process for each picture that it showed, without what it takes idle."""
    pictures = ran.fps + ran.thumb_fps * thumbs
    return max(ran.core - idle.core, 0.0) * 1000 / max(pictures, 1e-9)


def _slow() -> list[Bar]:
    thumb, size = _WALLS[16]
    _head("1+16, a terminal that takes 2 MB/s")
    idle = run("idle", size=size, seconds=_SECONDS / 2)
    ran = run(
        "direct", size=size, thumbs=16, thumb=thumb, seconds=_SECONDS, bytes_a_second=2_000_000
    )
    _row("direct", ran, idle)
    return [
        Bar("2 MB/s, key p50", ran.key_p50_ms, 100, " ms", ran.given),
        Bar("2 MB/s, key p99", ran.key_p99_ms, 250, " ms", ran.given),
        Bar("2 MB/s, loop lag p99", ran.lag_p99_ms, 50, " ms", ran.given),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
