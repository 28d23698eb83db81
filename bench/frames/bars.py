"""What is demanded of live pictures, and whether a run kept it.

Not the measuring (`bench.frames.measure`). Invariant: a bar that was missed while the host took the
CPU away says so beside its verdict; none is dropped or loosened for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bench._host import FAIR
from bench.frames.terminal import Ran

APP_PEERS = ("rich-pixels", "textual-image")  # Those that draw pictures in an app.


class Bar(NamedTuple):
    what: str
    measured: float
    most: float
    unit: str = ""
    given: float = 1.0
    """Of the CPU that was asked for while it was measured, the share that the host gave."""

    @property
    def verdict(self) -> str:
        if self.measured <= self.most:
            return "kept"
        return "MISSED" if self.given >= FAIR else f"MISSED with {self.given:.0%} of the CPU"


def show_bars(bars: Iterable[Bar]) -> None:
    """Print every bar, and how many were kept."""
    bars = list(bars)
    print("\n| bar | measured | demanded | |\n|---|---|---|---|")
    for bar in bars:
        seen, most = f"{bar.measured:.3g}{bar.unit}", f"{bar.most:.3g}{bar.unit}"
        print(f"| {bar.what} | {seen} | ≤ {most} | {bar.verdict} |")
    kept = sum(bar.measured <= bar.most for bar in bars)
    starved = sum(bar.measured > bar.most and bar.given < FAIR for bar in bars)
    said = f", {starved} of the others missed without the CPU that was asked for" if starved else ""
    print(f"\n{kept} of {len(bars)} bars kept{said}.")


def net_ms(ran: Ran, idle: Ran) -> float:
    """CPU of the drawing thread for each picture, without what the idle app takes."""
    if not ran.fps:
        return 0.0
    return max(ran.thread_share - idle.thread_share, 0.0) * 1000 / ran.fps


class _Most(NamedTuple):
    """What a wall may cost: a share of a core, and the drawing thread's CPU for all its pictures
    once, by that of the better peer.

    The first are absolute and of a quiet machine, on which the better peer took 99 ms (1 + 16) and
    132 ms (1 + 64) of a core for all pictures once; the second are the same demands divided by
    those, and hold on a machine of any speed.
    """

    direct_core: float
    lines_core: float
    direct_share: float
    lines_share: float


_MOST = {16: _Most(0.25, 0.5, 1 / 12, 1 / 6), 64: _Most(0.4, 0.7, 1 / 9, 1 / 5)}


def wall_bars(where: str, count: int, seen: dict[str, Ran], idle: Ran) -> list[Bar]:
    few = count == 16
    least_fps = 29.0 if few else 28.0
    direct, rows = seen["direct"], seen["rows"]
    most = _MOST[count]
    better = min(net_ms(seen[name], idle) for name in APP_PEERS)
    bars: list[Bar] = []
    for said, ran, core, share in (
        ("direct", direct, most.direct_core, most.direct_share),
        ("lines", rows, most.lines_core, most.lines_share),
    ):
        given = min(ran.given, *(seen[name].given for name in APP_PEERS))
        bars += [
            Bar(
                f"{where}, {said}, {least_fps:g} fps by those reached",
                least_fps / ran.fps,
                1.0,
                given=ran.given,
            ),
            Bar(f"{where}, {said}, core", ran.core, core, given=ran.given),
            Bar(
                f"{where}, {said}, UI CPU by better peer",
                net_ms(ran, idle) / better,
                share,
                given=given,
            ),
        ]
    if few:
        key_ms = min(seen[name].key_p50_ms for name in APP_PEERS)
        given = min(direct.given, idle.given)
        bars += [
            Bar(
                f"{where}, direct, key p50 by idle app",
                direct.key_p50_ms / idle.key_p50_ms,
                2,
                given=given,
            ),
            Bar(
                f"{where}, direct, key p99 by idle app",
                direct.key_p99_ms / idle.key_p99_ms,
                4,
                given=given,
            ),
            Bar(
                f"{where}, lines, key p50 by better peer",
                rows.key_p50_ms / key_ms,
                1 / 4,
                given=rows.given,
            ),
        ]
    return bars
