"""Ops on sessions: begin, talk to, stop, resume, divide, review, and answer what they ask."""

from dataclasses import dataclass

from agent import protocol
from agent.core import OWNER
from agent.runtime.handlers.table import handles, reply_to
from agent.runtime.op_queue import Submission
from agent.sessions.lifecycle.attaching import Attaching
from agent.sessions.lifecycle.direct_calls import DirectCalls
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.lifecycle.replaying import Replaying
from agent.sessions.questions.answering import Answering
from agent.sessions.questions.requiring import edit_requirements
from agent.sessions.questions.steering import Steerings
from agent.sessions.registry.services import Services
from agent.sessions.turns.review_turns import ReviewTurns


@dataclass(frozen=True)
class SessionHandlers:
    """Execute ops on sessions."""

    parts: Services
    operations: Operations
    attaching: Attaching
    answering: Answering
    steerings: Steerings
    review_turns: ReviewTurns
    replaying: Replaying
    direct_calls: DirectCalls

    @handles
    async def create(self, op: protocol.SessionCreate, sub: Submission) -> protocol.Reply:
        """Create a session, and the children that it names."""
        if op.direct:
            made = await self.direct_calls.create(op, sub.client, sub.submission_id)
        else:
            made = await self.operations.create(op, sub.submission_id)
        session, *children = made
        if op.hold and not op.start:
            self.parts.clients.hold_draft(session.session_id, sub.client.client_id)
        return protocol.Reply(
            submission_id=sub.submission_id,
            session_id=session.session_id,
            child_ids=tuple(child.session_id for child in children),
        )

    @handles
    async def start(self, op: protocol.SessionStart, sub: Submission) -> protocol.Reply:
        """Start a draft; only whoever drives it may."""
        await self.operations.start(op, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def attach(self, op: protocol.SessionAttach, sub: Submission) -> protocol.Reply:
        """Let a client drive a session."""
        return reply_to(sub, await self.attaching.attach(op, sub.client, sub.submission_id))

    @handles
    async def detach(self, op: protocol.SessionDetach, sub: Submission) -> protocol.Reply:
        """Let a session go."""
        await self.attaching.detach(op.session_id, sub.client, sub.submission_id)
        return reply_to(sub)

    @handles
    async def tell(self, op: protocol.UserInput, sub: Submission) -> protocol.Reply:
        """Hand the operator's words to a session; only whoever drives it may."""
        await self.operations.tell(
            op.session_id,
            op.text,
            sub.submission_id,
            speaker=op.speaker,
            let_through=op.let_through,
            resumes=op.resumes,
            steers=op.steers,
            by=sub.client,
        )
        return reply_to(sub)

    @handles
    async def require(self, op: protocol.EditRequirements, sub: Submission) -> protocol.Reply:
        """Edit what a session is judged by, and tell its running turn."""
        session_id, told = await edit_requirements(self.parts, op, sub.submission_id, by=sub.client)
        if told:
            await self.operations.tell(session_id, told, by=sub.client)
        return reply_to(sub, session_id)

    @handles
    async def let_through(self, op: protocol.SessionLetThrough, sub: Submission) -> protocol.Reply:
        """Let a session's model read what was redacted; only whoever drives it may."""
        told = await self.operations.let_through(op.session_id, sub.submission_id, by=sub.client)
        return reply_to(sub, told)

    @handles
    async def answer(self, op: protocol.UserInputAnswer, sub: Submission) -> protocol.Reply:
        """Answer a question, or let it expire."""
        if op.expired:
            whose = "the command that ran it" if sub.client == OWNER else sub.client.name
            session_id = await self.answering.expire(op.question_id, sub.submission_id, by=whose)
            return reply_to(sub, session_id)
        by = "operator" if sub.client == OWNER else sub.client.name
        told = await self.answering.answer(
            op, sub.submission_id, by=by, operator=sub.client.operator
        )
        return reply_to(sub, told)

    @handles
    async def interrupt(self, op: protocol.Interrupt, sub: Submission) -> protocol.Reply:
        """Stop a turn; the session can be resumed."""
        await self.operations.interrupt(op.session_id, sub.submission_id)
        return reply_to(sub)

    @handles
    async def pause(self, op: protocol.SessionPause, sub: Submission) -> protocol.Reply:
        """Pause a session."""
        await self.operations.pause(op.session_id, sub.submission_id)
        return reply_to(sub)

    @handles
    async def resume(self, op: protocol.SessionResume, sub: Submission) -> protocol.Reply:
        """Resume a session; only whoever drives it may."""
        await self.operations.resume(
            op.session_id, sub.submission_id, by=sub.client, endpoint=op.endpoint
        )
        return reply_to(sub)

    @handles
    async def cancel(self, op: protocol.SessionCancel, sub: Submission) -> protocol.Reply:
        """End a session and its children."""
        await self.operations.cancel(op.session_id, sub.submission_id)
        return reply_to(sub)

    @handles
    async def edit_steer(self, op: protocol.SteerEdit, sub: Submission) -> protocol.Reply:
        """Change a hint that no step has taken yet; only whoever drives the session may."""
        await self.steerings.edit(op, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def withdraw_steer(self, op: protocol.SteerWithdraw, sub: Submission) -> protocol.Reply:
        """Withdraw a hint that no step has taken yet; only whoever drives the session may."""
        await self.steerings.withdraw(op, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def review(self, op: protocol.SessionReview, sub: Submission) -> protocol.Reply:
        """Review what a session did."""
        return reply_to(sub, await self.review_turns.review(op))

    @handles
    async def compact(self, op: protocol.SessionCompact, sub: Submission) -> protocol.Reply:
        """Compact what a session's model is told of its past; only whoever drives it may."""
        return reply_to(sub, await self.review_turns.compact(op, by=sub.client))

    @handles
    async def replay(self, op: protocol.SessionReplay, sub: Submission) -> protocol.Reply:
        """Do a session's actions again, in a new one."""
        return reply_to(sub, await self.replaying.replay(op, sub.submission_id))
