"""Read whose windows stand over an app.

`dumpsys window windows` lists the windows front to back with owner, type and whether they are seen
(WindowState.dump). Only the system itself may make the types that are left out here; any other
window before that of the app, seen or of a kind that the phone does not tell, is over it.
"""

import re
from itertools import pairwise

from agent.devices.facts.dump_text import MAIN_DISPLAY, read_dump
from agent.devices.facts.fact import Fact, Unknown, known
from agent.devices.facts.focus import read_window

_RECORD = re.compile(r"\s*Window #\d+ Window\{(?P<inside>.*)")
_DISPLAY = re.compile(r"\bmDisplayId=(\d{1,9})\b")
_OWNER = re.compile(r"(?<!\w)package=([\w.]+)")
_TYPE = re.compile(r"(?<!\w)ty=(\w+)")
_HIDDEN = re.compile(r"(?<!\w)(?:isVisible|isOnScreen|mHasSurface)=false\b")
_SYSTEM_TYPES = frozenset(
    {
        *("STATUS_BAR", "STATUS_BAR_ADDITIONAL", "STATUS_BAR_SUB_PANEL", "NOTIFICATION_SHADE"),
        *("NAVIGATION_BAR", "NAVIGATION_BAR_PANEL", "INPUT_METHOD", "INPUT_METHOD_DIALOG"),
        *("WALLPAPER", "DOCK_DIVIDER", "POINTER", "VOLUME_OVERLAY", "SCREENSHOT"),
    }
)
"""Types that need a permission of the platform's own certificate (WindowManager.LayoutParams)."""


def read_overlays(text: str, package: str, display: int = MAIN_DISPLAY) -> Fact[tuple[str, ...]]:
    """Return whose windows are before the front window of an app, by package or title."""
    lines = read_dump(text).rest.lines
    starts = [at for at, line in enumerate(lines) if _RECORD.match(line)]
    over: list[str] = []
    for start, end in pairwise([*starts, len(lines)]):
        heading = _RECORD.match(lines[start])
        window = None if heading is None else read_window(heading["inside"].rstrip(" :"))
        its = "\n".join(lines[start + 1 : end])
        number = _DISPLAY.search(its)
        if (int(number[1]) if number else MAIN_DISPLAY) != display:
            continue
        owner, kind = _OWNER.search(its), _TYPE.search(its)
        whose = owner[1] if owner else "" if window is None else window.package
        if _HIDDEN.search(its) or (kind is not None and kind[1] in _SYSTEM_TYPES):
            continue
        if whose == package:
            return known(tuple(dict.fromkeys(over)), lines[start])
        title = "" if window is None else window.title
        over.append(whose or title or "an unknown window")
    return Unknown(reason=f"no window of {package} is in the list")
