"""A planner's way to the phones and to children of its own: implements `agent.tasks.delegation`.

Not the choice of targets (`agent.tasks.plan`) and not the roll-up
(`agent.sessions.tree.session_tree`). Invariants: the children of one plan are stored together with
the plan, and with the generation of their parent; the children of a driven planner wait with their
objectives (CONTRACTS A6).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from agent import protocol
from agent.devices.protocols import Dated, Device
from agent.errors import DeviceError, UsageError, WrongStateError
from agent.records import DeviceInfo, DeviceState, Session, SessionState, Speaker
from agent.sessions.registry.live_session import LiveSession, Turn
from agent.sessions.registry.services import Services
from agent.sessions.registry.supervisor import settled
from agent.sessions.rules.attached_rules import staged
from agent.sessions.rules.creation import child_session
from agent.sessions.rules.resuming import Resuming
from agent.sessions.rules.turn_input import new_message_id
from agent.store.store import EventDraft
from agent.tasks.delegation import PhoneView

_LOOK_S = 10.0

BeginChild: TypeAlias = Callable[[LiveSession], object]


class Delegating:
    """What one plan turn may do beyond its context.

    Args:
        begin: begins the turn of a child; its lock is held.
    """

    def __init__(self, parts: Services, live: LiveSession, turn: Turn, begin: BeginChild) -> None:
        self._parts = parts
        self._live = live
        self._turn = turn
        self._begin = begin
        self._resuming = Resuming(parts.assignment)

    async def phones(self) -> tuple[PhoneView, ...]:
        """Look at every phone that is online, at the same time, each within a bound."""
        online = [i for i in self._parts.fleet.devices() if i.state is DeviceState.ONLINE]
        return tuple(await asyncio.gather(*(self._look(info) for info in online)))

    async def delegate(self, targets: Sequence[protocol.Target], reason: str) -> tuple[str, ...]:
        """Store a child for each target, and send them off.

        Raises:
            WrongStateError: the plan's turn is over; nothing was stored.
        """
        parent = self._live
        async with parent.lock:
            if self._turn.mute or parent.turn is not self._turn:
                raise WrongStateError(f"The plan of session {parent.session_id} is over.")
            children = [
                child_session(
                    parent.record, target, speaker=Speaker.MODEL, now_ms=self._parts.clock_ms()
                )
                for target in targets
            ]
            ids = tuple(child.session_id for child in children)
            planned = protocol.TargetsPlanned(targets=tuple(targets), child_ids=ids, reason=reason)
            # What the operator said while the plan was being made is for who carries it out.
            late = tuple(parent.steering)
            step = parent.record.last_step
            heard = [protocol.SteerApplied(message_id=hint.message_id, step=step) for hint in late]
            drafts = list(parent.drafts(planned, *heard))
            for child in children:
                first, *others = self._first_events(child)
                hints = [
                    protocol.UserMessage(
                        text=hint.text,
                        message_id=new_message_id(),
                        speaker=hint.speaker,
                        said=hint.said,
                        steer=True,
                    )
                    for hint in late
                ]
                msgs = (first, *hints, *others)
                drafts += [EventDraft(child.session_id, msg) for msg in msgs]
            await settled(self._parts.registry.append(*drafts))
            parent.steering.clear()
        for child_id in ids:
            live = await self._parts.registry.get(child_id)
            async with live.lock:
                if live.record.state is SessionState.QUEUED and live.turn is None:
                    self._begin(live)
        return ids

    def _first_events(self, child: Session) -> tuple[protocol.EventMsg, ...]:
        first = protocol.SessionConfigured(session=child)
        parent = self._live.record
        if parent.held:
            return (first, *staged(parent.driver))
        return (first, self._resuming.queueing(child))

    async def _look(self, info: DeviceInfo) -> PhoneView:
        try:
            async with asyncio.timeout(_LOOK_S):
                device = await self._parts.fleet.device(info.serial)
                apps, refusal, local_time = await asyncio.gather(
                    device.apps(), device.displays.refusal(), _local_time(device)
                )
        except (DeviceError, UsageError, TimeoutError) as error:
            return PhoneView(
                info=replace(info, note=str(error)),
                apps_known=False,
                detach_refusal="it could not be asked",
            )
        return PhoneView(info=info, apps=apps, local_time=local_time, detach_refusal=refusal)


async def _local_time(device: Device) -> str:
    """Return what a phone says of its date, time and language; empty where it does not."""
    try:
        return await device.local_time() if isinstance(device, Dated) else ""
    except DeviceError:
        return ""
