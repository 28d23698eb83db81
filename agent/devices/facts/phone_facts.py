"""The one snapshot of what a phone says of itself: each field a value with its line, or unknown.

Who asks for one field alone uses its reader; this asks for all of them in one call of the shell.
Invariants: a question that failed leaves its own field unknown, with the reason, and no other; what
was not asked is unknown, never empty.
"""

import re
from collections.abc import Mapping

from agent.devices.facts.displays import DISPLAYS, DisplayFacts, read_displays
from agent.devices.facts.fact import Fact, Unknown
from agent.devices.facts.keyboard import KEYBOARD, read_keyboard_shown
from agent.devices.facts.keyguard import Keyguard, read_keyguard
from agent.devices.facts.power import POWER, read_awake
from agent.records.record import Record

_MARK = "switchboard-fact"
_HEADING = re.compile(rf"^@{_MARK} (?P<name>[a-z_]+)\r*$", re.MULTILINE)
NOT_ASKED = Unknown(reason="it was not asked")
QUESTIONS: Mapping[str, str] = {
    "displays": DISPLAYS,
    "policy": "dumpsys window policy",
    "power": POWER,
    "input_method": KEYBOARD,
}
"""What the phone is asked, by the name that its answer is found by."""


class PhoneFacts(Record, frozen=True, kw_only=True):
    """What one phone said at one moment.

    Attributes:
        displays: every display, in the order of their numbers.
        keyguard: the lock screen of display 0.
        keyboard_shown: whether a keyboard covers a part of display 0.
        awake: whether the phone is awake and its screen on.
    """

    displays: Fact[tuple[DisplayFacts, ...]] = NOT_ASKED
    keyguard: Fact[Keyguard] = NOT_ASKED
    keyboard_shown: Fact[bool] = NOT_ASKED
    awake: Fact[bool] = NOT_ASKED


def facts_command(questions: Mapping[str, str] = QUESTIONS) -> str:
    """Return the shell command whose output `read_phone_facts` reads."""
    return "; ".join(
        f"echo '@{_MARK} {name}'; {{ {asked}; }} 2>&1" for name, asked in questions.items()
    )


def read_phone_facts(text: str) -> PhoneFacts:
    """Read what `facts_command` printed."""
    said = _answers(text)
    windows = said.get("displays", "")
    return PhoneFacts(
        displays=read_displays(windows),
        keyguard=read_keyguard(f"{said.get('policy', '')}\n{windows}"),
        keyboard_shown=read_keyboard_shown(said.get("input_method", ""), windows),
        awake=read_awake(said.get("power", "")),
    )


def _answers(text: str) -> dict[str, str]:
    """Divide the output at its headings; the first answer to a question counts."""
    headings = list(_HEADING.finditer(text))
    found: dict[str, str] = {}
    for at, heading in enumerate(headings):
        end = headings[at + 1].start() if at + 1 < len(headings) else len(text)
        found.setdefault(heading["name"], text[heading.end() : end].lstrip("\r\n"))
    return found
