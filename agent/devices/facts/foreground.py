"""Read which app is in front of a display, and whether a keyboard shows there.

One call of the phone's shell asks: `grep` there keeps the lines that are read, with the headings of
the displays they belong to; `WHOLE` is for phones without it. Invariant: behind the lock screen
there is no app in front.
"""

from agent.devices.facts.dump_text import MAIN_DISPLAY, Section, WindowDump, read_dump
from agent.devices.facts.fact import Fact, Known, Unknown, first_known, known
from agent.devices.facts.focus import CUT_OFF, App, Cover, Window, app_in, focus_in, is_system
from agent.devices.facts.keyboard import keyboard_of
from agent.devices.facts.keyguard import keyguard_in
from agent.devices.facts.sizes import Size, size_in
from agent.records import Foreground
from agent.records.record import Record

_MARK = "switchboard-input-method-follows"
_WINDOW_LINES = (
    "WINDOW MANAGER |Display: mDisplayId=|mCurrentFocus=|mFocusedApp=|init=|cur=|"
    "isKeyguardShowing=|isStatusBarKeyguard=|InsetsSource .*ype=(I?TYPE_)?(IME|ime) |mImeShowing="
)
_INPUT_LINES = "mInputShown=|mIsInputViewShown=|mImeWindowVis=|mWindowVisible=|mDisplayIdToShowIme="
FOCUS_OF_DISPLAYS_SDK = 29
"""From Android 10 on the focus stands in the sections of the displays alone."""
_LOCK_WINDOWS = frozenset({"NotificationShade", "Keyguard"})
"""Android 4 has a window for the lock screen alone."""


class Front(Record, frozen=True, kw_only=True):
    """What is in front of a display.

    Attributes:
        package, activity: the app; empty if none is, as on the lock screen.
        cover: what kind of window has the focus.
    """

    package: str = ""
    activity: str = ""
    cover: Cover = Cover.OTHER


class WindowLook(Record, frozen=True, kw_only=True):
    """What one look at the windows of a display tells.

    Attributes:
        is_there: whether the phone lists the display at all.
    """

    is_there: bool
    front: Fact[Front]
    keyboard_shown: Fact[bool]
    size: Fact[Size]

    @property
    def foreground(self) -> Foreground | None:
        """Return it as the loop reads it; None if not even the front is known."""
        match self.front:
            case Known(value=front):
                shown = self.keyboard_shown
                return Foreground(
                    package=front.package,
                    activity=front.activity,
                    keyboard_shown=None if isinstance(shown, Unknown) else shown.value,
                )
            case Unknown():
                return None


def foreground_command(sdk: int, *, whole: bool = False) -> str:
    """Return the shell command that `read_window_look` reads.

    Args:
        sdk: Android's level; 0 if it is not known.
        whole: without `grep`, which Android before 6 lacks.
    """
    asked = ["dumpsys window displays"]
    if sdk < FOCUS_OF_DISPLAYS_SDK:
        asked.append("dumpsys window windows")
    keyboard = "dumpsys input_method"
    if not whole:
        asked = [f"{command} | grep -E '{_WINDOW_LINES}'" for command in asked]
        keyboard = f"{keyboard} | grep -E '{_INPUT_LINES}'"
    return "; ".join((*asked, f"echo {_MARK}", keyboard))


def read_window_look(text: str, display: int = MAIN_DISPLAY) -> WindowLook:
    """Read what `foreground_command` printed."""
    windows, _, input_method = text.partition(_MARK)
    dump = read_dump(windows)
    section = dump.of(display)
    return WindowLook(
        is_there=section is not None,
        front=_front_of(dump, display),
        keyboard_shown=keyboard_of(section, input_method, display),
        size=Unknown(reason="no section of the display") if section is None else size_in(section),
    )


def read_front(text: str, display: int = MAIN_DISPLAY) -> Fact[Front]:
    """Read which app is in front of a display from `dumpsys window`."""
    return _front_of(read_dump(text), display)


def _front_of(dump: WindowDump, display: int) -> Fact[Front]:
    section = dump.of(display)
    if section is None:
        return Unknown(reason=f"`dumpsys window displays` has no section of display {display}")
    # Until Android 9 the focus stands in the part for windows, for all displays.
    loose = dump.rest if display == MAIN_DISPLAY else Section(display, ())
    own = focus_in(section)
    focus = own if own is CUT_OFF else first_known(own, focus_in(loose))
    app = first_known(app_in(section), app_in(loose))
    locked = first_known(keyguard_in(section), keyguard_in(loose))
    if focus is CUT_OFF or (isinstance(focus, Unknown) and isinstance(app, Unknown)):
        # While apps change, the focused app is another one than that of the focused window.
        return focus
    match focus:
        case Known(value=Window() as window, line=line):
            cover = window.cover
            if cover is Cover.APP:
                return known(
                    Front(package=window.package, activity=window.activity, cover=cover), line
                )
            if _hides_apps(window, locked):
                return known(Front(cover=cover), line)
            return _app_behind(app, cover, line)
        case Known(line=line):
            if isinstance(locked, Known) and locked.value:
                return known(Front(cover=Cover.SHADE), locked.line)
            return _app_behind(app, Cover.APP, line)
        case Unknown():
            if isinstance(locked, Known) and locked.value:
                return known(Front(cover=Cover.SHADE), locked.line)
            return _app_behind(app, Cover.OTHER, "")


def _hides_apps(window: Window, locked: Fact[bool]) -> bool:
    """Return whether no app is in front of a window that is none itself.

    Since Android 11 the lock screen and the shade are one window, and the same section says which
    of the two it is; where that line is missing, no app is claimed.
    """
    if isinstance(locked, Known):
        return locked.value
    return window.title in _LOCK_WINDOWS


def _app_behind(app: Fact[App | None], cover: Cover, line: str) -> Fact[Front]:
    """Return the app behind a window that is none."""
    match app:
        case Known(value=App() as its, line=named) if not is_system(its.package):
            return known(Front(package=its.package, activity=its.activity, cover=cover), named)
        case _:
            return known(Front(cover=cover), line)
