"""Which room carries out which op, and what the reply to it says.

Not the queue (`agent.runtime.op_queue`) and not the work: a table. Invariant: every op of the union
has its row, or the type checker says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from agent.core import OWNER
from agent.devices.fleet.naming import with_serials
from agent.jobs.job_service import JobService
from agent.notices.notice_service import NoticeService
from agent.protocol import (
    AnyJobOp,
    CommitmentCreate,
    CommitmentSearch,
    CommitmentUpdate,
    DeviceDismiss,
    DeviceExamine,
    DeviceLog,
    DeviceLook,
    DeviceRepair,
    DeviceTag,
    DirectCall,
    Interrupt,
    JobCreate,
    JobEdit,
    JobHistory,
    JobList,
    JobPause,
    JobQueue,
    JobRead,
    JobResume,
    JobRun,
    JobStop,
    NoticeDone,
    NoticeReply,
    NoticeSend,
    Reply,
    SessionAttach,
    SessionCancel,
    SessionClear,
    SessionCompact,
    SessionCreate,
    SessionDelete,
    SessionDetach,
    SessionDismiss,
    SessionFork,
    SessionImport,
    SessionKeep,
    SessionLetThrough,
    SessionMove,
    SessionPause,
    SessionPrune,
    SessionReplay,
    SessionResume,
    SessionReview,
    SessionRollback,
    SessionStart,
    SessionTag,
    SessionVerify,
    Shutdown,
    SteerEdit,
    SteerWithdraw,
    TargetControl,
    UserInput,
    UserInputAnswer,
    WatcherCreate,
    WatcherList,
    WatcherRead,
    WatcherShow,
    WatcherStop,
    WheelAct,
    WheelHandBack,
    WheelTake,
)
from agent.runtime.op_queue import Submission
from agent.sessions.device_control.device_queries import Looks
from agent.sessions.device_control.moving import move
from agent.sessions.device_control.wheel import Wheel
from agent.sessions.lifecycle.archive import Archive
from agent.sessions.lifecycle.attaching import Attaching
from agent.sessions.lifecycle.direct_calls import DirectCalls
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.lifecycle.replaying import Replaying
from agent.sessions.lifecycle.tagging import dismiss, tag, tag_session
from agent.sessions.questions.answering import Answering
from agent.sessions.questions.confirming import confirm
from agent.sessions.questions.steering import Steerings
from agent.sessions.registry.services import Services
from agent.sessions.tree.app_targets import Targets
from agent.sessions.turns.review_turns import ReviewTurns
from agent.sessions.turns.turns import Turns
from agent.watchers.watcher_service import WatcherService

WAIT_FOR_PHONES = (
    WheelTake,
    WheelAct,
    WheelHandBack,
    TargetControl,
    DeviceLook,
    DeviceLog,
    DeviceExamine,
    DeviceRepair,
    DirectCall,
)
"""Ops that may take as long as a phone does: they are carried out beside the others."""


@dataclass(frozen=True)
class Dispatch:
    """The rooms of one core that carry out ops."""

    parts: Services
    turns: Turns
    operations: Operations
    attaching: Attaching
    answering: Answering
    archive: Archive
    steerings: Steerings
    studies: ReviewTurns
    targets: Targets
    wheel: Wheel
    looks: Looks
    replaying: Replaying
    direct_calls: DirectCalls
    jobs: JobService
    notices: NoticeService
    watches: WatcherService

    async def carry_out(self, submission: Submission) -> Reply:
        """Carry one op out. Raises SwitchboardError as the room does that carries it out."""
        submission_id, client = submission.submission_id, submission.client
        op = with_serials(submission.op, self.parts.rack.devices())
        reply = partial(Reply, submission_id=submission_id)
        match op:
            case SessionStart() | UserInput() | SessionLetThrough() | SessionResume():
                self.attaching.check_driver(op.session_id, client)
            case _:
                pass
        match op:
            case SessionCreate():
                if op.direct:
                    made = await self.direct_calls.create(op, client, submission_id)
                else:
                    made = await self.operations.create(op, submission_id)
                session, *children = made
                if op.hold and not op.start:
                    self.parts.clients.hold_draft(session.session_id, client.client_id)
                return reply(
                    session_id=session.session_id,
                    child_ids=tuple(child.session_id for child in children),
                )
            case SessionStart():
                await self.operations.start(op, submission_id)
            case SessionAttach():
                return reply(session_id=await self.attaching.attach(op, client, submission_id))
            case SessionDetach(session_id=session_id):
                await self.attaching.detach(session_id, client, submission_id)
            case UserInput(session_id=session_id, text=text, let_through=lets):
                await self.operations.tell(session_id, text, submission_id, let_through=lets)
            case SessionLetThrough(session_id=session_id):
                told = await self.operations.let_through(session_id, submission_id)
                return reply(session_id=told)
            case UserInputAnswer(question_id=question_id, expired=True):
                return reply(session_id=await self.answering.expire(question_id, submission_id))
            case UserInputAnswer():
                by = "operator" if client == OWNER else client.name
                return reply(session_id=await self.answering.answer(op, submission_id, by=by))
            case Interrupt(session_id=session_id):
                await self.operations.interrupt(session_id, submission_id)
            case SessionPause(session_id=session_id):
                await self.operations.pause(session_id, submission_id)
            case SessionResume(session_id=session_id):
                await self.operations.resume(session_id, submission_id)
            case TargetControl():
                result = await self.targets.control(op)
                return reply(session_id=op.session_id, target=result)
            case SteerEdit():
                await self.steerings.edit(op, submission_id)
            case SteerWithdraw():
                await self.steerings.withdraw(op, submission_id)
            case SessionReview():
                return reply(session_id=await self.studies.review(op))
            case SessionCompact():
                return reply(session_id=await self.studies.compact(op))
            case SessionCancel(session_id=session_id):
                await self.operations.cancel(session_id, submission_id)
            case (
                SessionFork()
                | SessionRollback()
                | SessionKeep()
                | SessionDelete()
                | SessionClear()
                | SessionPrune()
                | SessionImport()
            ):
                return await self.archive.carry_out(op, submission_id)
            case SessionVerify():
                return reply(session_id=await confirm(self.parts, op, submission_id))
            case SessionReplay():
                return reply(session_id=await self.replaying.replay(op, submission_id))
            case DirectCall():
                seen = await self.direct_calls.call(op, client)
                return reply(session_id=op.session_id, direct=seen)
            case SessionMove(session_id=session_id, serial=serial):
                moved = await move(self.parts, self.turns, session_id, serial, submission_id)
                return reply(session_id=moved)
            case DeviceTag():
                tag(self.parts.rack, op)
            case DeviceDismiss(serial=serial, dismissed=dismissed):
                self.parts.rack.dismiss(serial, dismissed=dismissed)
            case SessionTag(session_id=session_id, tags=tags):
                tagged = await tag_session(self.parts, session_id, tags, submission_id)
                return reply(session_id=tagged)
            case SessionDismiss(session_id=session_id, dismissed=dismissed):
                members = await dismiss(self.parts, session_id, dismissed, submission_id)
                if dismissed:
                    for member in members:
                        await self.notices.done(member)
                return reply(session_id=members[0])
            case WheelTake() | WheelAct() | WheelHandBack():
                return reply(session_id=await self.wheel.carry_out(op, submission_id))
            case DeviceLook() | DeviceLog() | DeviceExamine() | DeviceRepair():
                return await self.looks.carry_out(op, submission_id)
            case NoticeReply():
                return reply(session_id=await self.notices.reply(op, submission_id))
            case NoticeDone(session_id=session_id):
                await self.notices.done(session_id)
            case NoticeSend():
                return reply(session_id=await self.notices.send(op, submission_id))
            case (
                JobCreate()
                | JobEdit()
                | JobList()
                | JobQueue()
                | JobPause()
                | JobResume()
                | JobRun()
                | JobStop()
                | JobHistory()
                | JobRead()
            ):
                return await self._on_jobs(op, reply)
            case (
                WatcherCreate()
                | WatcherList()
                | WatcherShow()
                | WatcherStop()
                | WatcherRead()
                | CommitmentCreate()
                | CommitmentSearch()
                | CommitmentUpdate()
            ):
                return await self.watches.carry_out(op, submission_id)
            case Shutdown():
                pass
            case _:
                assert_never(op)
        return reply()

    async def _on_jobs(self, op: AnyJobOp, reply: Callable[..., Reply]) -> Reply:
        match op:
            case JobCreate():
                return reply(job=await self.jobs.hand_in(op))
            case JobEdit():
                return reply(job=await self.jobs.edit(op))
            case JobList(query=query, limit=limit):
                return reply(jobs=await self.jobs.list(query, limit))
            case JobQueue():
                page = await self.jobs.queue(op)
                return reply(jobs=page.jobs, after=page.after)
            case JobPause(job_id=job_id):
                return reply(job=await self.jobs.pause(job_id))
            case JobResume(job_id=job_id):
                return reply(job=await self.jobs.resume(job_id))
            case JobRun(job_id=job_id):
                return reply(job=await self.jobs.run_now(job_id))
            case JobStop(job_id=job_id):
                return reply(job=await self.jobs.stop(job_id))
            case JobHistory(job_id=job_id, limit=limit):
                job, runs = await self.jobs.history(job_id, limit)
                return reply(job=job, runs=runs)
            case JobRead(job_id=job_id):
                return reply(job=await self.jobs.read(job_id))
            case _:
                assert_never(op)
