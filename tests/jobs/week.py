"""A week of jobs in minutes: the clock runs fast over a change of the clocks, and cores are killed.

`python -m tests.jobs.week --days 7` plays it and prints a sheet: for every job its due times, its
runs, and what was lost or done twice. The core is a process of its own on a real store; it is ended
by SIGKILL twice a day, at any moment of its work, and stays away for some minutes. Which due times
a job has is reckoned here, minute by minute in local time, and not by the code under test.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch
from zoneinfo import ZoneInfo

from agent import records
from agent.loop.task_context import TaskContext, TurnEnd
from agent.protocol import JobCreate, WatcherCreate
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from tests.fakes import FakeFleet, FakeModel, Part, PlayedTask
from tests.jobs.takeover import note

ZONE = "Europe/Berlin"
BEGINS = {
    "spring": datetime(2026, 3, 26, 12, tzinfo=UTC),
    "autumn": datetime(2026, 10, 22, 12, tzinfo=UTC),
}
"""Clocks there go forward on 29 March and back on 25 October 2026, at 01:00 UTC."""
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
LONGEST_STEP_MS = 10 * MINUTE_MS
RING_MS = 16_000  # A wake rings 15 s after the one before it at the earliest.
KILLS_A_DAY = 2
CLOCK, DEEDS, AWAY, STARTS = "clock", "deeds", "away", "starts"
BOUND_S = 120.0
LOOK_S = 0.002
MOST_RUNS = 10_000


@dataclass(frozen=True)
class Planned:
    title: str
    make: Callable[[int], JobCreate]
    """Makes it, for a week that begins at a moment."""
    due: Callable[[int, int], set[int]] | None = None
    """Reckons its due times in a span; None where they follow from its own runs."""
    may_skip: bool = False
    """What it misses while no core is there is left out."""
    gives_up: bool = False


def local(ms: int) -> datetime:
    """Return a moment by the clocks on the wall."""
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(ZoneInfo(ZONE))


def minutes(since_ms: int, until_ms: int) -> Iterator[tuple[int, datetime]]:
    """Walk over every whole minute after a moment."""
    at = since_ms // MINUTE_MS * MINUTE_MS + MINUTE_MS
    while at <= until_ms:
        yield at, local(at)
        at += MINUTE_MS


def daily(hour: int, minute: int) -> Callable[[int, int], set[int]]:
    """Reckon a time of every day; one that clocks leave out is when they have gone forward, and one
    that comes twice counts the first time.
    """

    def due(since_ms: int, until_ms: int) -> set[int]:
        found: dict[object, int] = {}
        before = local(since_ms)
        for at, wall in minutes(since_ms, until_ms):
            here = (wall.hour, wall.minute)
            skipped = wall.utcoffset() != before.utcoffset() and (
                (before.hour, before.minute) < (hour, minute) < here
            )
            if here == (hour, minute) or skipped:
                found.setdefault(wall.date(), at)
            before = wall
        return set(found.values())

    return due


def every_hour_but(since: int, until: int) -> Callable[[int, int], set[int]]:
    """Reckon full hours; those of the quiet hours are put off to their end."""

    def due(since_ms: int, until_ms: int) -> set[int]:
        found: set[int] = set()
        for at, wall in minutes(since_ms, until_ms):
            quiet = wall.hour >= since or wall.hour < until
            if wall.minute == 0 and not quiet:
                found.add(at)
        return found

    return due


def once(after_ms: int) -> Callable[[int, int], set[int]]:
    return lambda since_ms, until_ms: {at for at in (since_ms + after_ms,) if at <= until_ms}


WEEK = (
    Planned(
        "in the skipped hour",
        lambda _: JobCreate(title="a", prompt="deed", cron="30 2 * * *", timezone=ZONE),
        daily(2, 30),
    ),
    Planned(
        "every morning",
        lambda _: JobCreate(title="a", prompt="deed", cron="15 8 * * *", timezone=ZONE),
        daily(8, 15),
    ),
    Planned(
        "hourly, quiet at night",
        lambda _: JobCreate(
            title="a",
            prompt="deed",
            cron="0 * * * *",
            timezone=ZONE,
            quiet=records.QuietHours(since="22:00", until="07:00"),
        ),
        every_hour_but(22, 7),
    ),
    Planned(
        "hourly, skips what it misses",
        lambda _: JobCreate(
            title="a", prompt="deed", cron="0 * * * *", timezone=ZONE, misfire=records.Misfire.SKIP
        ),
        every_hour_but(24, 0),
        may_skip=True,
    ),
    *(
        Planned(
            f"once after {hours} h",
            lambda began_ms, hours=hours: JobCreate(  # type: ignore[misc]
                title="a", prompt="deed", next_run_at=began_ms + hours * HOUR_MS
            ),
            once(hours * HOUR_MS),
        )
        for hours in (1, 30, 61, 100, 150)
    ),
    Planned(
        "every six hours", lambda _: JobCreate(title="a", prompt="deed", interval_ms=6 * HOUR_MS)
    ),
    Planned("fails twice", lambda _: JobCreate(title="a", prompt="fails twice")),
    Planned("fails always", lambda _: JobCreate(title="a", prompt="fails always"), gives_up=True),
    Planned(
        "at every start",
        lambda _: JobCreate(title="a", prompt="deed", on=(records.Trigger.CONSOLE_START,)),
    ),
)


# --- the process that is killed ----------


class WeekTask(PlayedTask):
    """Plays a job by its prompt; what a watcher makes of a prompt is a deed."""

    async def run(self, context: TaskContext) -> TurnEnd:
        part = self._parts.get(context.session.goal, self._parts["deed"])
        end = await part(context)
        return TurnEnd(completed=True, message=end) if isinstance(end, str) else end


class FileClock:
    """A clock that stands still until it is set, and that outlives its process."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / CLOCK
        self.now_ms = int(self._path.read_text())

    def set(self, at_ms: int) -> None:
        """Set it, durably against a kill."""
        new = self._path.with_suffix(".new")
        new.write_text(str(at_ms))
        new.replace(self._path)
        self.now_ms = at_ms

    def __call__(self) -> int:
        return self.now_ms


