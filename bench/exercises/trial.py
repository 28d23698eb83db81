"""A trial on a phone in this process: its state is read and written without a channel."""

from agent.exercises.exercise import Exercise, State
from bench.exercises.conditions import Prepared, taken_back
from bench.exercises.house import House
from console.evaluation import trial as trials
from console.evaluation.trial import Outcome, Trial
from virtual_phone.state import scenarios

__all__ = ["Outcome", "attempt"]


class _OwnPhones:
    """Implements `console.evaluation.trial.Phones`."""

    def __init__(self, house: House) -> None:
        self._host = house.host

    async def prepare(self, serial: str, exercise: Exercise) -> None:
        self._host.reset(serial)
        phone = self._host.served(serial).phone
        if exercise.scenario:
            scenarios.begin(phone, exercise.scenario)
        if isinstance(exercise, Prepared):
            exercise.prepare(phone)

    async def state(self, serial: str) -> State:
        return self._host.served(serial).phone.state()


async def attempt(
    house: House,
    serial: str,
    exercise: Exercise,
    *,
    model: str,
    seed: int,
    repeat: int,
    without: tuple[str, ...],
    bound_s: float,
) -> Outcome:
    """Try an exercise once on a phone that nobody else uses."""
    trial = Trial(
        exercise=exercise, model=model, seed=seed, repeat=repeat, without=without, bound_s=bound_s
    )
    with taken_back(house.host.served(serial).phone):
        return await trials.attempt(house.core, _OwnPhones(house), serial, trial)
