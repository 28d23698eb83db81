"""Ops on the record of sessions: copy, hide, keep, tag, verify, dismiss, delete."""

from dataclasses import dataclass

from agent import protocol
from agent.notices.notice_service import NoticeService
from agent.runtime.handlers.table import handles, reply_to
from agent.runtime.op_queue import Submission
from agent.sessions.lifecycle.archive import Archive
from agent.sessions.lifecycle.tagging import dismiss, rename_session, tag_session
from agent.sessions.questions.confirming import confirm
from agent.sessions.registry.services import Services


@dataclass(frozen=True)
class RecordHandlers:
    """Carry out the ops on what is stored of sessions."""

    parts: Services
    archive: Archive
    notices: NoticeService

    @handles
    async def rearrange(
        self,
        op: (
            protocol.SessionFork
            | protocol.SessionRollback
            | protocol.SessionKeep
            | protocol.SessionDelete
            | protocol.SessionClear
            | protocol.SessionPrune
            | protocol.SessionImport
        ),
        sub: Submission,
    ) -> protocol.Reply:
        """Copy, hide, keep or drop stored sessions."""
        return await self.archive.carry_out(op, sub.submission_id, by=sub.client)

    @handles
    async def verify(self, op: protocol.SessionVerify, sub: Submission) -> protocol.Reply:
        """Take the operator's word on whether a goal is met."""
        return reply_to(sub, await confirm(self.parts, op, sub.submission_id))

    @handles
    async def tag(self, op: protocol.SessionTag, sub: Submission) -> protocol.Reply:
        """Replace a session's tags."""
        return reply_to(
            sub, await tag_session(self.parts, op.session_id, op.tags, sub.submission_id)
        )

    @handles
    async def rename(self, op: protocol.SessionRename, sub: Submission) -> protocol.Reply:
        """Return a session another title."""
        return reply_to(
            sub, await rename_session(self.parts, op.session_id, op.title, sub.submission_id)
        )

    @handles
    async def dismiss(self, op: protocol.SessionDismiss, sub: Submission) -> protocol.Reply:
        """Dismiss an ended session and its notice, or take that back."""
        members = await dismiss(self.parts, op.session_id, op.dismissed, sub.submission_id)
        if op.dismissed:
            for member in members:
                await self.notices.done(member)
        return reply_to(sub, members[0])
