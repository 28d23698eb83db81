"""A day of work compressed: 200 sessions, 20,000 steps and two hours of frames, with the console
drawing all of it on a real terminal; what memory, open files and tasks come to meanwhile.

`python -m bench soak`. Model and phones answer at once, so that the rest works as fast as it can:
the task, the core, the SQLite store, retention and the console. `--sessions N` for a quick look;
`--plot FILE` also draws the curve as SVG.
"""

import argparse
import asyncio
import gc
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from agent.protocol import SessionCreate, SessionStateChanged
from agent.records import FrameSource, FrameStatus, LiveFrame, SessionState
from agent.runtime.runtime import Runtime
from agent.settings import RunSettings, Settings, UiSettings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from bench.steps.loop import BenchDevice, BenchModel, Moment
from console.app import SwitchboardApp
from tests.fakes import FakeFleet

SESSIONS = 200
STEPS = 100
FRAMES = 72_000  # Two hours at ten a second.
PHONES = 4
SAMPLES = 20
COLUMNS, ROWS = 160, 50
_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


class Sample(msgspec.Struct):
    sessions: int
    steps: int
    frames: int
    drawn: int
    seconds: float
    rss_mb: float
    files: int
    tasks: int
    objects: int


def main(given: list[str] | None = None) -> None:
    """Print the table."""
    options = _options(given or [])
    if options.work is not None:
        asyncio.run(_work(Path(options.work), options.sessions))
        return
    with tempfile.TemporaryDirectory() as folder:
        samples = _watched(Path(folder), options.sessions)
    print("| sessions | steps | frames | drawn | minutes | RSS, MB | open files | tasks |")
    print("|---|---|---|---|---|---|---|---|")
    for one in samples:
        print(
            f"| {one.sessions} | {one.steps:,} | {one.frames:,} | {one.drawn:,} "
            f"| {one.seconds / 60:.1f} | {one.rss_mb:.0f} | {one.files} | {one.tasks} |"
        )
    first, last = samples[len(samples) // 4], samples[-1]
    print(
        f"\nFrom a quarter of the way to the end: memory {last.rss_mb / first.rss_mb - 1:+.1%}, "
        f"open files {last.files - first.files:+d}, tasks {last.tasks - first.tasks:+d}."
    )
    if options.plot:
        Path(options.plot).write_text(_plot(samples), encoding="utf-8")


def _options(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench soak")
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--plot", default="")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    return parser.parse_args(given)


# --- on the outside: a terminal that takes all ----------


def _watched(folder: Path, sessions: int) -> list[Sample]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench", "soak", "--work", str(folder), "--sessions", str(sessions)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **_TERMINAL, "COLUMNS": str(COLUMNS), "LINES": str(ROWS)},
        start_new_session=True,
    )
    os.close(theirs)
    last = b""
    while True:
        try:
            if select.select([ours], [], [], 1.0)[0]:
                last = (last + os.read(ours, 1_000_000))[-4_000:]
        except OSError:
            break
    os.close(ours)
    if process.wait() != 0:
        raise RuntimeError(f"The console ended with {process.returncode}: {last!r}")
    lines = (folder / "samples").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Sample) for line in lines]


# --- on the inside: all of it in one process ----------


class _CountingFleet(FakeFleet):
    """Phones whose pictures never stand still."""

    frames_given = 0
    frames_wanted = FRAMES

    def __init__(self, *serials: str) -> None:
        super().__init__(*serials)
        self.enough = asyncio.Event()

    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[LiveFrame]:
        noise = os.urandom(width_px * height_px * 3)
        while True:
            self.frames_given += 1
            if self.frames_given >= self.frames_wanted:
                self.enough.set()
            cut = self.frames_given * 31 % len(noise)
            yield LiveFrame(
                serial=serial,
                width_px=width_px,
                height_px=height_px,
                rgb=noise[cut:] + noise[:cut],
                captured_ms=self.frames_given,
                source=FrameSource.SCRCPY,
                status=FrameStatus.LIVE,
            )
            await asyncio.sleep(0.01)


