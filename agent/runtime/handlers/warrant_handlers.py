"""Ops and look-ups on warrants."""

from dataclasses import dataclass

from agent import protocol
from agent.records import WarrantView
from agent.runtime.handlers.answers import answers
from agent.runtime.handlers.table import handles
from agent.runtime.op_queue import Submission
from agent.warrants.warrant_service import WarrantService


@dataclass(frozen=True)
class WarrantHandlers:
    """Carry out the ops on warrants."""

    warrants: WarrantService

    @handles
    async def draft(self, op: protocol.WarrantDraft, sub: Submission) -> protocol.Reply:
        """Draft a warrant."""
        return _reply(sub, await self.warrants.draft(op))

    @handles
    async def correct(self, op: protocol.WarrantCorrect, sub: Submission) -> protocol.Reply:
        """Correct a draft's borderline cases."""
        return _reply(sub, await self.warrants.correct(op))

    @handles
    async def sign(self, op: protocol.WarrantSign, sub: Submission) -> protocol.Reply:
        """Sign a draft."""
        return _reply(sub, await self.warrants.sign(op, sub.client))

    @handles
    async def revoke(self, op: protocol.WarrantRevoke, sub: Submission) -> protocol.Reply:
        """Revoke a warrant or drop a draft."""
        return _reply(sub, await self.warrants.revoke(op.warrant_id))

    @answers
    async def list(self, query: protocol.ListWarrants) -> tuple[WarrantView, ...]:
        """List warrants and drafts."""
        return self.warrants.store.views(query.warrant_id, query.limit)


def _reply(sub: Submission, view: WarrantView) -> protocol.Reply:
    return protocol.Reply(submission_id=sub.submission_id, warrant=view)
