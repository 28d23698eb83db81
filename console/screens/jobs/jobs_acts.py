"""What is done with a job, watcher or commitment: run, pause, stop, complete, put off, dismiss.

Invariant: what ends something for good takes two acts; what can be taken back is done at once.
"""

from typing import Protocol

from agent import protocol
from agent.records import Commitment, CommitmentStatus, Job, JobStatus, Watcher, WatcherStatus
from console.keys.controllers import Controller
from console.screens.jobs.jobs_lists import Tab
from console.screens.op_sender import OpSender
from widgets.base.formatting import quoted

_ENDED = {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.DISPATCHED}
_BUSY = {JobStatus.RUNNING, JobStatus.WAITING, JobStatus.AWAITING_REVIEW, JobStatus.QUEUED}


class JobList(Protocol):
    """The Jobs screen, as its acts see it."""

    @property
    def ops(self) -> OpSender:
        """Where ops go."""

    @property
    def tab(self) -> Tab:
        """Which list is shown."""

    @property
    def record(self) -> Job | Watcher | Commitment | None:
        """What the cursor is on."""

    def newest_session(self) -> str:
        """Return the session of the newest run of the job under the cursor; empty for none."""

    def key_of(self, action_id: str) -> str:
        """Name the key of an action, as the operator has it."""

    async def read_now(self) -> None:
        """Read the list anew."""

    def show_replay(self, session_id: str) -> None:
        """Play a session from the store."""

    def copy_detail(self) -> None:
        """Copy what the detail says of the record."""


class JobActs(Controller):
    """The acts on the record under the cursor.

    Args:
        listed: the list with the cursor.
    """

    def __init__(self, listed: JobList) -> None:
        self._list = listed

    def can(self, action_id: str) -> bool:
        return can_act(action_id, self._list.record, self._list.newest_session())

    # --- at once ----------

    def do_job_run(self) -> None:
        """Make the job due now."""
        if isinstance(self._list.record, Job) and self.can("job.run"):
            self._send(
                protocol.JobRun(job_id=self._list.record.id),
                f"Job {self._list.record.id} is due now.",
            )

    def do_job_pause(self) -> None:
        """Pause the job, or let it run again."""
        job = self._list.record
        if not isinstance(job, Job) or not self.can("job.pause"):
            return
        asked = self._list.ops.pending.pauses_job(job.id)
        is_paused = job.status is JobStatus.PAUSED if asked is None else asked
        if is_paused:
            self._send(protocol.JobResume(job_id=job.id), f"Job {job.id} is resumed.")
        else:
            self._send(protocol.JobPause(job_id=job.id), f"Job {job.id} is paused; p resumes it.")

    def do_job_read(self) -> None:
        """Take the result or the match as seen; dismiss the commitment."""
        match self._list.record:
            case Job(id=job_id, unread_result=True):
                self._send(protocol.JobRead(job_id=job_id))
            case Watcher(id=watcher_id, unread=True):
                self._send(protocol.WatcherRead(watcher_id=watcher_id))
            case Commitment() as one if not one.status.is_over:
                self._update(one, CommitmentStatus.DISMISSED, "Dismissed; z reopens it.")
            case _:
                pass

    def do_job_done(self) -> None:
        """Complete the commitment."""
        if isinstance(self._list.record, Commitment) and self.can("job.done"):
            self._update(self._list.record, CommitmentStatus.COMPLETED, "Done.")

    def do_job_snooze(self) -> None:
        """Put the commitment off by an hour, or take one up again that is over."""
        one = self._list.record
        if not isinstance(one, Commitment):
            return
        if one.status.is_over:
            self._update(one, CommitmentStatus.PENDING, "Reopened.")
        else:
            self._update(one, CommitmentStatus.SNOOZED, "Snoozed for an hour.")

    def _update(self, one: Commitment, status: CommitmentStatus, done: str) -> None:
        self._send(protocol.CommitmentUpdate(commitment_id=one.id, status=status), done)

    def _send(self, op: protocol.Op, done: str = "") -> None:
        app = self._list.ops
        # From here on it is asked for: the next key may ask for the opposite.
        asked = app.ask(op)

        async def carry_out() -> None:
            if await asked is None:
                return
            if done:
                app.say(done)
            await self._list.read_now()

        app.spawn(carry_out(), type(op).__name__)

    def do_job_replay(self) -> None:
        """Play the newest run of the job again."""
        if session_id := self._list.newest_session():
            self._list.show_replay(session_id)

    def do_job_copy(self) -> None:
        self._list.copy_detail()

    # --- for good ----------

    def do_job_stop(self) -> None:
        """Stop the job or the watcher for good, at the second press."""
        key = self._list.key_of("job.stop")
        match self._list.record:
            case Job() as job if self.can("job.stop"):
                op: protocol.Op = protocol.JobStop(job_id=job.id)
                sentence = f"{key} again stops job {job.id} {quoted(job.title, 40)} for good"
            case Watcher() as one if self.can("job.stop"):
                op = protocol.WatcherStop(watcher_id=one.id)
                about = f"watcher {one.id} {quoted(one.title, 40)}"
                sentence = f"{key} again stops {about} for good"
            case _:
                return
        assert self._list.record is not None, "something is under the cursor"
        about = f"{self._list.tab.value}:{self._list.record.id}"
        if self._list.ops.two_presses.confirm("job.stop", about, sentence):
            self._send(op)


def can_act(action_id: str, record: Job | Watcher | Commitment | None, newest_session: str) -> bool:
    """Return whether something can be done with a record.

    Args:
        action_id: what.
        record: the record under the cursor.
        newest_session: of its newest run; empty for none.
    """
    match record:
        case Job() as job:
            return _can_job(action_id, job, has_session=bool(newest_session))
        case Watcher() as watcher:
            return _can_watcher(action_id, watcher)
        case Commitment() as commitment:
            return _can_commitment(action_id, commitment)
        case None:
            return action_id in _ALWAYS


_ALWAYS = frozenset({"job.new", "job.filter", "job.next_list", "job.previous_list"})


def _can_job(action_id: str, job: Job, *, has_session: bool) -> bool:
    match action_id:
        case "job.stop":
            return job.status not in _ENDED
        case "job.edit":
            return job.status in {JobStatus.ACTIVE, JobStatus.PAUSED}
        case "job.pause":
            return job.status in {JobStatus.ACTIVE, JobStatus.PAUSED}
        case "job.run":
            return job.status not in _BUSY
        case "job.read":
            return job.unread_result
        case "job.replay":
            return has_session
        case "job.done" | "job.snooze":
            return False
        case _:
            return True


def _can_watcher(action_id: str, watcher: Watcher) -> bool:
    match action_id:
        case "job.stop":
            return watcher.status is WatcherStatus.ACTIVE
        case "job.read":
            return watcher.unread
        case "job.copy":
            return True
        case _:
            return action_id in _ALWAYS


def _can_commitment(action_id: str, commitment: Commitment) -> bool:
    match action_id:
        case "job.done" | "job.read":
            return not commitment.status.is_over
        case "job.snooze" | "job.copy":
            return True
        case _:
            return action_id in _ALWAYS
