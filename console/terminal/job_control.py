"""Stop the console as a job of the operator's shell, and go on when the shell says so.

Not the editor, for which the console goes on (`console.terminal.editor`). Invariant: nothing is
stopped that no shell could continue.
"""

import os
import signal
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.terminal.editor import TerminalOwner


_LOOK_S = 0.05


def why_not_suspended(app: "TerminalOwner") -> str:
    """Return why there is no going to a shell from here; empty when there is one.

    A shell with job control gives each job a process group of its own (credentials(7)); where we
    are in the group of the session's first process, nobody is there to continue us.
    """
    if not app.has_terminal_to_lend:
        return "There is no shell behind this console."
    if os.getpgrp() == os.getsid(0):
        return "No shell waits behind this console to bring it back."
    return ""


def suspend(app: "TerminalOwner") -> None:
    """Stop the whole job, as ctrl+z does to any program, and draw again when it is continued."""
    app.redraw.pause()
    try:
        with app.suspend():
            _stop_until_continued()
    finally:
        app.redraw.resume()


def _stop_until_continued() -> None:
    """Stop this job, and return only once it has been stopped and continued.

    A stop takes effect some instructions after it was asked for. Without waiting, the terminal
    would be taken back before it, and once more by Textual's own handler of SIGCONT after it: two
    threads would then read the keys, and the end of the console wait for the one that reads none.
    """
    continued = Event()
    before = signal.signal(signal.SIGCONT, lambda *_: continued.set())
    try:
        # All of the job: a shell waits for its first process, which may be make.
        os.killpg(os.getpgrp(), signal.SIGSTOP)
        # The signal may reach another thread; its handler runs once this one wakes up.
        while not continued.wait(_LOOK_S):
            pass
    finally:
        signal.signal(signal.SIGCONT, before)
