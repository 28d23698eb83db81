"""Read from `dumpsys power` whether the screen is on.

`mWakefulness=` is printed by Android 4.2 to 16 (PowerManagerService.dump), `Display Power: state=`
by Android 5 to 11 (DisplayPowerController). A screen saver counts as asleep: touches only end it.
"""

import re
from collections.abc import Mapping, Sequence

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Known, Unknown, first_known, known

POWER = "dumpsys power"
_WAKEFULNESS = re.compile(r"(?<!\w)mWakefulness=(\w{1,20})")
_DISPLAY_POWER = re.compile(r"\bDisplay Power: state=([A-Z_]{2,20})\b")
_AWAKE = {
    "Awake": True,
    "Asleep": False,
    "Dozing": False,
    "Dreaming": False,
    # PowerManagerInternal.WAKEFULNESS_*, which some makers print as numbers.
    "0": False,
    "1": True,
    "2": False,
    "3": False,
}
_LIT = {"ON": True, "VR": True, "OFF": False, "DOZE": False, "DOZE_SUSPEND": False}


def read_awake(text: str) -> Fact[bool]:
    """Read whether the phone is awake, its screen on and ready for touches."""
    lines = lines_of(text)
    awake, lit = _by_words(lines, _WAKEFULNESS, _AWAKE), _by_words(lines, _DISPLAY_POWER, _LIT)
    if isinstance(awake, Known) and awake.value and isinstance(lit, Known) and not lit.value:
        # As at the ear in a call, or while another display alone is in use.
        return Unknown(reason=f"the phone is awake and its display is off: {lit.line}")
    return first_known(awake, lit)


def _by_words(
    lines: Sequence[str], pattern: re.Pattern[str], words: Mapping[str, bool]
) -> Fact[bool]:
    strange = ""
    for line in lines:
        if (found := pattern.search(line)) is None:
            continue
        if found[1] in words:
            return known(words[found[1]], line)
        strange = strange or found[0]
    if strange:
        return Unknown(reason=f"`{POWER}` says {strange}, which no Android means anything by")
    return Unknown(reason=f"`{POWER}` prints nothing like {pattern.pattern[-20:]}")
