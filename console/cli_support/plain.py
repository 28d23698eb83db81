"""Records as plain text columns and as JSON on stdout, for people in a shell and for scripts.

Not the console's tables. Invariant: foreign text is cleaned and kept on one line, so a row is a
line whatever a phone or a model wrote.
"""

import json
import sys
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from agent.text import one_line


def cell_width(text: str) -> int:
    """Count the terminal cells of a line of cleaned text."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay rows out under their heads; the last column, which says what to do, may be long."""
    limits = [*[100] * (len(head) - 1), 400]
    table = [
        list(head),
        *([one_line(cell, most) for cell, most in zip(row, limits, strict=True)] for row in rows),
    ]
    widths = [max(cell_width(row[i]) for row in table) for i in range(len(head))]
    lines = []
    for row in table:
        cells = [
            cell + " " * (width - cell_width(cell)) for cell, width in zip(row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_builtins(record: msgspec.Struct) -> dict[str, object]:
    """Return a record with every field named, defaults too, so that scripts need not know them."""
    return {name: msgspec.to_builtins(getattr(record, name)) for name in record.__struct_fields__}


def print_json(value: object) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_text(text: str) -> None:
    """Print lines on stdout."""
    sys.stdout.write(text + "\n")


def age(since_ms: int, now_ms: int | None = None) -> str:
    """Return how long ago a moment was, in one unit."""
    now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return span(max(0, now - since_ms))


def moment(at_ms: int) -> str:
    """Return a moment in local time; `-` for none."""
    if at_ms <= 0:
        return "-"
    try:
        return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, OSError, ValueError):
        return "-"


def span(duration_ms: int) -> str:
    """Return a duration in one unit, rounded down."""
    seconds = duration_ms // 1000
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
