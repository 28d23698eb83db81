"""Give a terminal back as it was taken, where the console could not do so itself.

Not the usual way, which is the driver's. Invariants: what is written here resets, and turns nothing
on; it waits for no terminal; a terminal that was given back already is left alone.
"""

import os
import select
import termios
from contextlib import suppress
from typing import Any

_RESETS = (
    b"\x1b\\"  # Ends a string that was begun.
    b"\x1b[?2026l"  # Drawing at once.
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # The mouse.
    b"\x1b[?1004l\x1b[?2004l\x1b[?2048l"  # Focus, pastes, sizes.
    b"\x1b[<u"  # kitty's keyboard protocol, whose stack belongs to the screen that is left next.
    b"\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h"  # Colours, wrapping, the other screen, the cursor.
)
_WAITS_S = 0.2

_taken: dict[int, tuple[int, list[Any] | None]] = {}
"""By what is read: what is written, and the terminal's modes before."""


def note_taken(reads: int, writes: int) -> None:
    """Note that a terminal is taken from now on.

    Args:
        reads: the descriptor that is read.
        writes: the descriptor that is written.
    """
    try:
        before = termios.tcgetattr(reads)
    except (OSError, termios.error):
        before = None
    _taken[reads] = (writes, before)


def note_given_back(reads: int) -> None:
    """Note that a terminal was given back."""
    _taken.pop(reads, None)


def give_back_all() -> bool:
    """Reset every terminal that is still taken; return whether there was one."""
    was_taken = bool(_taken)
    while _taken:
        reads, (writes, before) = _taken.popitem()
        with suppress(OSError):
            if select.select([], [writes], [], _WAITS_S)[1]:
                os.write(writes, _RESETS)
        if before is not None:
            with suppress(OSError, termios.error):
                termios.tcsetattr(reads, termios.TCSANOW, before)
    return was_taken
