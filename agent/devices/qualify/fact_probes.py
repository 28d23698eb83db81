"""Probe what a phone says of itself: its screen, its lock, the app in front.

Not the readers (`agent.devices.facts`). Invariant: every fact is a row, an unknown one with its
reason; what later probes depend on is put into the conditions.
"""

import re

from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.devices.passport.passport import Area, Row
from agent.devices.qualify.conditions import Conditions, fact_row
from agent.devices.qualify.probe import Probe
from agent.devices.shell.focus import parse_foreground
from agent.devices.shell.phone_shell import PhoneShell

_TIMEOUT_S = 6.0
_KEYGUARD = re.compile(
    r"(?:isKeyguardShowing|mShowingLockscreen|mKeyguardShowing|KeyguardShowing)=(true|false)"
)
_AWAKE = re.compile(r"mWakefulness=(\w+)")


def fact_probes(shell: PhoneShell, conditions: Conditions) -> tuple[Probe, ...]:
    """Return the probes, which may run side by side; they fill in the conditions."""

    async def awake() -> list[Row]:
        said = (await shell.run("dumpsys power", _TIMEOUT_S)).text
        found = _AWAKE.search(said)
        if found is None:
            conditions.awake = Unknown(reason="the phone does not say")
        else:
            conditions.awake = known(found[1] == "Awake", found[0])
        return [fact_row(Area.POWER, "awake", _words(conditions.awake))]

    async def locked() -> list[Row]:
        said = (await shell.run("dumpsys window policy; dumpsys window", _TIMEOUT_S)).text
        told = _KEYGUARD.findall(said)
        if not told:
            conditions.locked = Unknown(reason="the phone does not say")
        else:
            conditions.locked = known("true" in told, told[0])
        foreground = parse_foreground(said)
        if foreground is None:
            conditions.front = Unknown(reason="no window has the focus")
        else:
            conditions.front = known(foreground.package, "")
        return [
            fact_row(Area.DISPLAYS, "locked", _words(conditions.locked)),
            fact_row(Area.DISPLAYS, "app in front", conditions.front),
        ]

    return (
        Probe(Area.POWER, "awake", _TIMEOUT_S, awake),
        Probe(Area.DISPLAYS, "locked", _TIMEOUT_S, locked),
    )


def _words(fact: Fact[bool]) -> Fact[str]:
    return fact.map(lambda value: "yes" if value else "no") if isinstance(fact, Known) else fact