def settings_of(directory: Path) -> Settings:
    return Settings(
        data_dir=directory / "data",
        config_file=directory / "config.toml",
        recovery=RecoverySettings(auto_resume=False, retries=0),
    )


async def live(directory: Path, until_ms: int, kill_ms: int, kill_after_s: float) -> None:
    """Run a core while the clock runs fast; it ends by itself at the end of the week alone."""
    clock = FileClock(directory)

    async def deed(context: TaskContext) -> str:
        await asyncio.sleep(random.random() * 0.003)
        note(directory / DEEDS, f"{context.session.job_id} {context.session.session_id}")
        return "done"

    async def fails(context: TaskContext) -> TurnEnd:
        return TurnEnd(completed=False, message="It cannot be done.")

    async def fails_twice(context: TaskContext) -> TurnEnd | str:
        runs = await store.job_runs.runs(context.session.job_id, limit=MOST_RUNS)
        return await (deed(context) if len(runs) > 2 else fails(context))

    parts: dict[str, Part] = {"deed": deed, "fails always": fails, "fails twice": fails_twice}
    async with SqliteStore.open(directory / "data", clock_ms=clock) as store:
        core = await Runtime.spawn(
            settings_of(directory),
            store=store,
            fleet=FakeFleet("phone-1", "phone-2", "phone-3"),
            models=lambda session: FakeModel(session.model),
            task=lambda: WeekTask(parts),
            clock=clock,
        )
        note(directory / STARTS, str(clock.now_ms))
        while clock.now_ms < until_ms:
            await quiet(store, clock)
            next_ms = await store.next_due_ms() or until_ms
            step_ms = min(max(next_ms, clock.now_ms + 1), clock.now_ms + LONGEST_STEP_MS)
            if clock.now_ms < kill_ms <= step_ms:
                # From before what is due is claimed until after it has run.
                threading.Timer(kill_after_s, os.kill, (os.getpid(), signal.SIGKILL)).start()
            clock.set(min(step_ms, until_ms))
        await quiet(store, clock)
        await core.close()


async def quiet(store: SqliteStore, clock: FileClock) -> None:
    """Wait until nothing is due and nothing runs; where a ring is still to come, go on to it."""
    looked = 0
    async with asyncio.timeout(BOUND_S):
        while True:
            # The timers look at the clock as often.
            await asyncio.sleep(2 * LOOK_S)
            jobs = await store.jobs(limit=50)
            runs = any(job.status is records.JobStatus.RUNNING for job in jobs)
            due = any(
                job.status is records.JobStatus.ACTIVE and 0 < job.next_run_at <= clock.now_ms
                for job in jobs
            )
            if not runs and not due:
                return
            looked = 0 if runs else looked + 1
            if looked > 20:
                clock.set(clock.now_ms + RING_MS)
                looked = 0


# --- the one that kills ----------


@dataclass
class Row:
    title: str
    job: records.Job
    runs: tuple[records.RunRecord, ...]
    due: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        ends = Counter(run.outcome for run in self.runs)
        return (
            f"{self.title:30} {self.due or '-':>4} {len(self.runs):>5} "
            f"{ends[records.RunOutcome.FINISHED]:>9} {ends[records.RunOutcome.RESTARTED]:>7} "
            f"{ends[records.RunOutcome.FAILED]:>7} {len(self.faults):>7}  {self.job.status}"
        )


