"""Run trials over a pool of virtual phones, keeping each outcome as a line, so that it resumes.

Invariant: a trial whose outcome is in the results file is not run again; the file is only appended.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agent.config import load_settings
from agent.exercises.exercise import Exercise
from agent.loop_features import Pattern
from agent.settings import LoopSettings, Settings
from bench.exercises.fallible.server import PREFIX, fallible_models
from bench.exercises.house import House, house
from bench.exercises.trial import Outcome, attempt

TRIAL_BOUND_S = 240.0


@dataclass(frozen=True)
class Plan:
    exercises: Sequence[Exercise]
    models: Sequence[str]
    repeats: int = 1
    seed: int = 1
    phones: int = 4
    profile: str = ""
    """What kind of phones they are; "" for the default one."""
    without: tuple[str, ...] = ()
    verifier: str = "same"
    """Who checks claims of success; as the setting model.verifier."""
    folder: Path = field(default_factory=lambda: Path("exercises-run"))
    """Where the phones, the store and the results are."""

    @property
    def results(self) -> Path:
        return self.folder / "results.jsonl"


Key = tuple[str, str, int, int, tuple[str, ...]]


def key_of(outcome: Outcome) -> Key:
    return (outcome.exercise, outcome.model, outcome.seed, outcome.repeat, outcome.without)


def read_results(path: Path) -> list[Outcome]:
    """Read the outcomes so far; a line that was cut by a crash is passed over."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=Outcome))
        except msgspec.DecodeError:
            continue
    return found


async def run(plan: Plan, tell: Callable[[Outcome, int, int], None]) -> list[Outcome]:
    """Run what a plan asks for and has not been run yet; returns every outcome of it.

    Args:
        plan: what to run.
        tell: called with each new outcome, how many are over, and of how many.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    wanted = _trials(plan)
    known = {key_of(o): o for o in read_results(plan.results) if key_of(o) in wanted}
    todo = [key for key in wanted if key not in known]
    if todo:
        async with AsyncExitStack() as stack:
            settings = _settings(plan)
            if any(model.startswith(PREFIX) for model in plan.models):
                routes = {e.goal: e.route for e in plan.exercises}
                url = await stack.enter_async_context(fallible_models(routes, seed=plan.seed))
                model = replace(settings.model, base_url=url, vision=False)
                settings = replace(settings, model=model)
            shutil.rmtree(settings.data_dir, ignore_errors=True)
            stands = await stack.enter_async_context(
                house(
                    plan.folder,
                    settings,
                    phones=min(plan.phones, len(todo)),
                    profile=plan.profile or None,
                )
            )
            await _work_off(plan, stands, todo, known, tell)
    return [known[key] for key in wanted]


def _trials(plan: Plan) -> dict[Key, None]:
    keys: Iterable[Key] = (
        (exercise.name, model, plan.seed, repeat, plan.without)
        for repeat in range(1, plan.repeats + 1)
        for model in plan.models
        for exercise in plan.exercises
    )
    return dict.fromkeys(keys)


def _settings(plan: Plan) -> Settings:
    settings = load_settings(overrides={"data_dir": str(plan.folder / "data")})
    without = tuple(Pattern(name) for name in plan.without)
    model = replace(settings.model, verifier=plan.verifier)
    return replace(settings, loop=LoopSettings(without=without), model=model)


async def _work_off(
    plan: Plan,
    stands: House,
    todo: Sequence[Key],
    known: dict[Key, Outcome],
    tell: Callable[[Outcome, int, int], None],
) -> None:
    by_name = {exercise.name: exercise for exercise in plan.exercises}
    waiting = list(reversed(todo))
    total = len(known) + len(todo)

    async def work(serial: str) -> None:
        while waiting:
            name, model, seed, repeat, without = waiting.pop()
            outcome = await attempt(
                stands,
                serial,
                by_name[name],
                model=model,
                seed=seed,
                repeat=repeat,
                without=without,
                bound_s=TRIAL_BOUND_S,
            )
            known[key_of(outcome)] = outcome
            with plan.results.open("ab") as file:
                file.write(msgspec.json.encode(outcome) + b"\n")
            tell(outcome, len(known), total)

    async with asyncio.TaskGroup() as group:
        for serial in stands.serials:
            group.create_task(work(serial))
