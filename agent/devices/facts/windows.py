"""Read the windows of a phone: which there are, and which forbid pictures of themselves.

`dumpsys window windows` lists every window with its display and its flags: `fl=#hex` until 8.1, the
flags' names since 9 (WindowManager.LayoutParams.toString). Which of them has the focus stands in
`dumpsys window displays` since Android 10, so both are asked in one call.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from agent.devices.facts.dump_text import MAIN_DISPLAY, WindowDump, read_dump
from agent.devices.facts.fact import Fact, Known, Unknown, first_known, known
from agent.devices.facts.focus import App, Window, app_in, focus_in, read_window
from agent.records.record import Record

SECURE = "dumpsys window displays; dumpsys window windows"
WINDOWS = "dumpsys window windows"
_RECORD = re.compile(r"\s*Window #\d+ Window\{(?P<inside>.*)")
_DISPLAY = re.compile(r"\bmDisplayId=(\d{1,9})\b")
_FLAGS = re.compile(r"(?<!\w)fl=(?:(?:#|0x)(?P<bits>[0-9a-fA-F]{1,8})\b|(?P<names>[A-Z0-9_ ]+))")
_PLAIN_BITS = re.compile(r"(?<!\w)fl=(?P<bits>[0-9a-f]{1,8})(?!\w)")
_MORE_NAMES = re.compile(r"\s*(?P<names>[A-Z0-9_]+(?: [A-Z0-9_]+)*)\s*\}?\s*")
_KEY = re.compile(r"\b\w+=")
_WRAPPED_LINES = 6
_UNPROTECTED = re.compile(r"(?<!\w)mDisableSecureWindows=true\b")
_INPUT_TARGET = re.compile(
    r"\b(?:imeLayeringTarget|mInputMethodTarget) in display# ?(?P<display>\d{1,9}) "
    r"Window\{(?P<inside>.*)"
)
_SECURE_BIT = 0x2000
"""WindowManager.LayoutParams.FLAG_SECURE."""
_SECURE_NAME = "SECURE"


class ListedWindow(Record, frozen=True, kw_only=True):
    """One window of the list.

    Attributes:
        display: the number of its display; 0 where the phone names none.
        secure: whether it forbids pictures of itself.
    """

    window: Window
    display: int
    secure: Fact[bool]


def read_windows(text: str) -> Fact[tuple[ListedWindow, ...]]:
    """Read the list of windows, front to back."""
    return windows_of(read_dump(text))


def windows_of(dump: WindowDump) -> Fact[tuple[ListedWindow, ...]]:
    """Read the list out of a dump that was divided before."""
    found = tuple(_listed(dump.rest.lines))
    if not found:
        return Unknown(reason=f"`{WINDOWS}` lists no window")
    return known(
        found, next(line for line in dump.rest.lines if "Window #" in line and _RECORD.match(line))
    )


def read_secure(text: str, display: int = MAIN_DISPLAY) -> Fact[bool]:
    """Read whether the window in front of a display forbids pictures of itself.

    The focused window decides; where a display is not focused, the first of its app's.
    """
    dump = read_dump(text)
    return secure_of(dump, windows_of(dump), display)


def secure_of(
    dump: WindowDump, windows: Fact[tuple[ListedWindow, ...]], display: int
) -> Fact[bool]:
    """Read the same from what was divided and listed before."""
    if unprotected := dump.rest.find(_UNPROTECTED):
        return known(False, unprotected.string)
    section = dump.of(display)
    if section is None:
        return Unknown(reason=f"`{SECURE}` has no section of display {display}")
    if isinstance(windows, Unknown):
        return windows
    focus, app = focus_in(section), app_in(section)
    if display == MAIN_DISPLAY:
        focus, app = first_known(focus, focus_in(dump.rest)), first_known(app, app_in(dump.rest))
    target = _input_target(dump, display)
    for named in (focus, target):
        if isinstance(named, Known) and named.value is not None:
            token = named.value.token
            its = [one for one in windows.value if one.window.token == token]
            if not its:
                return Unknown(reason=f"the focused window {token} is not in the list")
            return first_known(*(one.secure for one in its))
    return _by_app(windows.value, app, display)


def _input_target(dump: WindowDump, display: int) -> Fact[Window | None]:
    """Read the window that a keyboard would stand before: the part for windows names it itself."""
    for line in dump.rest.lines:
        found = _INPUT_TARGET.search(line)
        if found is not None and int(found["display"]) == display:
            return known(read_window(found["inside"]), line)
    return Unknown(reason="the part for windows names no target of a keyboard")


def _by_app(windows: Sequence[ListedWindow], app: Fact[App | None], display: int) -> Fact[bool]:
    """Read it from the front window of the app that would get the focus."""
    if isinstance(app, Unknown) or app.value is None:
        return Unknown(reason=f"no window of display {display} is named as the one in front")
    its = [
        one
        for one in windows
        if one.display == display
        and (one.window.package, one.window.activity) == (app.value.package, app.value.activity)
    ]
    if not its:
        return Unknown(reason=f"no window of {app.value.package} is in the list")
    return first_known(*(one.secure for one in its))


def _listed(lines: Sequence[str]) -> Iterator[ListedWindow]:
    starts = [at for at, line in enumerate(lines) if "Window #" in line and _RECORD.match(line)]
    for start, end in pairwise([*starts, len(lines)]):
        heading = _RECORD.match(lines[start])
        # A colon stands behind the closing brace.
        window = None if heading is None else read_window(heading["inside"].rstrip(" :"))
        if window is None:
            continue
        its = lines[start + 1 : end]
        number = next((found for line in its if (found := _DISPLAY.search(line))), None)
        yield ListedWindow(
            window=window, display=int(number[1]) if number else MAIN_DISPLAY, secure=_secure(its)
        )


def _secure(lines: Sequence[str]) -> Fact[bool]:
    """Read the flags out of one window's lines."""
    for at, line in enumerate(lines):
        if plain := _PLAIN_BITS.search(line):
            found, bits, names = plain, plain["bits"], ""
        elif named := _FLAGS.search(line):
            found, bits, names = named, named["bits"], named["names"] or ""
        else:
            continue
        if bits:
            return known(bool(int(bits, 16) & _SECURE_BIT), line)
        rest = lines[at + 1 : at + _WRAPPED_LINES] if found.end() == len(line) else ()
        for more in rest:
            # Long lists of flags may be wrapped, and a warning may stand between their lines.
            if _KEY.search(more):
                break
            if wrapped := _MORE_NAMES.fullmatch(more):
                names += f" {wrapped['names']}"
        if _SECURE_NAME in names.split():
            return known(True, line)
        if not any(map(_KEY.search, lines[at + 1 :])):
            # Much is printed below the flags of a window: here the text was cut.
            return Unknown(reason="the flags of the window may be cut off")
        return known(False, line)
    return Unknown(reason="no flags of the window are printed")