HEAD = (
    f"{'job':30} {'due':>4} {'runs':>5} {'finished':>9} {'killed':>7} {'failed':>7} {'faults':>7}"
)


@dataclass
class Outcome:
    rows: list[Row]
    kills: int
    watched: int  # How often the watcher fired.
    faults: list[str]


async def fill(directory: Path, began_ms: int) -> None:
    """Store the week's jobs and a watcher."""
    (directory / CLOCK).write_text(str(began_ms))
    clock = FileClock(directory)
    async with SqliteStore.open(directory / "data", clock_ms=clock) as store:
        core = await Runtime.spawn(
            settings_of(directory),
            store=store,
            fleet=FakeFleet("phone-1"),
            models=lambda session: FakeModel(session.model),
            task=lambda: PlayedTask({}),
            clock=clock,
            wake_jobs=False,
        )
        try:
            for planned in WEEK:
                await core.request(planned.make(began_ms))
            await core.request(
                WatcherCreate(
                    watcher_type=records.WatcherType.TIME,
                    title="watched",
                    next_run_at=began_ms + 4 * HOUR_MS,
                    interval_ms=8 * HOUR_MS,
                    recurring=True,
                    prompt="deed",
                )
            )
        finally:
            await core.close()


def play(directory: Path, *, days: float, season: str, seed: int) -> Outcome:
    """Play a week, and return its sheet."""
    chance = random.Random(seed)
    began_ms = round(BEGINS[season].timestamp() * 1000)
    until_ms = began_ms + round(days * 24 * HOUR_MS)
    asyncio.run(fill(directory, began_ms))
    span_ms = 24 * HOUR_MS // KILLS_A_DAY
    kill_at = [
        began_ms + (number * span_ms + chance.randrange(span_ms)) // HOUR_MS * HOUR_MS + HOUR_MS
        for number in range(round(days * KILLS_A_DAY))
    ]
    kills = 0
    for kill_ms in (*kill_at, 1 << 60):
        command = [sys.executable, "-m", "tests.jobs.week", "--own", str(directory)]
        command += [str(until_ms), str(kill_ms), str(chance.random() * 0.03)]
        core = subprocess.run(command, check=False, timeout=3600)
        if core.returncode == -signal.SIGKILL:
            kills += 1
            since_ms = int((directory / CLOCK).read_text())
            back_ms = since_ms + chance.randrange(MINUTE_MS, 90 * MINUTE_MS)
            note(directory / AWAY, f"{since_ms} {back_ms}")
            (directory / CLOCK).write_text(str(back_ms))
        elif core.returncode:
            raise AssertionError(f"The core ended with {core.returncode}.")
    return asyncio.run(reckon(directory, began_ms, until_ms, kills))


async def reckon(directory: Path, began_ms: int, until_ms: int, kills: int) -> Outcome:
    """Hold what is stored, and what was done, to what was due."""
    done = Counter((directory / DEEDS).read_text().splitlines())
    starts = len((directory / STARTS).read_text().splitlines())
    away = [
        (int(since), int(back))
        for since, back in (line.split() for line in _lines(directory / AWAY))
    ]
    async with SqliteStore.open(directory / "data", clock_ms=FileClock(directory)) as store:
        jobs = [job for n in range(1, 200) if (job := await store.job(n)) is not None]
        runs = {job.id: await store.job_runs.runs(job.id, limit=MOST_RUNS) for job in jobs}
    rows: list[Row] = []
    for planned, job in zip(WEEK, jobs, strict=False):
        row = Row(planned.title, job, tuple(reversed(runs[job.id])))
        rows.append(row)
        check_runs(row, done)
        if planned.due is not None:
            due = planned.due(began_ms, until_ms + LONGEST_STEP_MS)
            row.due = sum(at_ms <= until_ms for at_ms in due)
            check_due(row, planned, due, away, until_ms)
    check_own(rows, starts)
    watched = [job for job in jobs[len(WEEK) :]]
    for job in watched:
        row = Row("watched", job, runs[job.id])
        check_runs(row, done)
        rows.append(row)
    faults = [f"{row.title}: {fault}" for row in rows for fault in row.faults]
    expected = len(range(began_ms + 4 * HOUR_MS, until_ms - LONGEST_STEP_MS, 8 * HOUR_MS))
    fired = sum(len(runs[job.id]) > 0 for job in watched)
    if fired != expected:
        faults.append(f"the watcher fired {fired} times and not {expected}")
    return Outcome(rows, kills, fired, faults)


