"""The few statistics that a run is told by; pure.

Invariant: a figure comes with what is known of its error.
"""

import math
from typing import NamedTuple

Z95 = 1.96


def wilson(passed: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate: Wilson's score interval (1927)."""
    if not trials:
        return 0.0, 1.0
    rate = passed / trials
    middle = (rate + Z95 * Z95 / (2 * trials)) / (1 + Z95 * Z95 / trials)
    half = (
        Z95
        * math.sqrt(rate * (1 - rate) / trials + Z95 * Z95 / (4 * trials * trials))
        / (1 + Z95 * Z95 / trials)
    )
    return max(0.0, middle - half), min(1.0, middle + half)


class Difference(NamedTuple):
    """How much more often B passed than A, of the same trials."""

    share: float
    low: float
    high: float  # The 95 % interval.
    p: float  # How likely a difference as large is where there is none (McNemar's exact test).


def paired(both: int, only_a: int, only_b: int, neither: int) -> Difference:
    """Compare two runs of the same trials by how many each passed.

    The interval is Agresti and Min's (2005): half a trial is added to each of the four counts, so
    that it is honest for few trials too.
    """
    trials = both + only_a + only_b + neither
    if not trials:
        return Difference(0.0, -1.0, 1.0, 1.0)
    a, b, n = only_a + 0.5, only_b + 0.5, trials + 2.0
    middle = (b - a) / n
    half = Z95 * math.sqrt(max(0.0, a + b - (b - a) ** 2 / n)) / n
    low, high = max(-1.0, middle - half), min(1.0, middle + half)
    return Difference((only_b - only_a) / trials, low, high, _mcnemar(only_a, only_b))


def _mcnemar(only_a: int, only_b: int) -> float:
    """Return the two-sided p of the exact test: the discordant trials as tosses of a fair coin."""
    tosses, fewer = only_a + only_b, min(only_a, only_b)
    if not tosses:
        return 1.0
    tail: float = sum(math.comb(tosses, k) for k in range(fewer + 1)) / 2**tosses
    return min(1.0, 2 * tail)
