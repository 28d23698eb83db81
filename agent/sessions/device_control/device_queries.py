"""Look at a phone for the operator: its elements, its log, how it is; put right what can be.

Not the loop's observing, which waits for a still screen and is stored. Invariants: looking changes
nothing and needs no lease; a repair is refused while a session drives the phone.
"""

import asyncio
from collections.abc import Callable

from agent.devices.health.findings import RepairableFinding
from agent.devices.health.maintenance import FleetMaintenance, PhoneMaintenance
from agent.devices.protocols import Device
from agent.errors import (
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
    TreeUnavailableError,
    WrongStateError,
)
from agent.loop.ocr.reader import INSTALL, TextReader, shared_reader
from agent.loop.ocr.region import silent_region
from agent.loop.screen.elements import number_elements
from agent.protocol import DeviceExamine, DeviceLog, DeviceLook, DeviceRepair, Reply
from agent.records import Bounds, PhoneFinding, PhoneLook, UiNode
from agent.safety.redacting.redaction import redact
from agent.sessions.registry.services import Services
from agent.text import one_line

_REPAIRER = "operator"
_LEASE_S = 10.0
_SILENT = "The UI tree says nothing of most of the screen."
_READ = "Its text was read from the picture."
_NO_TEXT = "No text was found in its picture."

LookOp = DeviceLook | DeviceLog | DeviceExamine | DeviceRepair


class Looks:
    """The operator's looks at the phones of one core.

    Args:
        parts: of the core.
        reader: reads text in pictures; returns None where the extra is not installed.
    """

    def __init__(
        self, parts: Services, reader: Callable[[], TextReader | None] = shared_reader
    ) -> None:
        self._parts = parts
        self._reader = reader

    async def carry_out(self, op: LookOp, submission_id: str = "") -> Reply:
        """Do what is asked.

        Raises:
            UsageError: no such device, or no such thing on it.
            DeviceError: the phone is away, refused, or did not answer.
            WrongStateError: a session drives the phone that is to be repaired.
        """
        match op:
            case DeviceLook(serial=serial):
                look = await self._look(serial)
                return Reply(submission_id=submission_id, look=look)
            case DeviceLog(serial=serial, last=last, filters=filters):
                care = await self._maintenance(serial)
                lines = await care.log(last=last, filters=filters)
                return Reply(submission_id=submission_id, lines=lines)
            case DeviceExamine(serial=serial):
                found = await (await self._maintenance(serial)).examine()
                return Reply(submission_id=submission_id, findings=_findings(found))
            case DeviceRepair(serial=serial, name=name):
                found = await self._repair(serial, name)
                return Reply(submission_id=submission_id, findings=_findings(found))

    async def _look(self, serial: str) -> PhoneLook:
        device = await self._parts.fleet.device(serial)
        foreground = await device.foreground()
        note = ""
        nodes: tuple[UiNode, ...] = ()
        try:
            nodes = tuple((await device.tree()).nodes)
        except (TreeUnavailableError, DeviceTimeoutError) as error:
            note = one_line(error.message, 300)
        # Text in the picture may take seconds to read.
        at_ms = self._parts.clock_ms()
        elements = number_elements(nodes, redact=redact)
        region = silent_region(nodes, elements)
        if region is not None:
            seen, why = await self._texts_of(device, region, foreground.package)
            elements = number_elements((*nodes, *seen), redact=redact) if seen else elements
            note = " ".join(filter(None, (note, why)))
        return PhoneLook(
            serial=serial, at_ms=at_ms, foreground=foreground, elements=elements, note=note
        )

    async def _texts_of(
        self, device: Device, region: Bounds, package: str
    ) -> tuple[list[UiNode], str]:
        """Read the text in the part of the picture that the tree says nothing of.

        Returns:
            The texts, and what the operator should know of them.
        """
        reader = self._reader()
        if reader is None:
            return [], f"{_SILENT} With {INSTALL} its text is read from the picture."
        try:
            texts = await reader.read((await device.capture()).data)
        except DeviceError as error:
            return [], one_line(f"{_SILENT} Its picture could not be taken: {error.message}", 300)
        if texts is None:
            return [], f"{_SILENT} Reading its picture takes longer; read again."
        inside = (
            text
            for text in texts
            if region.left <= text.bounds.center_x <= region.right
            and region.top <= text.bounds.center_y <= region.bottom
        )
        seen = [text.node(package) for text in inside]
        return seen, f"{_SILENT} {_READ if seen else _NO_TEXT}"

    async def _maintenance(self, serial: str) -> PhoneMaintenance:
        fleet = self._parts.fleet
        if not isinstance(fleet, FleetMaintenance):
            raise DeviceLostError(
                f"{serial} cannot be examined here.", "Its fleet has no way to examine phones."
            )
        return await fleet.maintenance(serial)

    async def _repair(self, serial: str, name: str) -> tuple[RepairableFinding, ...]:
        care = await self._maintenance(serial)
        info = next(info for info in self._parts.fleet.devices() if info.serial == serial)
        if info.driver == _REPAIRER:
            return await care.repair(name)
        if info.driver:
            raise WrongStateError(
                f"{serial} is driven by {one_line(info.driver, 80)}.",
                "Take the wheel, or stop the session, then repair it.",
            )
        try:
            # Only the waiting is bounded: the repair has time-outs of its own.
            async with asyncio.timeout(_LEASE_S) as waiting:
                async with self._parts.fleet.lease(serial, _REPAIRER):
                    waiting.reschedule(None)
                    return await care.repair(name)
        except TimeoutError as error:
            raise WrongStateError(
                f"{serial} was not free within {_LEASE_S:g} s.", "Another client drives it."
            ) from error


def _findings(found: tuple[RepairableFinding, ...]) -> tuple[PhoneFinding, ...]:
    return tuple(
        PhoneFinding(
            name=one.name,
            ok=one.ok,
            detail=one_line(one.detail, 400),
            remedy=one_line(one.remedy, 400),
            can_repair=not one.ok and one.repair is not None,
        )
        for one in found
    )