def check_runs(row: Row, done: Counter[str]) -> None:
    """Find what no run may be: open, double, or finished without its deed."""
    for due_ms, times in Counter(run.due_at for run in row.runs).items():
        if times > 1:
            row.faults.append(f"ran {times} times for {local(due_ms):%a %H:%M}")
    for run in row.runs:
        if run.status is not records.RunStatus.ENDED:
            row.faults.append(f"the run of {local(run.started_at):%a %H:%M} is open")
        if run.outcome not in {
            records.RunOutcome.FINISHED,
            records.RunOutcome.RESTARTED,
            records.RunOutcome.FAILED,
        }:
            row.faults.append(f"a run came to {run.outcome}")
    # The runs of a job may share a session, and a killed run may have done its deed or not.
    for session_id, times in Counter(run.session_id for run in row.runs).items():
        ends = Counter(run.outcome for run in row.runs if run.session_id == session_id)
        deeds = done[f"{row.job.id} {session_id}"]
        if session_id and not ends[records.RunOutcome.FINISHED] <= deeds <= times:
            row.faults.append(f"{deeds} deeds in {times} runs of session {session_id}: {ends}")
    sessions = {run.session_id for run in row.runs}
    stray = [deed for deed in done if int(deed.split()[0]) == row.job.id]
    stray = [deed for deed in stray if deed.split()[1] not in sessions]
    # A session that died before its run could name it: the run was closed as killed.
    nameless = sum(not run.session_id for run in row.runs)
    if len(stray) > nameless:
        row.faults.append(f"{len(stray)} deeds belong to no run")


def check_due(
    row: Row, planned: Planned, due: set[int], away: list[tuple[int, int]], until_ms: int
) -> None:
    """Find due times that no run was for, and runs that were not due."""
    for at_ms in sorted(at_ms for at_ms in due if at_ms <= until_ms - LONGEST_STEP_MS):
        met = any(run.due_at <= at_ms <= max(run.due_at, run.started_at) for run in row.runs)
        missed = any(since <= at_ms <= back + RING_MS for since, back in away)
        if not met and not (planned.may_skip and missed) and not _retried_over(row, at_ms):
            row.faults.append(f"{local(at_ms):%a %d %H:%M} was lost")
    for before, run in zip((None, *row.runs), row.runs, strict=False):
        is_retry = before is not None and before.outcome is not records.RunOutcome.FINISHED
        if run.due_at not in due and not is_retry:
            row.faults.append(f"{local(run.due_at):%a %d %H:%M} was not due")


def _retried_over(row: Row, at_ms: int) -> bool:
    """Whether a due time fell between a run that was killed and the one that made up for it."""
    return any(
        before.outcome is not records.RunOutcome.FINISHED
        and before.due_at <= at_ms <= run.started_at
        for before, run in zip(row.runs, row.runs[1:], strict=False)
    )


def check_own(rows: list[Row], starts: int) -> None:
    """Hold jobs whose times follow from their own runs to what they promise."""
    by_title = {row.title: row for row in rows}
    for before, run in zip(*(by_title["every six hours"].runs[n:] for n in (0, 1)), strict=False):
        late_ms = run.due_at - before.ended_at - 6 * HOUR_MS
        if before.outcome is records.RunOutcome.FINISHED and abs(late_ms) > LONGEST_STEP_MS:
            by_title["every six hours"].faults.append(f"came {late_ms} ms off its interval")
    always, twice = by_title["fails always"], by_title["fails twice"]
    if always.job.status is not records.JobStatus.FAILED or len(always.runs) != 6:
        always.faults.append(f"{len(always.runs)} runs, {always.job.status}")
    if twice.job.status is not records.JobStatus.COMPLETED:
        twice.faults.append(f"{len(twice.runs)} runs, {twice.job.status}")
    started = by_title["at every start"]
    finished = sum(run.outcome is records.RunOutcome.FINISHED for run in started.runs)
    if not 0 < finished <= starts:
        started.faults.append(f"finished {finished} times in {starts} starts")


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def sheet(outcome: Outcome) -> str:
    lines = [HEAD, *(row.line for row in outcome.rows if row.title != "watched")]
    lines.append(f"{'watched':30} fired {outcome.watched} times")
    lines += [f"{outcome.kills} kills, {len(outcome.faults)} faults", *outcome.faults]
    return "\n".join(lines)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.jobs.week", description=__doc__)
    parser.add_argument("--own", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--season", choices=sorted(BEGINS), default="spring")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.own is not None:
        directory, until_ms, kill_ms, after_s = given.own
        with patch("agent.wake_timer.LONGEST_SLEEP_S", LOOK_S):
            asyncio.run(live(Path(directory), int(until_ms), int(kill_ms), float(after_s)))
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = play(Path(folder), days=given.days, season=given.season, seed=given.seed)
    took = timedelta(seconds=round(time.monotonic() - began))
    print(f"{given.days:g} days from {BEGINS[given.season]:%d %B %Y} in {took}\n{sheet(outcome)}")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
