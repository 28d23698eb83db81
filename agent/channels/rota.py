"""Who is told what waits for an answer, and when the next person is. Pure.

Invariants: whoever is told stays told; a person who cannot be reached now costs no time: the next
one is told in their place; where two people approve, two are told at once.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Due(NamedTuple):
    """Who should have been told by now."""

    people: tuple[str, ...]
    next_ms: int
    """When somebody else is due; 0: nobody."""


def due_people(
    order: Sequence[str],
    *,
    needed: int,
    asked_ms: int,
    every_ms: int,
    now_ms: int,
    free_ms: Callable[[str], int],
) -> Due:
    """Return who should have been told by now.

    Args:
        order: the people who may answer, first the first.
        needed: how many answers it takes.
        asked_ms: when it was asked.
        every_ms: after how long the next person is told; 0: never.
        now_ms: the time.
        free_ms: when a person can be told; at most now: at once; 0 as well.
    """
    passed = (now_ms - asked_ms) // every_ms if every_ms > 0 else 0
    reach = needed + max(0, passed)
    people: list[str] = []
    waits: list[int] = []
    left = False
    for name in order:
        at_ms = free_ms(name)
        if at_ms > now_ms:
            waits.append(at_ms)
        elif len(people) < reach:
            people.append(name)
        else:
            left = True
    if left and every_ms > 0:
        waits.append(asked_ms + (max(0, passed) + 1) * every_ms)
    return Due(tuple(people), min(waits, default=0))


def in_order(everybody: Sequence[str], first: Sequence[str]) -> tuple[str, ...]:
    """Return people in the order in which they are told; those not listed come last."""
    listed = tuple(name for name in dict.fromkeys(first) if name in everybody)
    return (*listed, *(name for name in dict.fromkeys(everybody) if name not in listed))
