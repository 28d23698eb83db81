"""Read whether a keyboard covers a part of a display.

By rank: the insets of the display, which are what apps make room for; `mImeShowing=` of its
provider; `mImeWindowVis=`, bits that the input method sets for its window; `mInputShown=` of the
service. The input method's `mIsInputViewShown=` stays set after hiding since Android 14, so true
says nothing there, but false says that a keyboard which is "shown" has no view: a hardware keyboard
or one that types what adb sends. Sources: InsetsSource.dump (Android 10 to 16),
ImeInsetsSourceProvider.dump (11 to 16), InputMethodManagerService.dump (4 to 16),
InputMethodService.dump, IME_VISIBLE of InputMethodService.
"""

import re
from collections.abc import Sequence

from agent.devices.facts.dump_text import MAIN_DISPLAY, Section, lines_of, read_dump
from agent.devices.facts.fact import Fact, Unknown, first_known, known, value_or_none
from agent.devices.facts.sizes import size_in

KEYBOARD = "dumpsys input_method"
_INSETS = re.compile(r"\bInsetsSource\b.*?\btype=(?:I?TYPE_)?(?:IME|ime)\b(?P<rest>.*)")
_FRAME = re.compile(
    r"(?<!\w)frame=(?:Rect\()?\[?(-?\d+), ?(-?\d+)(?:\]\[| - )(-?\d+), ?(-?\d+)[\])]"
)
_VISIBLE = re.compile(r"(?<!\w)visible=(true|false)\b")
_BITS = re.compile(r"(?<!\w)mImeWindowVis=(0x[0-9a-fA-F]{1,8}|\d{1,9})\b")
_VISIBLE_BIT = 0x2
_LEAST_SHARE = 0.1  # Of the display's height; keyboards take a quarter and more.
_FLAG = re.compile(
    r"(?<!\w)(?P<key>mImeShowing|mInputShown|mIsInputViewShown|mWindowVisible)=(?P<value>true|false)"
)
_ON_DISPLAY = re.compile(r"(?<!\w)mDisplayIdToShowIme=(-?\d{1,9})\b")


def read_keyboard_shown(
    input_method: str, displays: str = "", display: int = MAIN_DISPLAY
) -> Fact[bool]:
    """Read whether a keyboard covers a part of a display.

    Args:
        input_method: what `dumpsys input_method` printed.
        displays: what `dumpsys window displays` printed; empty if it was not asked.
    """
    section = read_dump(displays).of(display) if displays else None
    return keyboard_of(section, input_method, display)


def keyboard_of(section: Section | None, input_method: str, display: int) -> Fact[bool]:
    """Read it from a display's section, if there is one, else from the service."""
    by_windows = keyboard_in(section) if section is not None else Unknown(reason="no insets")
    return first_known(by_windows, _by_service(lines_of(input_method), display))


def keyboard_in(section: Section) -> Fact[bool]:
    """Read whether a keyboard covers a part of a display from the display's own section."""
    for at, line in enumerate(section.lines):
        if "InsetsSource" not in line or (insets := _INSETS.search(line)) is None:
            continue
        rest = insets["rest"]
        for more in section.lines[at + 1 : at + 4]:
            # A long source may be wrapped.
            if _VISIBLE.search(rest) or "InsetsSource" in more:
                break
            rest += f" {more}"
        if visible := _VISIBLE.search(rest):
            height_px = _height(section)
            is_flat = _is_flat(_FRAME.search(rest), height_px)
            return known(visible[1] == "true" and not is_flat, line)
    return _agreed("mImeShowing", section.lines)


def _height(section: Section) -> int:
    """Return the height in pixels of a display as it is turned; 0 if it is unknown."""
    size = value_or_none(size_in(section))
    return 0 if size is None else size[1]


def _is_flat(frame: re.Match[str] | None, height_px: int) -> bool:
    """Return whether a frame covers next to nothing, as one of a keyboard without a view.

    A keyboard of hardware may have a bar of its own, as high as the navigation bar.
    """
    if frame is None:
        return False
    left, top, right, bottom = (int(side[:9]) for side in frame.groups())
    return right <= left or bottom - top <= height_px * _LEAST_SHARE


def _by_service(lines: Sequence[str], display: int) -> Fact[bool]:
    """Read it from the service and from the input method's own words."""
    for line in lines:
        where = _ON_DISPLAY.search(line)
        if where is not None and int(where[1]) not in {-1, display}:
            return known(False, line)
    shown, view = _agreed("mInputShown", lines), _agreed("mIsInputViewShown", lines)
    if not isinstance(shown, Unknown) and not shown.value:
        return shown
    by_bits = _by_bits(lines)
    if not isinstance(by_bits, Unknown):
        return by_bits
    if not isinstance(view, Unknown) and not view.value:
        return view
    if not isinstance(shown, Unknown):
        return shown
    window = _agreed("mWindowVisible", lines)
    if not isinstance(window, Unknown) and not window.value:
        return window
    if isinstance(view, Unknown):
        return first_known(shown, view)
    if isinstance(window, Unknown):
        return Unknown(reason="only mIsInputViewShown=true is printed, which may be an old one")
    return window


def _by_bits(lines: Sequence[str]) -> Fact[bool]:
    for line in lines:
        if found := _BITS.search(line):
            bits = int(found[1], 16 if found[1].startswith("0x") else 10)
            return known(bool(bits & _VISIBLE_BIT), line)
    return Unknown(reason="no mImeWindowVis= is printed")


def _agreed(key: str, lines: Sequence[str]) -> Fact[bool]:
    """Read a flag; unknown if it is printed with both values, as of several users."""
    told: Fact[bool] = Unknown(reason=f"no {key}= is printed")
    for line in lines:
        for found in _FLAG.finditer(line) if f"{key}=" in line else ():
            if found["key"] != key:
                continue
            value = found["value"] == "true"
            if isinstance(told, Unknown):
                told = known(value, line)
            elif told.value != value:
                return Unknown(reason=f"{key}= is printed with both values")
    return told
