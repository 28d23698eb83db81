"""Read whose windows stand over an app.

`dumpsys window windows` lists the windows front to back with owner, type and whether they are seen
(WindowState.dump). Only the system itself may make the types that are left out here; any other
window before that of the app, seen or of a kind that the phone does not tell, is over it.

Invariant: a title, which its owner chooses and which may have line breaks, makes no window of
another, none that is hidden, and no end of the list: what is said twice of a window counts as not
said, and numbers that do not follow each other are no list.
"""

import re
from itertools import pairwise

from agent.devices.facts.dump_text import MAIN_DISPLAY, read_dump
from agent.devices.facts.fact import Fact, Unknown, known

_RECORD = re.compile(r"\s*Window #(?P<number>\d{1,6}) Window\{(?P<inside>.*)")
_DISPLAY = re.compile(r"^\s*mDisplayId=(\d{1,9})\b", re.MULTILINE)
_OWNER = re.compile(r"^\s*mOwnerUid=\d+ (?:.* )?package=([\w.]+)", re.MULTILINE)
_TYPE = re.compile(r"^\s*mAttrs=.*?(?<!\w)ty=(\w+)", re.MULTILINE)
_SEEN = re.compile(r"^\s*isVisible=(true|false)\b", re.MULTILINE)
_SYSTEM_TYPES = frozenset(
    {
        *("STATUS_BAR", "STATUS_BAR_ADDITIONAL", "STATUS_BAR_SUB_PANEL", "NOTIFICATION_SHADE"),
        *("NAVIGATION_BAR", "NAVIGATION_BAR_PANEL", "INPUT_METHOD", "INPUT_METHOD_DIALOG"),
        *("WALLPAPER", "DOCK_DIVIDER", "POINTER", "VOLUME_OVERLAY", "SCREENSHOT"),
        *("2000", "2041", "2017", "2040", "2019", "2024", "2011", "2012", "2013", "2034"),
        *("2018", "2020", "2036"),
    }
)
"""Types that need a permission of the platform's own certificate, by name and, as phones before
Android 8 say them, by number (WindowManager.LayoutParams)."""


def read_overlays(text: str, package: str, display: int = MAIN_DISPLAY) -> Fact[tuple[str, ...]]:
    """Return whose windows are before the front window of an app, by package."""
    lines = read_dump(text).rest.lines
    found = [(at, one) for at, line in enumerate(lines) if (one := _RECORD.match(line))]
    numbers = [int(one["number"]) for _, one in found]
    if {after - before for before, after in pairwise(numbers)} not in (set(), {1}, {-1}):
        return Unknown(reason="the windows are not numbered one after the other")
    over: list[str] = []
    for start, end in pairwise([*(at for at, _ in found), len(lines)]):
        its = "\n".join(lines[start + 1 : end])
        number = _only(_DISPLAY, its)
        if number and int(number) != display:
            continue
        whose = _only(_OWNER, its)
        if whose and (_only(_TYPE, its) in _SYSTEM_TYPES or _only(_SEEN, its) == "false"):
            continue
        if whose == package:
            return known(tuple(dict.fromkeys(over)), lines[start])
        over.append(whose or "an unknown window")
    return Unknown(reason=f"no window of {package} is in the list")


def _only(pattern: re.Pattern[str], text: str) -> str:
    """Return what is said once; empty where it is not said, or more than once."""
    said = pattern.findall(text)
    return str(said[0]) if len(said) == 1 else ""
