"""How the command speaks and ends: its name, its exit statuses, one line of foreign text."""

import os
import sys

FAILED = 1
USAGE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def program() -> str:
    """Return what the command is called: by another program that offers it, what that one says."""
    return os.environ.get("VIRTUAL_PHONE_PROGRAM") or "virtual-phone"


def say(text: str) -> None:
    """Write a line to stderr; a stderr that is closed is nobody's failure."""
    try:
        print(one_line(text), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


def one_line(text: str, most: int = 2000) -> str:
    """Return text as one line without control characters: apps and peers wrote parts of it."""
    shown = "".join(c if c.isprintable() else " " for c in text[: 4 * most])
    line = " ".join(shown.split())
    return line if len(line) <= most else line[: most - 1] + "…"