class _Gauge(NamedTuple):
    app: SwitchboardApp
    fleet: _CountingFleet
    into: Path
    began_s: float

    def take(self, sessions: int) -> None:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        sample = Sample(
            sessions=sessions,
            steps=sessions * STEPS,
            frames=self.fleet.frames_given,
            drawn=self.app.redraw.frame_clock.sent,
            seconds=time.monotonic() - self.began_s,
            rss_mb=pages * os.sysconf("SC_PAGESIZE") / 1e6,
            files=len(list(Path("/proc/self/fd").iterdir())),
            tasks=len(asyncio.all_tasks()),
            objects=len(gc.get_objects()),
        )
        with self.into.open("ab") as file:
            file.write(msgspec.json.encode(sample) + b"\n")


async def _work(folder: Path, sessions: int) -> None:
    serials = [f"phone-{number}" for number in range(1, PHONES + 1)]
    fleet = _CountingFleet(*serials)
    fleet.frames_wanted = FRAMES * sessions // SESSIONS
    clock = Moment()
    for serial in serials:
        fleet.adopt(BenchDevice(fleet, serial, seconds=clock.seconds))
    settings = Settings(
        data_dir=folder,
        config_file=folder / "config.toml",
        run=RunSettings(max_steps=200, max_total_steps=200),
        ui=UiSettings(bell=False),
    )
    async with SqliteStore.open(folder) as store:
        core = await Runtime.spawn(
            settings,
            store=store,
            fleet=fleet,
            models=lambda _session: BenchModel(STEPS - 1),
            task=lambda: RegularTask(sleep=clock.sleep, seconds=clock.seconds),
            wake_jobs=False,
        )
        app = SwitchboardApp(core, settings=settings)
        showing = asyncio.ensure_future(app.run_async(size=(COLUMNS, ROWS)))
        gauge = _Gauge(app, fleet, folder / "samples", time.monotonic())
        try:
            await _pass_a_day(core, gauge, serials, sessions)
        finally:
            app.exit()
            await showing
            await app.close()
            await core.close()


async def _pass_a_day(core: Runtime, gauge: _Gauge, serials: list[str], sessions: int) -> None:
    done = 0
    running: set[str] = set()
    async with core.events() as events:
        for serial in serials:
            running.add(await _begin(core, serial))
        begun = len(serials)
        async for event in events:
            match event.msg:
                case SessionStateChanged(state=state, reason=reason) if (
                    event.session_id in running and state.is_terminal
                ):
                    if state is not SessionState.COMPLETED:
                        raise RuntimeError(f"A session ended as {state}: {reason}")
                    running.discard(event.session_id)
                    done += 1
                    if begun < sessions:
                        serial = (await core.session(event.session_id)).serial
                        running.add(await _begin(core, serial))
                        begun += 1
                    if done % max(1, sessions // SAMPLES) == 0:
                        gauge.take(done)
                    if done == sessions:
                        break
                case _:
                    pass
    # What is left of the two hours of frames, with nothing else going on.
    await gauge.fleet.enough.wait()
    gauge.take(done)


async def _begin(core: Runtime, serial: str) -> str:
    reply = await core.request(SessionCreate(goal=f"tap on {serial}", serial=serial))
    return reply.session_id


# --- the picture ----------


def _plot(samples: list[Sample]) -> str:
    """Draw memory over steps as an SVG of 720 × 240 pixels."""
    width, height, left, foot = 720, 240, 56, 28
    most = max(one.rss_mb for one in samples) * 1.15
    steps = max(one.steps for one in samples)

    def at(sample: Sample) -> str:
        x = left + (width - left - 12) * sample.steps / steps
        return f"{x:.1f},{(height - foot) * (1 - sample.rss_mb / most) + 8:.1f}"

    label = 'font-family="sans-serif" font-size="12" fill="#57606a"'
    base = height - foot + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 8}">'
        f'<rect width="{width}" height="{height + 8}" fill="#ffffff"/>'
        f'<path d="M{left} 8V{base}H{width - 12}" stroke="#8c959f" fill="none"/>'
        f'<polyline points="{" ".join(at(one) for one in samples)}" fill="none" '
        f'stroke="#0969da" stroke-width="2"/>'
        f'<text x="4" y="20" {label}>{most:.0f} MB</text>'
        f'<text x="4" y="{base}" {label}>0</text>'
        f'<text x="{width - 100}" y="{height}" {label}>{steps:,} steps</text></svg>\n'
    )
