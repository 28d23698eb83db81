"""Find out why a phone that answers shows no UI tree: off, secure, or simply nothing there.

Text of `dumpsys` in, one reason out. Invariant: a reason is only given when the phone says it.
"""

import re

from agent.devices.shell.focus import parse_secure

QUESTIONS = "dumpsys power | grep -E 'mWakefulness=|Display Power: state='; dumpsys window windows"
"""The shell command whose output `why_no_tree` reads."""
_ASLEEP = re.compile(r"mWakefulness=(?:Asleep|Dozing)|Display Power: state=OFF")


def why_no_tree(said: str) -> str:
    """Return the reason as the end of a sentence; empty when the phone tells none."""
    if _ASLEEP.search(said):
        return "the screen is off"
    if parse_secure(said):
        return "the window in front is secure and hides its content"
    return ""
