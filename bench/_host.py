"""How much of the CPU that a machine asked for its host gave it.

No benchmark. On a rented machine the host may run somebody else while ours has work; Linux counts
that as stolen time (the eighth figure of `cpu` in `/proc/stat`, proc_stat(5)). Where nothing is
counted, as on a machine of one's own, all that was asked for was given.
"""

from pathlib import Path
from typing import NamedTuple

_STAT = Path("/proc/stat")
_IDLE, _IOWAIT, _STOLEN = 3, 4, 7

FAIR = 0.9  # A time measured with less than this share says more of the host than of the program.


class Ticks(NamedTuple):
    """What all cores together ran and what was stolen from them, in clock ticks since boot."""

    ran: int
    stolen: int

    def given_since(self, before: "Ticks") -> float:
        """Return the share, 0 to 1, of what was asked for since then that was given."""
        ran, stolen = self.ran - before.ran, self.stolen - before.stolen
        return ran / (ran + stolen) if ran + stolen > 0 else 1.0


def ticks() -> Ticks:
    """Read the counters; zeros where there are none."""
    try:
        words = _STAT.read_text().split("\n", 1)[0].split()
    except OSError:
        return Ticks(0, 0)
    figures = [int(word) for word in words[1:9]]
    if len(figures) <= _STOLEN:
        return Ticks(0, 0)
    ran = sum(figures[:_STOLEN]) - figures[_IDLE] - figures[_IOWAIT]
    return Ticks(ran, figures[_STOLEN])
