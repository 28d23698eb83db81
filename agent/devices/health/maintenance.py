"""Care for one phone of a fleet: examine it, put right what was found, read its log.

Not the examinations (`agent.devices.health.phone_checks`) and not driving. Invariant: examining and
reading change nothing on the phone; only `repair` does, and its caller holds the phone.
"""

from contextlib import aclosing
from typing import Protocol, runtime_checkable

from agent.devices.health.admin import DeviceAdmin
from agent.devices.health.findings import RepairableFinding
from agent.devices.health.phone_checks import Health
from agent.errors import UsageError
from agent.text import one_line

MOST_LINES = 2_000


class Maintenance:
    """The care of one phone.

    Args:
        health: examines it.
        extras: reads its log.
    """

    def __init__(self, health: Health, extras: DeviceAdmin) -> None:
        self._health = health
        self._extras = extras

    async def examine(self) -> tuple[RepairableFinding, ...]:
        """Examine everything; what cannot be had is a finding too."""
        return await self._health.examine()

    async def repair(self, name: str) -> tuple[RepairableFinding, ...]:
        """Put one finding right, and say how it is then.

        Raises UsageError when nothing of that name is wrong, or adb cannot put it right.
        """
        found = [one for one in await self._health.examine() if one.name == name]
        if not any(one.repair for one in found if not one.ok):
            raise UsageError(
                f"adb cannot repair {one_line(name, 40)!r}.", "Examine the phone again."
            )
        return await self._health.repair(tuple(found))

    async def log(self, *, last: int, filters: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Read the newest lines of its log, cleaned.

        Raises UsageError for a filter that is none, or a wrong number of lines.
        """
        if not 0 < last <= MOST_LINES:
            raise UsageError(f"Read 1 to {MOST_LINES} lines of a log at a time.")
        async with aclosing(self._extras.log(filters=filters, last=last, follow=False)) as lines:
            read = [line async for line in lines]
        return tuple(read[-last:])


class PhoneMaintenance(Protocol):
    """What examines and repairs one phone; `Maintenance` is the real one."""

    async def examine(self) -> tuple[RepairableFinding, ...]: ...

    async def repair(self, name: str) -> tuple[RepairableFinding, ...]: ...

    async def log(self, *, last: int, filters: tuple[str, ...] = ()) -> tuple[str, ...]: ...


@runtime_checkable
class FleetMaintenance(Protocol):
    """A fleet that can examine and repair its phones."""

    async def maintenance(self, serial: str) -> PhoneMaintenance:
        """Return what examines and repairs a phone. Raises UsageError, DeviceLostError."""
