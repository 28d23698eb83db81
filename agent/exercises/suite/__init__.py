"""The exercises, by app; names are unique and goals too, for the routes are known by them."""

from agent.exercises.exercise import Exercise
from agent.exercises.suite import mixed, money, people, pictures, planning, settings, writing

EXERCISES: tuple[Exercise, ...] = (
    *settings.EXERCISES,
    *writing.EXERCISES,
    *people.EXERCISES,
    *planning.EXERCISES,
    *money.EXERCISES,
    *mixed.EXERCISES,
    *pictures.EXERCISES,
)

__all__ = ["EXERCISES"]
