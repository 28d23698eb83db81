"""Say what a device is called, leaving what was not said as it is.

Not the keeping of it, which is the rack's (`agent.devices.labels`).
"""

from __future__ import annotations

from agent.devices.device import Rack
from agent.errors import UsageError
from agent.protocol import DeviceTag


def tag(rack: Rack, op: DeviceTag) -> None:
    """Name, tag or annotate a device. Raises UsageError for one never seen, StoreError."""
    info = next((info for info in rack.devices() if info.serial == op.serial), None)
    if info is None:
        known = ", ".join(info.serial for info in rack.devices()) or "none"
        raise UsageError(f"No device {op.serial!r} is known.", f"Devices seen so far: {known}.")
    rack.label(
        op.serial,
        name=info.name if op.name is None else op.name,
        tags=info.tags if op.tags is None else op.tags,
        notes=info.notes if op.notes is None else op.notes,
    )
