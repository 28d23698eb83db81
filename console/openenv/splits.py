"""Which tasks are for training, which for choosing between models, and which for the last word.

Invariant: a task's split follows from its name alone, so that it stays when others come or go.
"""

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from agent.exercises.exercise import Exercise

_TRAIN_PERCENT = 70
_VALIDATION_PERCENT = 15


class Split(StrEnum):
    """The splits; the types of OpenEnv have the same names."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


def split_of(name: str) -> Split:
    """Return the split of a task: 70 of 100 for training, 15 each for the other two."""
    at = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % 100
    if at < _TRAIN_PERCENT:
        return Split.TRAIN
    return Split.VALIDATION if at < _TRAIN_PERCENT + _VALIDATION_PERCENT else Split.TEST


def in_split(tasks: Sequence[Exercise], split: Split) -> tuple[Exercise, ...]:
    """Return the tasks of a split, in their order."""
    return tuple(one for one in tasks if split_of(one.name) is split)
