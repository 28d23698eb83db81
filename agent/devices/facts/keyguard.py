"""Read whether a lock screen stands before the apps of a display.

A keyguard may be shown and covered at the same time: a call, the camera or an alarm is drawn over
it, and the phone stays locked. Names by version (ANDROID's PhoneWindowManager, KeyguardController
and DisplayPolicy): `showing=` below `KeyguardServiceDelegate` 8.0 to 17, `mIsShowing=` of its
monitor until 16, `isKeyguardShowing=` of each display since 11, `KeyguardShowing=… at display=N` of
the activities since 13, `mKeyguardShowing=` there since 8, `mShowingLockscreen=` until 7.1,
`isStatusBarKeyguard=` until 10.
"""

import re
from collections.abc import Iterable, Sequence

from agent.devices.facts.dump_text import MAIN_DISPLAY, Section, WindowDump, live_lines, read_dump
from agent.devices.facts.fact import Fact, Known, Unknown, first_known, known
from agent.records.record import Record

KEYGUARD = "dumpsys window policy; dumpsys window displays"
KEYGUARD_OF_ACTIVITIES = "dumpsys activity activities"
"""Asked where the windows say nothing: much longer."""
_DELEGATE = re.compile(r"\s*KeyguardServiceDelegate\b(?P<rest>.*)")
_DELEGATE_LINES = 40
_ACTIVITY_KEYGUARD = re.compile(
    r"(?<!\w)KeyguardShowing=(?P<showing>true|false)\b(?P<rest>.*)\bat display=(?P<display>\d{1,9})"
)


class Keyguard(Record, frozen=True, kw_only=True):
    """The lock screen of one display.

    Attributes:
        showing: whether it is there, so that apps are locked.
        covered: whether an app that may, such as a call, is drawn over it.
        secure: whether it takes a PIN, a pattern, a password or a finger to put it away.
    """

    showing: bool
    covered: Fact[bool]
    secure: Fact[bool]


def read_keyguard(text: str, display: int = MAIN_DISPLAY) -> Fact[Keyguard]:
    """Read the keyguard of a display from `dumpsys window` and `dumpsys activity activities`."""
    dump = read_dump(text)
    section = dump.of(display)
    loose = _loose(dump)
    delegate = _delegate(live_lines(text))
    its = section.lines if section is not None else ()
    activity = _of_activity(live_lines(text), display)
    if display == MAIN_DISPLAY:
        told = first_known(
            _flag("showing", delegate),
            _flag("mIsShowing", delegate),
            _flag("isKeyguardShowing", its),
            activity[0],
            _flag("mKeyguardShowing", loose),
            _flag("mShowingLockscreen", loose),
            _flag("isStatusBarKeyguard", its),
            _flag("isStatusBarKeyguard", dump.rest.lines),
        )
        covered = first_known(
            _flag("occluded", delegate), activity[1], _flag("mKeyguardOccluded", loose)
        )
    else:
        # The delegate speaks of the main display; another may be locked alone, or never.
        told = first_known(
            activity[0], _flag("isKeyguardShowing", its), _flag("isStatusBarKeyguard", its)
        )
        covered = activity[1]
    match told:
        case Unknown():
            return Unknown(
                reason=f"the phone does not say whether the lock screen of display {display} shows"
            )
        case Known(value=showing, line=line):
            return known(
                Keyguard(showing=showing, covered=covered, secure=_flag("secure", delegate)), line
            )


def keyguard_in(section: Section) -> Fact[bool]:
    """Read from one display's section whether its lock screen shows."""
    return first_known(
        _flag("isKeyguardShowing", section.lines), _flag("isStatusBarKeyguard", section.lines)
    )


def read_locked(text: str, display: int = MAIN_DISPLAY) -> Fact[bool]:
    """Read whether a display is locked, whatever is drawn over its lock screen."""
    keyguard = read_keyguard(text, display)
    return keyguard if isinstance(keyguard, Unknown) else keyguard.map(lambda its: its.showing)


def _loose(dump: WindowDump) -> tuple[str, ...]:
    """Return what is said of the phone, and below the last display, where activities stand."""
    last = dump.displays[-1].lines if dump.displays else ()
    return (*dump.rest.lines, *last)


def _delegate(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the block below `KeyguardServiceDelegate`, whose keys are too short to stand alone."""
    found: list[str] = []
    for at, line in enumerate(lines):
        if heading := _DELEGATE.match(line):
            found.append(heading["rest"])
            found += lines[at + 1 : at + _DELEGATE_LINES]
            break
    else:
        # A text that was cut above the block still has its monitor, whose key is long enough.
        found += [line for line in lines if "mIsShowing=" in line]
    return tuple(found)


def _of_activity(lines: Iterable[str], display: int) -> tuple[Fact[bool], Fact[bool]]:
    """Read whether a display's keyguard shows, and is covered, from the activities."""
    for line in lines:
        found = _ACTIVITY_KEYGUARD.search(line)
        if found is not None and int(found["display"]) == display:
            return known(found["showing"] == "true", line), _flag("Occluded", (line,))
    return Unknown(reason="no KeyguardShowing= is printed"), Unknown(
        reason="no Occluded= is printed"
    )


def _flag(key: str, lines: Iterable[str]) -> Fact[bool]:
    """Read the first `key=true` or `key=false`, the whole key."""
    word = f"{key}="
    for line in lines:
        at = line.find(word)
        while at >= 0:
            if at == 0 or not (line[at - 1].isalnum() or line[at - 1] == "_"):
                rest = line[at + len(word) :]
                for value in ("true", "false"):
                    # Android 9 prints some flags without a blank behind them.
                    if rest.startswith(value):
                        return known(value == "true", line)
            at = line.find(word, at + 1)
    return Unknown(reason=f"no {key}= is printed")
