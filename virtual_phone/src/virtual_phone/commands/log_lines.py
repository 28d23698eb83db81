"""How `logcat` writes an entry: the formats of `-v` and what changes them, and the binary form.

After system/logging/liblog/logprint.cpp (android_log_formatFromString, android_log_formatLogLine)
and log/log_read.h. Colours are not drawn.
"""

import struct
import time
from dataclasses import dataclass

from virtual_phone.shell.call import CommandError, encode
from virtual_phone.userland.log import LogEntry

LEVELS = "VDIWEFS"
LOWEST_PRIORITY = 2
"""Of `android_LogPriority`: VERBOSE."""
FORMATS = frozenset({"brief", "process", "tag", "thread", "raw", "time", "threadtime", "long"})
CHANGES = frozenset(
    {
        *("color", "colour", "descriptive", "epoch", "monotonic", "nsec", "printable"),
        *("uid", "usec", "UTC", "year", "zone"),
    }
)


@dataclass(frozen=True, slots=True)
class LineForm:
    """The layout of a line, and the words that change it."""

    layout: str
    changes: frozenset[str]


def line_form(words: list[str]) -> LineForm:
    """Read the values of every `-v`; each may hold several words, as `threadtime,year`.

    Raises:
        CommandError: one of the words is not known.
    """
    layout, changes = "threadtime", set[str]()
    for word in words:
        for one in word.replace(":", ",").replace(" ", ",").split(","):
            if one in FORMATS:
                layout = one
            elif one in CHANGES:
                changes.add(one)
            elif one:
                raise CommandError(f'Invalid parameter "{word}" to -v')
    return LineForm(layout, frozenset(changes))


def as_line(entry: LogEntry, form: LineForm, booted: float) -> bytes:
    """Return an entry as the lines of a form; `booted` in seconds since the epoch."""
    stamp = _stamp(entry.at, form.changes, booted)
    level, tag, text = entry.level, entry.tag, entry.message
    pid, tid = f"{entry.pid:>5}", f"{entry.tid:>5}"
    match form.layout:
        case "brief":
            line = f"{level}/{tag:<8}({pid}): {text}"
        case "process":
            line = f"{level}({pid}) {text}  ({tag})"
        case "tag":
            line = f"{level}/{tag:<8}: {text}"
        case "thread":
            line = f"{level}({pid}:{tid}) {text}"
        case "raw":
            line = text
        case "time":
            line = f"{stamp} {level}/{tag:<8}({pid}): {text}"
        case "long":
            line = f"[ {stamp} {pid}:{tid} {level}/{tag:<8} ]\n{text}\n"
        case _:
            line = f"{stamp} {pid} {tid} {level} {tag:<8}: {text}"
    return encode(f"{line}\n")


def _stamp(at: float, changes: frozenset[str], booted: float) -> str:
    digits = 9 if "nsec" in changes else 6 if "usec" in changes else 3
    if "monotonic" in changes or "epoch" in changes:
        seconds, width = (at - booted, 6) if "monotonic" in changes else (at, 19)
        clock = f"{int(seconds):>{width}}"
    else:
        seconds = at
        year = "%Y-" if "year" in changes else ""
        clock = time.strftime(f"{year}%m-%d %H:%M:%S", time.gmtime(at))
    part = f".{int(seconds % 1 * 10**digits):0{digits}d}"
    return clock + part + (" +0000" if "zone" in changes else "")


_ENTRY = struct.Struct("<HHiIIIII")
"""`struct logger_entry` of Android's log/log_read.h: payload and header size, pid, tid, seconds,
nanoseconds, buffer, uid."""
_MAIN, _ROOT = 0, 0


def as_binary(entry: LogEntry) -> bytes:
    """Return an entry as `logcat -B` writes it: header, priority, tag and message."""
    payload = b"%c%s\0%s\0" % (
        LEVELS.index(entry.level) + LOWEST_PRIORITY,
        encode(entry.tag),
        encode(entry.message),
    )
    seconds, part = divmod(entry.at, 1)
    size, ids, at = len(payload), (entry.pid, entry.tid), (int(seconds), int(part * 1e9))
    return _ENTRY.pack(size, _ENTRY.size, *ids, *at, _MAIN, _ROOT) + payload
