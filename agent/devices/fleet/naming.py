"""Which device is meant: by its serial, by the operator's name for it, or as lists show it.

Not the names themselves (`agent.devices.fleet.labels`). Invariants: a serial always means its own
device, whatever another is called; a name that two devices have means neither.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from agent.errors import UsageError
from agent.protocol import Op, SessionCreate
from agent.records import DeviceInfo, on_host
from agent.state.device_names import device_names


def serial_of(said: str, devices: Iterable[DeviceInfo]) -> str:
    """Return the serial of the device that is meant; what names none is given back.

    A phone of a fleet may be named without its host, where one host alone has it.

    Raises UsageError for a name that several devices have.
    """
    known = tuple(devices)
    if not said or any(one.serial == said for one in known):
        return said
    listed = [one.serial for one in known if on_host(one.serial) == said]
    if len(listed) > 1:
        raise UsageError(
            f"{len(listed)} hosts have a phone {said!r}.",
            f"Name one with its host: {', '.join(sorted(listed))}.",
        )
    if listed:
        return listed[0]
    twins = [one.serial for one in known if one.listed_as == said]
    if len(twins) > 1:
        raise UsageError(
            f"{len(twins)} phones have the serial {said!r}.",
            f"Name one by where it is plugged in: {', '.join(sorted(twins))}.",
        )
    if twins:
        return twins[0]
    wanted = said.strip().casefold()
    named = [one.serial for one in known if one.name and one.name.casefold() == wanted]
    # As lists show them, or as a goal names them: @Pixel-8-5554.
    named = named or [
        serial
        for serial, name in device_names({one.serial: one for one in known}).items()
        if wanted.removeprefix("@") in {name.casefold(), "-".join(name.casefold().split())}
    ]
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} devices are called {said!r}.",
            f"Name one by its serial: {', '.join(sorted(named))}.",
        )
    return named[0] if named else said


def with_serials(op: Op, devices: Iterable[DeviceInfo]) -> Op:
    """Return an op with serials where the operator named devices. Raises as `serial_of` does."""
    said = getattr(op, "serial", "")
    if isinstance(said, str) and said:
        op = replace(op, serial=serial_of(said, devices))
    if isinstance(op, SessionCreate) and op.targets:
        known = tuple(devices)
        targets = (replace(one, serial=serial_of(one.serial, known)) for one in op.targets)
        op = replace(op, targets=tuple(targets))
    return op
