"""Ops on phones: label, look, drive by hand, move a session to one, call an app's session; who has
which phone.
"""

from dataclasses import dataclass

from agent import protocol
from agent.errors import UsageError
from agent.records import HostInfo, SessionState, UndoOffer
from agent.runtime.handlers.answers import answers
from agent.runtime.handlers.table import handles, reply_to
from agent.runtime.op_queue import Submission
from agent.sessions.device_control.device_queries import Looks
from agent.sessions.device_control.rehosting import Rehosting
from agent.sessions.device_control.session_move import move
from agent.sessions.device_control.undoing import Undoing
from agent.sessions.device_control.wheel import Wheel
from agent.sessions.lifecycle.direct_calls import DirectCalls
from agent.sessions.lifecycle.tagging import tag
from agent.sessions.registry.services import Services
from agent.sessions.tree.app_targets import Targets
from agent.sessions.turns.turns import Turns


@dataclass(frozen=True)
class DeviceHandlers:
    """Carry out the ops that concern a phone."""

    parts: Services
    turns: Turns
    targets: Targets
    wheel: Wheel
    undoing: Undoing
    looks: Looks
    direct_calls: DirectCalls
    rehosting: Rehosting

    @handles
    async def tag(self, op: protocol.DeviceTag, sub: Submission) -> protocol.Reply:
        """Name, tag or annotate a device."""
        tag(self.parts.fleet, op)
        return reply_to(sub)

    @handles
    async def dismiss(self, op: protocol.DeviceDismiss, sub: Submission) -> protocol.Reply:
        """Dismiss a device that is gone, or take that back."""
        self.parts.fleet.dismiss(op.serial, dismissed=op.dismissed)
        return reply_to(sub)

    @handles
    async def move(self, op: protocol.SessionMove, sub: Submission) -> protocol.Reply:
        """Let a session work on another phone; only whoever drives it may."""
        live = await self.parts.registry.get(op.session_id)
        if self.rehosting.is_to_another_host(live.record, op.serial):
            gone_to = await self.rehosting.move(
                live.session_id, op.serial, sub.submission_id, by=sub.client
            )
            return reply_to(sub, gone_to)
        moved = await move(
            self.parts,
            self.turns,
            self.targets,
            op.session_id,
            op.serial,
            sub.submission_id,
            by=sub.client,
        )
        return reply_to(sub, moved)

    @handles
    async def forget(self, op: protocol.HostForget, sub: Submission) -> protocol.Reply:
        """Remove a host that has left for good from the fleet."""
        if self.parts.peers is None:
            raise UsageError("This core is in no fleet.", "Ask a host of the fleet.")
        await self.parts.peers.forget(op, sub.submission_id, sub.client)
        return reply_to(sub)

    @handles
    async def drive(
        self, op: protocol.WheelTake | protocol.WheelAct | protocol.WheelHandBack, sub: Submission
    ) -> protocol.Reply:
        """Let the operator drive a phone."""
        return reply_to(sub, await self.wheel.carry_out(op, sub.submission_id))

    @handles
    async def undo(self, op: protocol.UndoEffect, sub: Submission) -> protocol.Reply:
        """Take back on the phone what a session did."""
        undone = await self.undoing.undo(op, sub.submission_id, by=sub.client)
        return reply_to(sub, undone)

    @answers
    async def undo_offers(self, query: protocol.ListUndoOffers) -> tuple[UndoOffer, ...]:
        """List what can be taken back."""
        return await self.undoing.offers(query.session_id)

    @handles
    async def look(
        self,
        op: protocol.DeviceLook
        | protocol.DeviceLog
        | protocol.DeviceExamine
        | protocol.DeviceRepair,
        sub: Submission,
    ) -> protocol.Reply:
        """Look at a phone, or put a finding right."""
        return await self.looks.carry_out(op, sub.submission_id)

    @handles
    async def control(self, op: protocol.TargetControl, sub: Submission) -> protocol.Reply:
        """Do something with the app of a session."""
        result = await self.targets.control(op)
        return protocol.Reply(
            submission_id=sub.submission_id, session_id=op.session_id, target=result
        )

    @handles
    async def call(self, op: protocol.DirectCall, sub: Submission) -> protocol.Reply:
        """Carry out a connected program's call."""
        seen = await self.direct_calls.call(op, sub.client)
        return protocol.Reply(
            submission_id=sub.submission_id, session_id=op.session_id, direct=seen
        )

    @answers
    async def hosts(self, query: protocol.ListHosts) -> tuple[HostInfo, ...]:
        """List the hosts of the fleet."""
        return () if self.parts.peers is None else self.parts.peers.hosts()

    @answers
    async def in_use(self, query: protocol.ListPhonesInUse) -> tuple[protocol.PhoneInUse, ...]:
        """List the phones that somebody drives or waits for."""
        active = [live.record for live in self.parts.registry.active()]
        titles = {one.session_id: one.title or one.goal for one in active}
        waiting: dict[str, list[str]] = {}
        for one in active:
            if one.state is SessionState.QUEUED and one.serial:
                waiting.setdefault(one.serial, []).append(one.session_id)
        return tuple(
            protocol.PhoneInUse(
                serial=info.serial,
                name=info.name,
                driver=info.driver,
                title=titles.get(info.driver, ""),
                waiting=tuple(waiting.get(info.serial, ())),
            )
            for info in self.parts.fleet.devices()
            if info.driver or info.serial in waiting
        )
