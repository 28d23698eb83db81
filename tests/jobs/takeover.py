"""Two processes on one data directory, either of which is killed again and again: every due time
runs once. `python -m tests.jobs.takeover --seconds 60` does it for as long as wanted.

Each process waits until it may own the directory, then runs a core on it: its start is a wake. What
a run does is written down outside of the store, so that a run too many would be seen.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from agent.errors import StoreError
from agent.loop.task_context import TaskContext
from agent.protocol import JobCreate
from agent.records import Job, JobStatus, RunOutcome, RunRecord
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from tests.fakes import FakeFleet, FakeModel, PlayedTask

GOAL = "write it down"
DEEDS = "deeds.txt"
OWNERS = "owners.txt"
PATIENCE_S = 60.0  # How much longer the first kill is waited for, on a machine that is busy.


def settings_of(directory: Path) -> Settings:
    return Settings(
        data_dir=directory,
        config_file=directory / "config.toml",
        recovery=RecoverySettings(auto_resume=False, retries=0),
    )


def note(path: Path, line: str) -> None:
    """Append a line that outlives the process, in one write."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)


# --- one of the two processes ----------


async def own(directory: Path) -> None:
    """Run cores on the directory, for ever: as soon as nobody else does."""
    settings = settings_of(directory)

    async def deed(context: TaskContext) -> str:
        note(directory / DEEDS, str(context.session.job_id))
        await asyncio.sleep(random.random() * 0.02)
        return "written"

    while True:
        try:
            async with SqliteStore.open(directory) as store:
                await Runtime.spawn(
                    settings,
                    store=store,
                    fleet=FakeFleet("phone-1", "phone-2", "phone-3"),
                    models=lambda session: FakeModel(session.model),
                    task=lambda: PlayedTask({GOAL: deed}),
                )
                note(directory / OWNERS, str(os.getpid()))
                await asyncio.Event().wait()
        except StoreError:
            await asyncio.sleep(0.02)


# --- the one that kills ----------


@dataclass
class Outcome:
    jobs: tuple[Job, ...]
    runs: dict[int, tuple[RunRecord, ...]]
    deeds: Counter[int]
    kills: int
    owners: int

    def faults(self) -> list[str]:
        found: list[str] = []
        for job in self.jobs:
            runs, deeds = self.runs[job.id], self.deeds[job.id]
            due = Counter(run.due_at for run in runs)
            found += [f"job {job.id} ran {n} times for one due time" for n in due.values() if n > 1]
            if deeds > len(runs):
                found.append(f"job {job.id} did its deed {deeds} times in {len(runs)} runs")
            if job.status is JobStatus.COMPLETED and not deeds:
                found.append(f"job {job.id} is completed and its deed was not done")
            if job.status is JobStatus.ACTIVE and len(runs) != job.failure_count:
                found.append(f"job {job.id} is due and has {len(runs)} runs")
            cut_short = [run for run in runs if run.outcome is not RunOutcome.FINISHED]
            if any(run.outcome is not RunOutcome.RESTARTED for run in cut_short):
                found.append(f"job {job.id} failed for another reason: {job.last_result}")
        return found


async def fill(directory: Path, count: int) -> None:
    """Store jobs that are due already, one due time each."""
    async with SqliteStore.open(directory) as store:
        core = await Runtime.spawn(
            settings_of(directory),
            store=store,
            fleet=FakeFleet("phone-1"),
            models=lambda session: FakeModel(session.model),
            task=lambda: PlayedTask({}),
            wake_jobs=False,
        )
        try:
            for number in range(count):
                await core.request(
                    JobCreate(title=f"deed {number}", prompt=GOAL, next_run_at=number + 1)
                )
        finally:
            await core.close()


def start(directory: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.takeover", "--own", str(directory)],
        stdout=subprocess.DEVNULL,
    )


def owners(directory: Path) -> list[str]:
    path = directory / OWNERS
    return path.read_text().split() if path.exists() else []


def kill_again_and_again(directory: Path, seconds: float) -> int:
    """Keep two processes there, and kill either whenever one of them owns the directory."""
    both = [start(directory), start(directory)]
    kills, seen = 0, 0
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until or (not kills and time.monotonic() < until + PATIENCE_S):
            if len(owners(directory)) == seen:
                time.sleep(0.01)
                continue
            seen = len(owners(directory))
            # From before its first claim until after its runs.
            time.sleep(random.random() * 0.25)
            victim = random.choice(both)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            both[both.index(victim)] = start(directory)
            kills += 1
            if str(victim.pid) not in owners(directory)[-1:]:
                # It was the one that waits: the owner goes too, or nothing would happen any more.
                other = next(one for one in both if str(one.pid) == owners(directory)[-1])
                other.send_signal(signal.SIGKILL)
                other.wait()
                both[both.index(other)] = start(directory)
                kills += 1
    finally:
        for process in both:
            process.kill()
            process.wait()
    return kills


async def look(directory: Path, kills: int) -> Outcome:
    """Read what is stored, once a last core has repaired what the others left."""
    async with SqliteStore.open(directory) as store:
        core = await Runtime.spawn(
            settings_of(directory),
            store=store,
            fleet=FakeFleet("phone-1"),
            models=lambda session: FakeModel(session.model),
            task=lambda: PlayedTask({}),
            wake_jobs=False,
        )
        await core.close()
        jobs = await store.jobs(limit=50)
        jobs = tuple(
            [job for n in range(1, (jobs[0].id if jobs else 0) + 1) if (job := await store.job(n))]
        )
        runs = {job.id: await store.job_runs.runs(job.id, limit=50) for job in jobs}
    path = directory / DEEDS
    deeds = Counter(int(line) for line in path.read_text().split()) if path.exists() else Counter()
    return Outcome(jobs, runs, deeds, kills, len(owners(directory)))


def play(directory: Path, seconds: float, jobs: int) -> Outcome:
    """Store jobs, kill for so long, and give what was found."""
    asyncio.run(fill(directory, jobs))
    kills = kill_again_and_again(directory, seconds)
    return asyncio.run(look(directory, kills))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=190)
    given = parser.parse_args()
    if given.own is not None:
        asyncio.run(own(given.own))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        outcome = play(Path(directory) / "data", given.seconds, given.jobs)
    ran = sum(bool(runs) for runs in outcome.runs.values())
    cut = sum(job.failure_count > 0 for job in outcome.jobs)
    print(
        f"{outcome.kills} kills, {outcome.owners} owners: {ran} of {len(outcome.jobs)} due times "
        f"ran, {sum(outcome.deeds.values())} deeds, {cut} runs cut short; "
        f"{len(outcome.faults())} faults"
    )
    for fault in outcome.faults():
        print(fault)
    return 1 if outcome.faults() else 0


if __name__ == "__main__":
    raise SystemExit(main())
