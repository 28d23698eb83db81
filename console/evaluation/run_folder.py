"""A run's folder: what was planned (`run.json`), each outcome as it came (`results.jsonl`), the
store with its sessions.

Invariants: an outcome is on the disk before it is told; a line that a kill cut is passed over; a
folder goes on with its own plan and with no other.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agent.errors import StoreError, UsageError
from console.evaluation.trial import Outcome

PLAN = "run.json"
RESULTS = "results.jsonl"
FORMAT = 1


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is of; nothing in it changes while it is carried out."""

    suite: str
    digest: str
    """Of the suite, see `suites.Suite`."""
    exercises: tuple[str, ...]
    models: tuple[str, ...]
    arms: tuple[tuple[str, ...], ...] = ((),)
    """The patterns that are switched off, an arm each; the first is the baseline."""
    repeats: int = 1
    seed: int = 1
    """Of the order in which trials are made."""
    verifier: str = "same"
    format: int = FORMAT

    @property
    def total(self) -> int:
        """How many trials it has."""
        return len(self.exercises) * len(self.models) * len(self.arms) * self.repeats


class Key(msgspec.Struct, frozen=True):
    """One trial of a plan."""

    exercise: str
    model: str
    repeat: int
    without: tuple[str, ...]


def key_of(outcome: Outcome) -> Key:
    return Key(outcome.exercise, outcome.model, outcome.repeat, outcome.without)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A plan and what came of it so far."""

    folder: Path
    plan: RunPlan
    outcomes: tuple[Outcome, ...]  # In the order of the plan.

    @property
    def data_dir(self) -> Path:
        """Where its sessions are stored."""
        return self.folder / "data"

    @property
    def is_whole(self) -> bool:
        return len(self.outcomes) == self.plan.total


def keys_of(plan: RunPlan) -> tuple[Key, ...]:
    """List a plan's trials, arm by arm."""
    return tuple(
        Key(exercise, model, repeat, arm)
        for arm in plan.arms
        for model in plan.models
        for repeat in range(1, plan.repeats + 1)
        for exercise in plan.exercises
    )


def begin(folder: Path, plan: RunPlan) -> Run:
    """Make a run's folder, or go on with it.

    Raises:
        UsageError: it is of another plan, or holds something else.
        StoreError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if (folder / PLAN).exists():
            run = read_run(folder)
            if run.plan != plan:
                raise UsageError(
                    f"{folder} is a run with another plan: {_differences(run.plan, plan)}.",
                    "Give another --folder, or the same suite, models and options.",
                )
            return run
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is neither empty nor a run.", "Name a new folder.")
        part = folder / f".{PLAN}.part"
        part.write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n")
        part.replace(folder / PLAN)
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be used: {error.strerror}.", "Name a writable folder."
        ) from error
    return Run(folder=folder, plan=plan, outcomes=())


def _differences(one: RunPlan, other: RunPlan) -> str:
    names = [n for n in one.__struct_fields__ if getattr(one, n) != getattr(other, n)]
    return ", ".join(names)


def read_run(folder: Path) -> Run:
    """Read a run. Raises UsageError for a folder that is none."""
    try:
        plan = msgspec.json.decode((folder / PLAN).read_bytes(), type=RunPlan)
        results = folder / RESULTS
        lines = results.read_bytes().splitlines() if results.exists() else []
    except OSError as error:
        raise UsageError(
            f"{folder} is not a run: {error.strerror}.", "List runs: switchboard eval list"
        ) from error
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{folder / PLAN} cannot be read: {error}.", "List runs: switchboard eval list"
        ) from error
    if plan.format > FORMAT:
        raise UsageError(f"{folder} was made by a newer Switchboard.", "Upgrade Switchboard.")
    known = {key_of(one): one for one in _outcomes(lines)}
    wanted = keys_of(plan)
    return Run(folder=folder, plan=plan, outcomes=tuple(known[k] for k in wanted if k in known))


def _outcomes(lines: Sequence[bytes]) -> Iterable[Outcome]:
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Outcome)
        except msgspec.DecodeError:
            # A kill cut it: its trial is made again.
            continue


def keep(folder: Path, outcome: Outcome) -> None:
    """Append an outcome, synced. Raises StoreError."""
    path = folder / RESULTS
    try:
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                cut = file.read(1) != b"\n"
                if cut:
                    file.write(b"\n")
            file.write(msgspec.json.encode(outcome) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror}.",
            "Free some space; run the same command again to resume.",
        ) from error
