"""Ops on standing work: jobs, watchers, commitments, notices; and the end of the core."""

from dataclasses import dataclass

from agent import protocol
from agent.jobs.job_service import JobService
from agent.notices.notice_service import NoticeService
from agent.records import Job
from agent.runtime.handlers.table import handles, reply_to
from agent.runtime.op_queue import Submission
from agent.watchers.watcher_service import WatcherService


@dataclass(frozen=True)
class JobHandlers:
    """Carry out the ops on jobs."""

    jobs: JobService

    @handles
    async def create(self, op: protocol.JobCreate, sub: Submission) -> protocol.Reply:
        """Store a job."""
        return _job(sub, await self.jobs.hand_in(op))

    @handles
    async def edit(self, op: protocol.JobEdit, sub: Submission) -> protocol.Reply:
        """Change a job."""
        return _job(sub, await self.jobs.edit(op))

    @handles
    async def list(self, op: protocol.JobList, sub: Submission) -> protocol.Reply:
        """List jobs."""
        found = await self.jobs.list(op.query, op.limit)
        return protocol.Reply(submission_id=sub.submission_id, jobs=found)

    @handles
    async def queue(self, op: protocol.JobQueue, sub: Submission) -> protocol.Reply:
        """List a page of the queue."""
        page = await self.jobs.queue(op)
        return protocol.Reply(submission_id=sub.submission_id, jobs=page.jobs, after=page.after)

    @handles
    async def pause(self, op: protocol.JobPause, sub: Submission) -> protocol.Reply:
        """Pause a job."""
        return _job(sub, await self.jobs.pause(op.job_id))

    @handles
    async def resume(self, op: protocol.JobResume, sub: Submission) -> protocol.Reply:
        """Resume a job."""
        return _job(sub, await self.jobs.resume(op.job_id))

    @handles
    async def run(self, op: protocol.JobRun, sub: Submission) -> protocol.Reply:
        """Make a job due now."""
        return _job(sub, await self.jobs.run_now(op.job_id))

    @handles
    async def stop(self, op: protocol.JobStop, sub: Submission) -> protocol.Reply:
        """Stop a job for good."""
        return _job(sub, await self.jobs.stop(op.job_id))

    @handles
    async def history(self, op: protocol.JobHistory, sub: Submission) -> protocol.Reply:
        """List the runs of a job."""
        job, runs = await self.jobs.history(op.job_id, op.limit)
        return protocol.Reply(submission_id=sub.submission_id, job=job, runs=runs)

    @handles
    async def read(self, op: protocol.JobRead, sub: Submission) -> protocol.Reply:
        """Mark a job's newest result as read."""
        return _job(sub, await self.jobs.read(op.job_id))


@dataclass(frozen=True)
class StandingHandlers:
    """Carry out the ops on watchers, commitments and notices."""

    notices: NoticeService
    watches: WatcherService

    @handles
    async def watch(self, op: protocol.AnyWatchOp, sub: Submission) -> protocol.Reply:
        """Keep watchers and commitments."""
        return await self.watches.carry_out(op, sub.submission_id)

    @handles
    async def reply(self, op: protocol.NoticeReply, sub: Submission) -> protocol.Reply:
        """Answer the question of a notice."""
        return reply_to(sub, await self.notices.reply(op, sub.submission_id))

    @handles
    async def done(self, op: protocol.NoticeDone, sub: Submission) -> protocol.Reply:
        """Take a notice away."""
        await self.notices.done(op.session_id)
        return reply_to(sub)

    @handles
    async def send(self, op: protocol.NoticeSend, sub: Submission) -> protocol.Reply:
        """Hand a notice's words to its session."""
        return reply_to(sub, await self.notices.send(op, sub.submission_id))

    @handles
    async def shut_down(self, op: protocol.Shutdown, sub: Submission) -> protocol.Reply:
        """Acknowledge; the op worker ends the core once the reply is on its way."""
        return reply_to(sub)


def _job(sub: Submission, job: Job) -> protocol.Reply:
    return protocol.Reply(submission_id=sub.submission_id, job=job)
