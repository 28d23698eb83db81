"""A planner's way to the phones and to children of its own: implements `agent.tasks.delegation`.

Not the choice of targets (`agent.tasks.plan`) and not the roll-up (`agent.sessions.tree`).
Invariants: the children of one plan are stored together with the plan, and with the generation of
their parent; the children of a driven planner wait with their objectives (CONTRACTS A6).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from agent.errors import DeviceError, UsageError, WrongStateError
from agent.protocol import EventMsg, SessionConfigured, Target, TargetsPlanned
from agent.records import DeviceInfo, DeviceState, Session, SessionState
from agent.sessions.creation import child_session
from agent.sessions.crew import settled
from agent.sessions.holding import staged
from agent.sessions.live import LiveSession, Turn
from agent.sessions.parts import Parts
from agent.sessions.resuming import Resuming
from agent.store.store import EventDraft
from agent.tasks.delegation import PhoneView

_LOOK_S = 10.0

BeginChild: TypeAlias = Callable[[LiveSession], object]


class Delegating:
    """What one plan turn may do beyond its context.

    Args:
        begin: begins the turn of a child; its lock is held.
    """

    def __init__(self, parts: Parts, live: LiveSession, turn: Turn, begin: BeginChild) -> None:
        self._parts = parts
        self._live = live
        self._turn = turn
        self._begin = begin
        self._resuming = Resuming(parts.assignment)

    async def phones(self) -> tuple[PhoneView, ...]:
        """Look at every phone that is online, at the same time, each within a bound."""
        online = [i for i in self._parts.rack.devices() if i.state is DeviceState.ONLINE]
        return tuple(await asyncio.gather(*(self._look(info) for info in online)))

    async def delegate(self, targets: Sequence[Target], reason: str) -> tuple[str, ...]:
        """Store a child for each target, and send them off.

        Raises:
            WrongStateError: the plan's turn is over; nothing was stored.
        """
        parent = self._live
        async with parent.lock:
            if self._turn.mute or parent.turn is not self._turn:
                raise WrongStateError(f"The plan of session {parent.session_id} is over.")
            children = [
                child_session(parent.record, target, now_ms=self._parts.clock_ms())
                for target in targets
            ]
            ids = tuple(child.session_id for child in children)
            planned = TargetsPlanned(targets=tuple(targets), child_ids=ids, reason=reason)
            drafts = list(parent.drafts(planned))
            for child in children:
                drafts += [EventDraft(child.session_id, msg) for msg in self._birth(child)]
            await settled(self._parts.book.append(*drafts))
        for child_id in ids:
            live = await self._parts.book.get(child_id)
            async with live.lock:
                if live.record.state is SessionState.QUEUED and live.turn is None:
                    self._begin(live)
        return ids

    def _birth(self, child: Session) -> tuple[EventMsg, ...]:
        first = SessionConfigured(session=child)
        parent = self._live.record
        if parent.held:
            return (first, *staged(parent.driver))
        return (first, self._resuming.queueing(child.serial))

    async def _look(self, info: DeviceInfo) -> PhoneView:
        try:
            async with asyncio.timeout(_LOOK_S):
                device = await self._parts.rack.device(info.serial)
                apps, refusal = await asyncio.gather(device.apps(), device.displays.refusal())
        except (DeviceError, UsageError, TimeoutError) as error:
            return PhoneView(
                info=replace(info, note=str(error)),
                apps_known=False,
                detach_refusal="it could not be asked",
            )
        return PhoneView(info=info, apps=apps, detach_refusal=refusal)
