"""Which room carries out which op, and what the reply to it says.

Not the queue (`agent.sessions.intake`) and not the work: a table. Invariant: every op of the union
has its row, or the type checker says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from agent.core import OWNER
from agent.devices.naming import with_serials
from agent.jobs.desk import JobDesk
from agent.notices.desk import NoticeDesk
from agent.protocol import (
    AnyJobOp,
    CommitmentCreate,
    CommitmentSearch,
    CommitmentUpdate,
    DeviceExamine,
    DeviceLog,
    DeviceLook,
    DeviceRepair,
    DeviceTag,
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
    SessionFork,
    SessionImport,
    SessionKeep,
    SessionMove,
    SessionPause,
    SessionPrune,
    SessionReplay,
    SessionResume,
    SessionReview,
    SessionRollback,
    SessionStart,
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
from agent.sessions.answering import Answering
from agent.sessions.archive import Archive
from agent.sessions.attaching import Attaching
from agent.sessions.intake import Submission
from agent.sessions.looks import Looks
from agent.sessions.moving import move
from agent.sessions.operations import Operations
from agent.sessions.parts import Parts
from agent.sessions.replaying import Replaying
from agent.sessions.steering import Steerings
from agent.sessions.studies import Studies
from agent.sessions.tagging import tag
from agent.sessions.targets import Targets
from agent.sessions.turns import Turns
from agent.sessions.wheel import Wheel
from agent.watchers.desk import WatchDesk

WAIT_FOR_PHONES = (
    WheelTake,
    WheelAct,
    WheelHandBack,
    TargetControl,
    DeviceLook,
    DeviceLog,
    DeviceExamine,
    DeviceRepair,
)
"""Ops that may take as long as a phone does: they are carried out beside the others."""


@dataclass(frozen=True)
class Dispatch:
    """The rooms of one core that carry out ops."""

    parts: Parts
    turns: Turns
    operations: Operations
    attaching: Attaching
    answering: Answering
    archive: Archive
    steerings: Steerings
    studies: Studies
    targets: Targets
    wheel: Wheel
    looks: Looks
    replaying: Replaying
    jobs: JobDesk
    notices: NoticeDesk
    watches: WatchDesk

    async def carry_out(self, submission: Submission) -> Reply:
        """Carry one op out. Raises SwitchboardError as the room does that carries it out."""
        submission_id, client = submission.submission_id, submission.client
        op = with_serials(submission.op, self.parts.rack.devices())
        reply = partial(Reply, submission_id=submission_id)
        match op:
            case SessionStart() | UserInput() | SessionResume():
                self.attaching.check_driver(op.session_id, client)
            case _:
                pass
        match op:
            case SessionCreate():
                session, *children = await self.operations.create(op, submission_id)
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
            case UserInput(session_id=session_id, text=text):
                await self.operations.tell(session_id, text, submission_id)
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
            case SessionReplay():
                return reply(session_id=await self.replaying.replay(op, submission_id))
            case SessionMove(session_id=session_id, serial=serial):
                moved = await move(self.parts, self.turns, session_id, serial, submission_id)
                return reply(session_id=moved)
            case DeviceTag():
                tag(self.parts.rack, op)
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
