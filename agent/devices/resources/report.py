"""What is still borrowed, in words, for `switchboard doctor`; nothing is given back here."""

from collections import Counter

from agent.devices.resources.resource_ledger import Resource, ResourceLedger
from agent.text import one_line

_MOST = 8


def describe(ledger: ResourceLedger) -> tuple[bool, str]:
    """Return whether everything that is out has a process that has it, and a line that names it.

    Raises DeviceError: the ledger cannot be read.
    """
    out = ledger.out()
    left = [one for one in out if one.is_left]
    held = [one for one in out if one not in left]
    parts = []
    if held:
        parts.append(f"in use: {_counted(held)}")
    if left:
        parts.append(f"left behind by a process that ended: {_counted(left)}")
    return not left, "; ".join(parts) or "nothing is out"


def _counted(resources: list[Resource]) -> str:
    counts = Counter(_words(one) for one in resources)
    named = [words if n == 1 else f"{n} × {words}" for words, n in counts.most_common(_MOST)]
    more = len(counts) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _words(resource: Resource) -> str:
    where = f" on {one_line(resource.serial, 60)}" if resource.serial else " on this computer"
    by = f" (process {resource.pid})" if resource.pid and not resource.is_left else ""
    return f"{resource.kind}{where}{by}"
