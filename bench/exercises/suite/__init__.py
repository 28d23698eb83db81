"""The exercises, by app; names are unique and goals too, for the routes are known by them."""

from __future__ import annotations

from bench.exercises.exercise import Exercise
from bench.exercises.suite import mixed, money, people, pictures, planning, settings, writing

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
