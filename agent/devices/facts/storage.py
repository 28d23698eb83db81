"""How full a phone's file system is, as `df` tells.

Formats: toybox (Android 6 and newer: `Filesystem 1K-blocks Used Available Use% Mounted on`, a long
name of a device alone on its line) and toolbox (before: `Filesystem Size Used Free Blksize`, sizes
with a letter).
"""

import re

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Known, Unknown, known

STORAGE = "df /data 2>&1"
_DATA = "/data"
_PERCENT = re.compile(r".*?\s(\d{1,3})%\s+(/\S*)\s*")
_OLD = re.compile(r"\s*(/\S*)\s+([\d.]+)([KMGT]?)\s+([\d.]+)([KMGT]?)\s+([\d.]+)([KMGT]?)\s+\d+\s*")
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_LINES = 50


def read_free_percent(text: str) -> Fact[int]:
    """Read how much of /data is free, in percent, from what STORAGE printed."""
    lines = lines_of(text)[:_LINES]
    found = [free for line in lines if (free := _free(line)) is not None]
    its = [free for at, free in found if at == _DATA or at.startswith(f"{_DATA}/")] or [
        free for _, free in found
    ]
    if not its:
        first = next((line.strip() for line in lines if line.strip()), "nothing")
        return Unknown(reason=f"df answered: {first[:200]}")
    if any(free.value != its[0].value for free in its):
        return Unknown(reason="df answered for several file systems")
    return its[0]


def _free(line: str) -> tuple[str, Known[int]] | None:
    """Read where a file system is mounted and how much of it is free, in percent."""
    if (found := _PERCENT.fullmatch(line)) and int(found[1]) <= 100:
        return found[2], known(100 - int(found[1]), line)
    if (old := _OLD.fullmatch(line)) and (total := _bytes(old[2], old[3])):
        return old[1], known(min(100, round(100 * _bytes(old[6], old[7]) / total)), line)
    return None


def _bytes(number: str, unit: str) -> float:
    try:
        return float(number) * 1024.0 ** _UNITS[unit]
    except ValueError:
        return 0.0
