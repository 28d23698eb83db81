"""Find out why a phone that answers shows no UI tree: off, secure, or simply nothing there.

Text of `dumpsys` in, one reason out. Invariant: a reason is only given when the phone says it.
"""

from agent.devices.facts.fact import Known
from agent.devices.facts.power import POWER, read_awake
from agent.devices.facts.windows import SECURE, read_secure

QUESTIONS = f"{POWER}; {SECURE}"
"""The shell command whose output `why_no_tree` reads."""


def why_no_tree(said: str) -> str:
    """Return the reason as the end of a sentence; empty when the phone tells none."""
    match read_awake(said):
        case Known(value=False):
            return "the screen is off"
    match read_secure(said):
        case Known(value=True):
            return "the window in front is secure and hides its content"
    return ""
