"""Read which window of a display has the focus, and which app stands behind it.

`mCurrentFocus=` and `mFocusedApp=` stand in each display's section since Android 10, and once, in
the part for windows, before (DisplayContent.dump, WindowManagerService.dumpWindowsNoHeaderLocked).
A display that is not focused prints `null` and the app of its own. Invariant: the keyboard, the
shade and the system's own windows are never an app.

The lines differ by version: `Window{hash title paused=false}` until 4.1, `Window{hash u0 title}`
since; `AppWindowToken{… ActivityRecord{…}}` until 9, a bare `ActivityRecord{…}` since 10.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from agent.devices.facts.dump_text import LINE_LIMIT, Section
from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.records.record import Record

_NAME = r"[A-Za-z]\w*(?:\.\w+)*"
COMPONENT = rf"(?P<package>{_NAME})/(?P<activity>[\w.$]+)"
_FOCUS = re.compile(r"(?<!\w)mCurrentFocus=(?P<window>null\b|Window\{(?P<inside>[^\r\n]*))")
_WINDOW = re.compile(
    r"(?P<hash>[0-9a-fA-F]+)(?: (?:[udp]\d+|\d+|u)){0,3}(?: paused=\w+)?(?: (?P<title>.*))?"
)
"""Samsung adds the display and the process: `Window{hash u0 d0 p123 title}`."""
_ENDS = re.compile(r"(?: (?:paused=\w+|EXITING|SURFACE))+$")
_HALF_TITLED = re.compile(rf"{_NAME}/")
"""A component that another program's words broke into."""
_TITLED = re.compile(COMPONENT + r"$")
_APP = re.compile(r"(?<!\w)mFocusedApp=(?P<app>null\b|.*?\bActivityRecord\{(?P<inside>[^\r\n]*))")
_APP_INSIDE = re.compile(r"(?:\S+ ){0,4}?" + COMPONENT + r"(?=[\s,}])")
_CLOSED = re.compile(r"(?P<inside>[^\r\n]*?)\}(?=\}*\s|\}*$)")
_KEY = re.compile(r"\b\w+=")
_BROKEN_FOCUS = re.compile(r"\s*m?C?u?r?r?e?n?t?F?o?c?u?s?(?:=?Window\{|=null\b)|.*mCurrentFocus=")
_BROKEN_APP = re.compile(
    r"\s*m?F?o?c?u?s?e?d?A?p?p?(?:=?(?:AppWindowToken|ActivityR)|=null\b)|.*mFocusedApp="
)
"""A line that another program's words broke into, or the rest of one."""
CUT_OFF = Unknown(reason="the line mCurrentFocus= is cut off")
_SYSTEM = frozenset({"com.android.systemui", "com.android.keyguard", "com.android.inputmethod"})


class Cover(StrEnum):
    """What kind of window stands in front of the app."""

    APP = "app"  # The app itself.
    SHADE = "shade"  # The shade or the lock screen: one window draws both.
    NOT_RESPONDING = "not responding"
    CRASHED = "crashed"
    OTHER = "other"  # A dialog, a popup, the keyboard or another window that names no app.


class Window(Record, frozen=True, kw_only=True):
    """A window as Android names it: foreign text.

    Attributes:
        token: its hash, in hexadecimal, which is its own while it lives.
        title: what its owner calls it; a component for the window of an activity.
        package, activity: of the component; empty where the title is none.
    """

    token: str
    title: str
    package: str = ""
    activity: str = ""

    @property
    def cover(self) -> Cover:
        """Return what kind of window it is."""
        if self.title.startswith("Application Not Responding"):
            return Cover.NOT_RESPONDING
        if self.title.startswith("Application Error"):
            return Cover.CRASHED
        if self.title in {"NotificationShade", "StatusBar", "Keyguard"}:
            return Cover.SHADE
        return Cover.APP if self.package and not is_system(self.package) else Cover.OTHER


class App(Record, frozen=True, kw_only=True):
    """An activity: its package and class, the class with its whole name."""

    package: str
    activity: str


