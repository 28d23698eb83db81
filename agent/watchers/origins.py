"""Find the notification that a commitment is from, so that its evidence is what the phone says.

Not the commitment (`agent.watchers.commitments`). Invariants: the evidence is the phone's own words
and not those of whoever asks; what no phone shows is no origin.
"""

import asyncio

from agent.devices.facts.notifications import Notification, Shade
from agent.devices.protocols import Fleet
from agent.errors import DeviceError, UsageError
from agent.records import Condition, DeviceState, Origin, OriginKind
from agent.text import one_line
from agent.watchers.matching import fits
from agent.watchers.sensors import shade_of


async def evidence_of(origin: Origin, fleet: Fleet) -> dict[str, str]:
    """Look for a notification in the shades of phones, and give what it says.

    Raises:
        UsageError: it is not said which, or no phone shows it.
        DeviceError: no phone could be asked.
    """
    if origin.kind is OriginKind.MESSAGE and not origin.sender.strip():
        raise UsageError("The sender of the message is missing.", "Give `sender`.")
    if not (origin.package or origin.sender or origin.text).strip():
        raise UsageError("The notification to use is missing.", "Give `text` or `package`.")
    wanted = Condition(
        package=origin.package.strip(),
        sender=origin.sender.strip(),
        texts=(origin.text.strip(),) if origin.text.strip() else (),
    )
    online = [
        info.serial
        for info in fleet.devices()
        if info.state is DeviceState.ONLINE and origin.serial in ("", info.serial)
    ]
    told = await asyncio.gather(*(_shade(fleet, one) for one in online), return_exceptions=True)
    failure: DeviceError | None = None
    lost: list[str] = []
    for serial, said in zip(online, told, strict=True):
        if isinstance(said, DeviceError):
            failure = said
            continue
        if isinstance(said, BaseException):
            raise said
        lost += [f"{serial}: {said.lost}"] if said.lost else []
        for one in said.notifications:
            if fits(one, wanted):
                return _evidence(origin.kind, serial, one)
    if failure is not None:
        raise failure
    what = one_line(", ".join(filter(None, (origin.sender, origin.text, origin.package))), 200)
    where = origin.serial or ("any phone" if online else "no phone is online")
    if lost:
        raise DeviceError(
            f"Whether {origin.kind} of {what!r} is in the shade is unknown: {'; '.join(lost)}.",
            "Look at the phone, or create a plain commitment.",
        )
    raise UsageError(
        f"No {origin.kind} of {what!r} is in the shade ({where}).",
        "Read the notifications first; for one that was dismissed, create a plain commitment.",
    )


async def _shade(fleet: Fleet, serial: str) -> Shade:
    return await shade_of(await fleet.device(serial))


def _evidence(kind: OriginKind, serial: str, one: Notification) -> dict[str, str]:
    return {
        "source": kind.value,
        "serial": serial,
        "package": one.package,
        "title": one.title,
        "text": one.text,
    }
