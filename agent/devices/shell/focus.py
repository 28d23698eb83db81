"""Read from `dumpsys` which app is in front and how large the display is.

Text in, records out; nothing is asked here. Invariant: the keyboard, the shade and the system's
own windows are never called the foreground app: behind them stands the app that gave them focus.

The lines differ by Android version: `AppWindowToken{… ActivityRecord{…}}` until 9, a bare
`ActivityRecord{…}` since 10, several displays with a line each since 10.
"""

import re

from agent.records import Foreground

_COMPONENT = r"(?P<package>[A-Za-z][\w]*(?:\.\w+)*)/(?P<activity>[\w.$]+)"
# The whole title must be a component: an app may give its windows any other title it likes.
_WINDOW = re.compile(
    r"mCurrentFocus=Window\{\w+ (?:u\d+ |\d+ u\d* )?(?:paused=\w+ )?" + _COMPONENT + r"(?=[\s},]|$)"
)
_ACTIVITY = re.compile(r"mFocusedApp=.*?ActivityRecord\{\w+ (?:u\d+ |\d+ u\d* )?" + _COMPONENT)
_ACTIVITY_SHORT = re.compile(r"mFocusedApp=.*?ActivityRecord\{(?:\w+ )*?" + _COMPONENT)
_KEYBOARD = re.compile(r"\b(?:mInputShown|mIsInputViewShown)=true\b")
_CURRENT_SIZE = re.compile(r"\binit=\d+x\d+\b.*?\bcur=(\d+)x(\d+)\b")
_OVERRIDE_SIZE = re.compile(r"Override size:\s*(\d+)x(\d+)")
_PHYSICAL_SIZE = re.compile(r"Physical size:\s*(\d+)x(\d+)")
_FOCUSED = re.compile(r"mCurrentFocus=Window\{(\w+)\b")
_FLAGS = re.compile(r"\bfl=(?:#|0x)?([0-9a-fA-F]+\b|[A-Z_]+(?: [A-Z_]+)*)")
_SECURE_BIT = 0x2000
"""WindowManager.LayoutParams.FLAG_SECURE; Android before 9 prints the flags as a number."""
_SYSTEM = frozenset({"com.android.systemui", "com.android.keyguard", "com.android.inputmethod"})
DISPLAY_LIMIT_PX = 32_768


def parse_foreground(focus: str, input_method: str = "") -> Foreground | None:
    """Read the focus lines of `dumpsys window` and the state of `dumpsys input_method`.

    The package is empty when no app has the focus; None when there is no focus line at all.
    """
    if "mCurrentFocus=" not in focus and "mFocusedApp=" not in focus:
        return None
    keyboard_shown = _KEYBOARD.search(input_method) is not None
    for pattern in (_WINDOW, _ACTIVITY, _ACTIVITY_SHORT):
        for found in pattern.finditer(focus):
            package, activity = found["package"], found["activity"]
            if package in _SYSTEM or "inputmethod" in package:
                continue
            return Foreground(
                package=package,
                activity=package + activity if activity.startswith(".") else activity,
                keyboard_shown=keyboard_shown,
            )
    return Foreground(package="", keyboard_shown=keyboard_shown)


def parse_secure(windows: str) -> bool:
    """Return whether the focused window in `dumpsys window windows` forbids pictures of itself."""
    for focused in _FOCUSED.finditer(windows):
        section = re.search(
            rf"Window #\d+ Window\{{{focused[1]}\b.*?(?=\n  Window #|\Z)", windows, re.DOTALL
        )
        flags = _FLAGS.search(section[0]) if section is not None else None
        if flags is None:
            continue
        words = flags[1]
        if re.fullmatch(r"[0-9a-fA-F]{1,16}", words):
            return bool(int(words, 16) & _SECURE_BIT)
        return "SECURE" in words.split()
    return False


def parse_current_size(displays: str) -> tuple[int, int] | None:
    """Read width and height in pixels, as the display is turned now, from `dumpsys window`."""
    return _size(_CURRENT_SIZE.search(displays))


def parse_natural_size(wm_size: str) -> tuple[int, int] | None:
    """Read width and height in pixels of the unturned display from `wm size`; an override wins."""
    return _size(_OVERRIDE_SIZE.search(wm_size)) or _size(_PHYSICAL_SIZE.search(wm_size))


def _size(found: re.Match[str] | None) -> tuple[int, int] | None:
    if found is None or max(len(found[1]), len(found[2])) > len(str(DISPLAY_LIMIT_PX)):
        return None
    width, height = int(found[1]), int(found[2])
    return (width, height) if 0 < min(width, height) <= DISPLAY_LIMIT_PX else None