def is_system(package: str) -> bool:
    """Return whether a package draws over apps and is none itself."""
    return package in _SYSTEM or "inputmethod" in package


def read_window(inside: str) -> Window | None:
    """Read what stands behind `Window{`; None if it is cut off before its closing brace."""
    closed = _CLOSED.match(inside)
    found = _WINDOW.fullmatch(closed["inside"]) if closed else None
    if found is None:
        return None
    name = _ENDS.sub("", found["title"] or "").strip()
    # The whole title must be a component: an app may give its windows any other title it likes.
    titled = _TITLED.match(name)
    if titled is None:
        return Window(token=found["hash"].lower(), title=name)
    package, activity = titled["package"], titled["activity"]
    return Window(
        token=found["hash"].lower(),
        title=name,
        package=package,
        activity=whole_name(package, activity),
    )


def whole_name(package: str, activity: str) -> str:
    """Return the whole name of a class that may be written without its package."""
    return package + activity if activity.startswith(".") else activity


def focus_in(section: Section) -> Fact[Window | None]:
    """Read the focused window; None if the display says that it has none."""
    told: Fact[Window | None] | None = None
    cut = ""
    for line in _joined_lines(section.lines):
        found = _FOCUS.search(line) if "mCurrentFocus=" in line else None
        if found is None:
            if section.display is None and _BROKEN_FOCUS.match(line):
                told, cut = None, line
            continue
        if found["inside"] is None:
            told = told or known(None, line)
            continue
        window = read_window(found["inside"])
        if window is None or (not window.package and _HALF_TITLED.match(window.title)):
            # A component that another program's words broke into is no title.
            cut = line
            if section.display is None:
                # It may be the one in front.
                told = None
        elif told is None:
            told = known(window, line)
        elif section.display is None:
            # Text without headings holds every display: the last window is the one in front.
            told = _better(told, known(window, line))
    if told is not None:
        return told
    if cut:
        return CUT_OFF
    return Unknown(reason="no mCurrentFocus= is printed")


def app_in(section: Section) -> Fact[App | None]:
    """Read the app that gets the focus on a display; None if the display says that there is none.

    Where a text without headings names several, the last that is no system's counts.
    """
    told: Fact[App | None] | None = None
    for line in _joined_lines(section.lines):
        found = _APP.search(line) if "mFocusedApp=" in line else None
        if found is None:
            if section.display is None and _BROKEN_APP.match(line):
                told = None
            continue
        inside = _APP_INSIDE.match(found["inside"]) if found["inside"] is not None else None
        if inside is None:
            if found["inside"] is None:
                told = told or known(None, line)
            elif section.display is None:
                told = None
            continue
        package = inside["package"]
        app = App(package=package, activity=whole_name(package, inside["activity"]))
        if told is None or (section.display is None and (_is_none(told) or not is_system(package))):
            told = known(app, line)
    return told or Unknown(reason="no mFocusedApp= is printed")


def _joined_lines(lines: Sequence[str]) -> Iterator[str]:
    """Join what was wrapped: a record without its closing brace goes on in the next line."""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if "mCurrentFocus=" in line or "mFocusedApp=" in line:
            while line.count("{") > line.count("}") and at < len(lines):
                if _KEY.search(lines[at]) or len(line) > LINE_LIMIT or not lines[at].strip():
                    break
                line += lines[at] if not lines[at][0].isspace() else f" {lines[at].strip()}"
                at += 1
        yield line


def _is_none(fact: Fact[App | None]) -> bool:
    return not isinstance(fact, Unknown) and fact.value is None


def _better(told: Fact[Window | None] | None, fresh: Fact[Window | None]) -> Fact[Window | None]:
    """Return the window that says more: an app's rather than one of the system's."""
    if told is None or isinstance(told, Unknown) or told.value is None:
        return fresh
    is_lesser = (
        isinstance(fresh, Known)
        and fresh.value is not None
        and fresh.value.cover is Cover.OTHER
        and told.value.cover is Cover.APP
    )
    return told if is_lesser else fresh
