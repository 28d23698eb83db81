"""Read how large a display is: as it is turned now, and before it is turned.

Sources: the line `init=… cur=…` of DisplayContent.dump (Android 4.2 to 16), `DisplayViewport{…}` of
`dumpsys display`, and `wm size`, which speaks of display 0 before it is turned.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from agent.devices.facts.dump_text import MAIN_DISPLAY, Section, lines_of, read_dump
from agent.devices.facts.fact import Fact, Known, Unknown, known

DISPLAY_LIMIT_PX = 32_768
NATURAL_SIZE = "wm size"
VIEWPORTS = "dumpsys display"
_INIT = re.compile(r"\binit=\d+x\d+\b")
_CURRENT = re.compile(r"\bcur=(\d+)x(\d+)\b")
_OVERRIDE = re.compile(r"\bOverride size:\s*(\d+)x(\d+)(?=\s|$)")
_PHYSICAL = re.compile(r"\bPhysical size:\s*(\d+)x(\d+)(?=\s|$)")
_BROKEN_SIZE = re.compile(r"(?!.*\bPhysical size:).*(?:\bOverride\b|size:\s*\d)")
"""An override that another program's words broke into."""
_VIEWPORT = re.compile(r"DisplayViewport\{(?P<fields>[^{}]{0,600})")
_VIEWPORT_OF = re.compile(r"\bdisplayId=(\d{1,9})\b")
_FRAME = re.compile(r"\blogicalFrame=Rect\((-?\d+), (-?\d+) - (-?\d+), (-?\d+)\)")
_TURNED = re.compile(r"\borientation=([0-3])\b")
_ROTATION = re.compile(r"(?<!\w)mRotation=(?:ROTATION_)?(0|1|2|3|90|180|270)\b")
_FRAMES = re.compile(r"\bDisplayFrames w=\d+ h=\d+ r=([0-3])\b")

Size = tuple[int, int]
T = TypeVar("T")


def read_size(text: str, display: int = MAIN_DISPLAY) -> Fact[Size]:
    """Read width and height of a display in pixels, as it is turned now, from `dumpsys window`."""
    section = read_dump(text).of(display)
    if section is None:
        return Unknown(reason=f"`dumpsys window displays` has no section of display {display}")
    return size_in(section)


def size_in(section: Section) -> Fact[Size]:
    """Read the current size in pixels out of one display's section."""
    begun = False
    last = len(section.lines) - 1
    for at, line in enumerate(section.lines):
        begun = begun or ("init=" in line and _INIT.search(line) is not None)
        if begun and (found := _CURRENT.search(line)):
            if at == last and found.end() == len(line):
                return Unknown(reason="the line init=… cur=… is cut off")
            if size := _checked(found[1], found[2]):
                return known(size, line)
            return Unknown(reason=f"no display has the size {found[0][:40]}")
    return Unknown(reason="the section has no line init=… cur=…")


def rotation_in(section: Section) -> Fact[int]:
    """Read the quarter turns from the natural orientation out of one display's section."""
    for word, pattern in (("mRotation=", _ROTATION), ("DisplayFrames ", _FRAMES)):
        for line in section.lines:
            if word in line and (found := pattern.search(line)):
                turns = int(found[1])
                return known(turns // 90 if turns > 3 else turns, line)
    return Unknown(reason="the section has no mRotation=")


def read_viewport_size(text: str, display: int = MAIN_DISPLAY) -> Fact[Size]:
    """Read width and height of a display in pixels, as it is turned now, from `dumpsys display`."""
    return _of_viewport(text, display, _viewport_size)


def read_viewport_rotation(text: str, display: int = MAIN_DISPLAY) -> Fact[int]:
    """Read the quarter turns of a display from `dumpsys display`."""
    return _of_viewport(text, display, _viewport_rotation)


def _of_viewport(text: str, display: int, read: Callable[[str], T | None]) -> Fact[T]:
    """Read what the viewport of a display says; of several, the one whose panel is lit counts.

    A foldable phone has a viewport for each panel, and both are of display 0.
    """
    told: list[Known[T]] = []
    for line in lines_of(text):
        for found in _VIEWPORT.finditer(line):
            fields = found["fields"]
            its = _VIEWPORT_OF.search(fields)
            if its is None or int(its[1]) != display or "valid=false" in fields:
                continue
            if (value := read(fields)) is None:
                continue
            if "isActive=true" in fields:
                return known(value, found[0])
            told.append(known(value, found[0]))
    if not told:
        return Unknown(reason=f"`{VIEWPORTS}` has no viewport of display {display}")
    if any(one.value != told[0].value for one in told):
        return Unknown(reason=f"the viewports of display {display} differ, and none is active")
    return told[0]


def _viewport_size(fields: str) -> Size | None:
    frame = _FRAME.search(fields)
    if frame is None:
        return None
    left, top, right, bottom = (int(side[:9]) for side in frame.groups())
    return _sized(right - left, bottom - top)


def _viewport_rotation(fields: str) -> int | None:
    turned = _TURNED.search(fields)
    return int(turned[1]) if turned else None


def read_natural_size(text: str) -> Fact[Size]:
    """Read width and height in pixels of display 0 before it is turned; an override wins."""
    lines = lines_of(text)
    if not any(map(_OVERRIDE.search, lines)) and any(map(_BROKEN_SIZE.match, lines)):
        return Unknown(reason=f"`{NATURAL_SIZE}` printed a broken line")
    for pattern in (_OVERRIDE, _PHYSICAL):
        for line in lines:
            found = pattern.search(line)
            if found is not None and (size := _checked(found[1], found[2])):
                return known(size, line)
    return Unknown(reason=f"`{NATURAL_SIZE}` names no size")


def _checked(width: str, height: str) -> Size | None:
    if max(len(width), len(height)) > len(str(DISPLAY_LIMIT_PX)):
        return None
    return _sized(int(width), int(height))


def _sized(width: int, height: int) -> Size | None:
    return (
        (width, height)
        if min(width, height) > 0 and max(width, height) <= DISPLAY_LIMIT_PX
        else None
    )
