"""Carry a plan out: an arm after the other, each with a core and virtual phones of its own.

Invariants: a trial whose outcome is kept is not made again; what a model works with may break, and
then the trial is tried again, as often as was asked for; whatever ends a run, its phones end too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Protocol

from msgspec.structs import replace

from agent.config import Settings
from agent.devices.adb.client import AdbClient, ServerAddress
from agent.devices.pool.virtual_channel import begin_scenario, reset, true_state
from agent.errors import DeviceError
from agent.exercises.exercise import Exercise, State
from agent.loop_features import Pattern
from agent.settings import LoopSettings
from agent.store.store import Store
from console.core.device_setup import Devices
from console.core.host import Host, reach
from console.evaluation.run_folder import Key, Run, keep, key_of, keys_of
from console.evaluation.trial import Outcome, Trial, attempt

TRIAL_BOUND_S = 240.0
SHELL_BOUND_S = 30.0
_AT_ONCE = 8  # Requests to the phones' channel at once; it takes sixteen.


class OnOutcome(Protocol):
    """Hears of each outcome, how many are over, and of how many."""

    def __call__(self, outcome: Outcome, done: int, total: int) -> None: ...


class Limits:
    """How much a run may do at once and again.

    Args:
        phones: virtual phones at once.
        retries: how often a trial is tried again that broke through no fault of the model.
        bound_s: how long a session may take.
    """

    def __init__(self, *, phones: int, retries: int = 1, bound_s: float = TRIAL_BOUND_S) -> None:
        self.phones = phones
        self.retries = retries
        self.bound_s = bound_s


async def carry_out(
    run: Run, exercises: Sequence[Exercise], settings: Settings, limits: Limits, told: OnOutcome
) -> None:
    """Make every trial of a run that is not over; each outcome is kept as it comes.

    Args:
        run: as `run_folder.begin` gave it.
        exercises: those that the plan names.
        settings: taken over, but for the data directory, the patterns and the verifier.
        limits: of this go; they may differ from an earlier one's.
        told: hears of each outcome.

    Raises:
        AdbError, DeviceError: the phones cannot be started.
        StoreError: an outcome cannot be kept.
    """
    by_name = {one.name: one for one in exercises}
    over = {key_of(one) for one in run.outcomes}
    chance = Random(run.plan.seed)
    done = len(over)
    for arm in run.plan.arms:
        todo = [key for key in keys_of(run.plan) if key.without == arm and key not in over]
        # By chance, so that what comes late in a run is not always the same exercise.
        chance.shuffle(todo)
        if todo:
            one = _Arm(run, by_name, _settings(run, settings, arm), limits)
            done = await one.work_off(todo, done, told)


def _settings(run: Run, settings: Settings, arm: tuple[str, ...]) -> Settings:
    return replace(
        settings,
        data_dir=run.data_dir,
        loop=LoopSettings(without=tuple(Pattern(name) for name in arm)),
        model=replace(settings.model, verifier=run.plan.verifier),
    )


class _Arm:
    """The trials under the same settings."""

    def __init__(
        self, run: Run, exercises: Mapping[str, Exercise], settings: Settings, limits: Limits
    ) -> None:
        self._run = run
        self._exercises = exercises
        self._settings = settings
        self._limits = limits

    async def work_off(self, todo: Sequence[Key], done: int, told: OnOutcome) -> int:
        """Make trials; returns how many of the run are over then."""
        waiting = list(reversed(todo))
        count = min(self._limits.phones, len(todo))

        async def choose(_store: Store) -> Devices:
            return Devices(own_server=True, phones=count)

        async def work(host: Host, phones: ChannelPhones, serial: str) -> None:
            nonlocal done
            while waiting:
                outcome = await self._one(host, phones, serial, waiting.pop())
                await asyncio.to_thread(keep, self._run.folder, outcome)
                done += 1
                told(outcome, done, self._run.plan.total)

        async with reach(self._settings, choose) as host:
            if not host.owned:
                raise DeviceError(
                    f"Another process is working on the run in {self._run.folder}.",
                    "Wait for it, or give another --folder.",
                )
            serials = await host.own_phones()
            phones = ChannelPhones(self._settings.data_dir / "phones", host.own_server(), serials)
            async with asyncio.TaskGroup() as group:
                for serial in serials:
                    group.create_task(work(host, phones, serial))
        return done

    async def _one(self, host: Host, phones: "ChannelPhones", serial: str, key: Key) -> Outcome:
        trial = Trial(
            exercise=self._exercises[key.exercise],
            model=key.model,
            seed=self._run.plan.seed,
            repeat=key.repeat,
            without=key.without,
            bound_s=self._limits.bound_s,
        )
        tries = 0
        while True:
            tries += 1
            outcome = await attempt(host.core, phones, serial, trial)
            if not outcome.trouble or tries > self._limits.retries:
                return replace(outcome, tries=tries)


class ChannelPhones:
    """Virtual phones of another process, by their channel; implements `trial.Phones`.

    Args:
        homes: the directory of the phones.
        server: the adb server that they hang on.
        serials: the phones, in the order of their names.
    """

    def __init__(self, homes: Path, server: ServerAddress, serials: Sequence[str]) -> None:
        self._homes = homes
        self._adb = AdbClient(server)
        self._serials = serials
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def prepare(self, serial: str, exercise: Exercise) -> None:
        """Reset a phone, begin its scenario, run the exercise's commands. Raises DeviceError."""
        async with self._room:
            await reset(self._homes, serial)
            if exercise.scenario:
                await begin_scenario(self._homes, serial, exercise.scenario)
        for command in exercise.shell:
            features = await self._adb.features(serial)
            said = await self._adb.shell(
                serial, command, features=features, timeout_s=SHELL_BOUND_S
            )
            if said.exit_code:
                raise DeviceError(
                    f"{command!r} of {exercise.name} ended with {said.exit_code} on {serial}: "
                    f"{said.text.strip()[:200]}",
                    "Correct the suite's `shell`.",
                )

    async def state(self, serial: str) -> State:
        """Return a phone's true state. Raises DeviceError."""
        async with self._room:
            return await true_state(self._homes, serial)
