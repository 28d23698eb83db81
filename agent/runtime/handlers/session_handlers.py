"""Ops on sessions: begin, talk to, stop, resume, divide, review, and answer what they ask."""

from __future__ import annotations

from dataclasses import dataclass

from agent.core import OWNER
from agent.protocol import (
    Interrupt,
    Reply,
    SessionAttach,
    SessionCancel,
    SessionCompact,
    SessionCreate,
    SessionDetach,
    SessionLetThrough,
    SessionPause,
    SessionReplay,
    SessionResume,
    SessionReview,
    SessionStart,
    SteerEdit,
    SteerWithdraw,
    UserInput,
    UserInputAnswer,
)
from agent.runtime.handlers.table import handles, reply_to
from agent.runtime.op_queue import Submission
from agent.sessions.lifecycle.attaching import Attaching
from agent.sessions.lifecycle.direct_calls import DirectCalls
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.lifecycle.replaying import Replaying
from agent.sessions.questions.answering import Answering
from agent.sessions.questions.steering import Steerings
from agent.sessions.registry.services import Services
from agent.sessions.turns.review_turns import ReviewTurns


@dataclass(frozen=True)
class SessionHandlers:
    """Carry out the ops on sessions that work."""

    parts: Services
    operations: Operations
    attaching: Attaching
    answering: Answering
    steerings: Steerings
    review_turns: ReviewTurns
    replaying: Replaying
    direct_calls: DirectCalls

    @handles
    async def create(self, op: SessionCreate, sub: Submission) -> Reply:
        """Create a session, and the children that it names."""
        if op.direct:
            made = await self.direct_calls.create(op, sub.client, sub.submission_id)
        else:
            made = await self.operations.create(op, sub.submission_id)
        session, *children = made
        if op.hold and not op.start:
            self.parts.clients.hold_draft(session.session_id, sub.client.client_id)
        return Reply(
            submission_id=sub.submission_id,
            session_id=session.session_id,
            child_ids=tuple(child.session_id for child in children),
        )

    @handles
    async def start(self, op: SessionStart, sub: Submission) -> Reply:
        """Start a draft; only whoever drives it may."""
        await self.operations.start(op, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def attach(self, op: SessionAttach, sub: Submission) -> Reply:
        """Let a client drive a session."""
        return reply_to(sub, await self.attaching.attach(op, sub.client, sub.submission_id))

    @handles
    async def detach(self, op: SessionDetach, sub: Submission) -> Reply:
        """Let a session go."""
        await self.attaching.detach(op.session_id, sub.client, sub.submission_id)
        return reply_to(sub)

    @handles
    async def tell(self, op: UserInput, sub: Submission) -> Reply:
        """Hand the operator's words to a session; only whoever drives it may."""
        await self.operations.tell(
            op.session_id,
            op.text,
            sub.submission_id,
            speaker=op.speaker,
            let_through=op.let_through,
            by=sub.client,
        )
        return reply_to(sub)

    @handles
    async def let_through(self, op: SessionLetThrough, sub: Submission) -> Reply:
        """Let a session's model read what was redacted; only whoever drives it may."""
        told = await self.operations.let_through(op.session_id, sub.submission_id, by=sub.client)
        return reply_to(sub, told)

    @handles
    async def answer(self, op: UserInputAnswer, sub: Submission) -> Reply:
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
    async def interrupt(self, op: Interrupt, sub: Submission) -> Reply:
        """Stop a turn; the session can be resumed."""
        await self.operations.interrupt(op.session_id, sub.submission_id)
        return reply_to(sub)

    @handles
    async def pause(self, op: SessionPause, sub: Submission) -> Reply:
        """Pause a session."""
        await self.operations.pause(op.session_id, sub.submission_id)
        return reply_to(sub)

    @handles
    async def resume(self, op: SessionResume, sub: Submission) -> Reply:
        """Resume a session; only whoever drives it may."""
        await self.operations.resume(op.session_id, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def cancel(self, op: SessionCancel, sub: Submission) -> Reply:
        """End a session and its children."""
        await self.operations.cancel(op.session_id, sub.submission_id)
        return reply_to(sub)

    @handles
    async def edit_steer(self, op: SteerEdit, sub: Submission) -> Reply:
        """Change a hint that no step has taken yet; only whoever drives the session may."""
        await self.steerings.edit(op, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def withdraw_steer(self, op: SteerWithdraw, sub: Submission) -> Reply:
        """Withdraw a hint that no step has taken yet; only whoever drives the session may."""
        await self.steerings.withdraw(op, sub.submission_id, by=sub.client)
        return reply_to(sub)

    @handles
    async def review(self, op: SessionReview, sub: Submission) -> Reply:
        """Review what a session did."""
        return reply_to(sub, await self.review_turns.review(op))

    @handles
    async def compact(self, op: SessionCompact, sub: Submission) -> Reply:
        """Compact what a session's model is told of its past; only whoever drives it may."""
        return reply_to(sub, await self.review_turns.compact(op, by=sub.client))

    @handles
    async def replay(self, op: SessionReplay, sub: Submission) -> Reply:
        """Do a session's actions again, in a new one."""
        return reply_to(sub, await self.replaying.replay(op, sub.submission_id))
