"""Whether this machine is too busy for a missing answer to prove anything.

Not a monitor: it is asked about one wait that has just ended in vain. Invariant: where the system
tells nothing of its load, the machine counts as idle, so that silence is still noticed.
"""

import asyncio
import os
from pathlib import Path

PRESSURE_PATH = Path("/proc/pressure/cpu")
"""Linux 4.20 and newer: `some … total=` counts microseconds in which something waited for a core
(kernel documentation, accounting/psi)."""
_STALLED_SHARE = 0.25
_LATE_S = 0.2
_LOAD_PER_CORE = 2.0
"""From here on the servers and virtual phones of this machine wait for a core, as we do."""


class HostLoad:
    """What this machine is burdened with from the making of this object on, in an event loop."""

    def __init__(self) -> None:
        self._began_s = asyncio.get_running_loop().time()
        self._stalled_s = stalled_s()

    def is_felt(self, allowed_s: float) -> bool:
        """Return whether a wait that was allowed so long was ours to lose, not the other side's.

        It was when this loop itself came late, or programs here waited for a core meanwhile.
        """
        waited_s = asyncio.get_running_loop().time() - self._began_s
        if waited_s > allowed_s + _LATE_S:
            return True
        if stalled_s() - self._stalled_s > waited_s * _STALLED_SHARE:
            return True
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return load > _LOAD_PER_CORE * (os.cpu_count() or 1)


def stalled_s() -> float:
    """Read for how long, ever, something here waited for a core; 0 where the system tells none."""
    try:
        said = PRESSURE_PATH.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    total = said.partition("total=")[2].split()
    return int(total[0]) / 1e6 if total and total[0].isdecimal() else 0.0
