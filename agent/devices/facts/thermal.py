"""How hot a phone is, as `dumpsys thermalservice` tells (Android 10 and newer).

The format is ThermalManagerService.dump's; the numbers are those of Temperature.ThrottlingSeverity.
Invariant: a status that no sensor stands behind is unknown, not cool.
"""

import re

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Unknown, known
from agent.records.record import Record

THERMAL = "dumpsys thermalservice 2>&1"
STATUSES = ("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")
NO_SUCH_SERVICE = "Can't find service"
"""What `dumpsys` says of a service that this Android does not have."""
_STATUS = re.compile(r"\s*Thermal Status\s*:\s*(-?\d{1,3})\s*")
_OVERRIDDEN = re.compile(r"\s*IsStatusOverride\s*:\s*true\s*")
_NOT_READY = re.compile(r"\s*HAL Ready\s*:\s*false\s*")


class Thermal(Record, frozen=True, kw_only=True):
    """How hot a phone says that it is."""

    status: int
    """0 for none up to 6 for shutdown; an index of STATUSES."""
    forced: bool = False
    """Whether it was set by `cmd thermalservice override-status`."""


def read_thermal(text: str) -> Fact[Thermal]:
    """Read what THERMAL printed."""
    lines = lines_of(text)
    found = next((found for line in lines if (found := _STATUS.fullmatch(line))), None)
    if found is None:
        first = next((line.strip() for line in lines if line.strip()), "nothing")
        return Unknown(reason=f"dumpsys thermalservice answered: {first[:200]}")
    status = int(found[1])
    if not 0 <= status < len(STATUSES):
        return Unknown(reason=f"it prints thermal status {status}")
    forced = any(_OVERRIDDEN.fullmatch(line) for line in lines)
    if not forced and any(_NOT_READY.fullmatch(line) for line in lines):
        return Unknown(reason="its temperature sensors are not ready")
    return known(Thermal(status=status, forced=forced), found[0])
