"""Find out why a phone that answers shows no UI tree: off, secure, locked, or simply nothing there.

Text of `dumpsys` in, one reason out. Invariant: a reason is only given when the phone says it.
"""

from __future__ import annotations

import re

QUESTIONS = "dumpsys power | grep -E 'mWakefulness=|Display Power: state='; dumpsys window windows"
"""The shell command whose output `why_no_tree` reads."""
_FOCUS = re.compile(r"mCurrentFocus=Window\{(\w+)\b")
_FLAG_SECURE = 0x2000
"""`WindowManager.LayoutParams.FLAG_SECURE`; dumps before Android 9 write flags as one number."""
_FLAGS = re.compile(r"\bfl=(?:#([0-9a-fA-F]{1,8})\b|([A-Z_ ]+))")
_ASLEEP = re.compile(r"mWakefulness=(?:Asleep|Dozing)|Display Power: state=OFF")


def why_no_tree(said: str) -> str:
    """Give the reason as the end of a sentence; empty when the phone tells none."""
    if _ASLEEP.search(said):
        return "the screen is off"
    if is_secure(said):
        return "the window in front is secure and hides its content"
    return ""


def is_secure(windows: str) -> bool:
    """Tell from `dumpsys window windows` whether the focused window has FLAG_SECURE."""
    focus = _FOCUS.search(windows)
    if focus is None:
        return False
    for block in re.split(r"^  Window #\d+ ", windows, flags=re.MULTILINE)[1:]:
        if not block.startswith(f"Window{{{focus[1]} "):
            continue
        flags = _FLAGS.search(block)
        if flags is None:
            return False
        if flags[1]:
            return bool(int(flags[1], 16) & _FLAG_SECURE)
        return "SECURE" in flags[2].split()
    return False
