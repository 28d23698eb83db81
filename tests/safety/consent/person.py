"""A terminal with a shell and a person at it: `python -I -S person.py SOCKET FOLDER TERMINAL`.

It runs hands as jobs of its own, in the foreground, as the lines of FOLDER/typed say.
"""

# Without pathlib, which takes longer to import than all that is done here.
# ruff: noqa: PTH100, PTH118, PTH120, PTH123

import fcntl
import json
import os
import signal
import sys
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from hand import keep  # type: ignore[import-not-found]  # noqa: E402


def main() -> None:
    path, folder, terminal = sys.argv[1:4]
    if os.fork():
        os._exit(0)
    os.setsid()
    number = os.open(terminal, os.O_RDWR)
    fcntl.ioctl(number, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    keep(os.path.join(folder, "seated"), {"pid": os.getpid()})
    with open(os.path.join(folder, "typed")) as typed:
        for line in typed:
            order = json.loads(line)
            job = os.fork()
            if job == 0:
                os.setpgid(0, 0)
                os.tcsetpgrp(number, os.getpid())
                command = [sys.executable, "-I", "-S", os.path.join(HERE, "hand.py")]
                os.execv(command[0], [*command, path, order["calls"], order["out"]])
            os.waitpid(job, 0)
            os.tcsetpgrp(number, os.getpid())


if __name__ == "__main__":
    main()
