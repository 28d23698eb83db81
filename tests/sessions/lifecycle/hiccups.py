"""A machine that has other things to do: it halts the run now and then, and keeps its cores busy.

Invariant: whoever is halted goes on again, and both processes end with the one they trouble.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SHORT_S, _LONG_S = 0.02, 1.0
_ONE_IN = 10  # How many halts are short for one that is long.
_APART_S = 0.4


@contextmanager
def troubled(seed: int) -> Iterator[None]:
    """Trouble this process for the length of the block."""
    helper = subprocess.Popen([sys.executable, "-m", __name__, str(os.getpid()), str(seed)])
    try:
        yield
    finally:
        helper.kill()
        helper.wait()
        os.kill(os.getpid(), signal.SIGCONT)


def _trouble(pid: int, seed: int) -> None:
    chance = random.Random(seed)
    while os.getppid() == pid:
        busy_until = time.monotonic() + chance.uniform(0, _APART_S)
        while time.monotonic() < busy_until:
            pass
        halt_s = _LONG_S if chance.randrange(_ONE_IN) == 0 else _SHORT_S
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(chance.uniform(0, halt_s))
        finally:
            os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    _trouble(int(sys.argv[1]), int(sys.argv[2]))
