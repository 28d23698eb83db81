"""Define the ops that inspect or repair a phone. None stores an event."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import OpBase
from agent.records import Allows, Right


class DeviceLook(OpBase, frozen=True, kw_only=True, tag="device_look"):
    """Read the elements of a phone's screen now; the reply carries them."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "what is on its screen"
    waits_for_phone: ClassVar[bool] = True
    changes_nothing: ClassVar[bool] = True

    serial: str


class DeviceLog(OpBase, frozen=True, kw_only=True, tag="device_log"):
    """Read the newest lines of a phone's log; the reply carries them."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the lines"
    waits_for_phone: ClassVar[bool] = True
    changes_nothing: ClassVar[bool] = True

    serial: str
    last: int = 300
    """So many lines, at most 2,000."""
    filters: tuple[str, ...] = ()
    """Such as `ActivityManager:I`; with any, everything else is left out."""


class DeviceExamine(OpBase, frozen=True, kw_only=True, tag="device_examine"):
    """Check a phone's health without changing it; the reply carries the findings."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "what was found"
    waits_for_phone: ClassVar[bool] = True
    changes_nothing: ClassVar[bool] = True

    serial: str


class DeviceRepair(OpBase, frozen=True, kw_only=True, tag="device_repair"):
    """Repair one finding on a phone that no session drives; the reply carries the new state."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "what was found then"
    waits_for_phone: ClassVar[bool] = True

    serial: str
    name: str  # The finding's name, as DeviceExamine gave it.


AnyLookOp: TypeAlias = DeviceLook | DeviceLog | DeviceExamine | DeviceRepair
