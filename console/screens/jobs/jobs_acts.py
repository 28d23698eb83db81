"""What the Jobs screen does on its keys: new, change, run, pause, stop, complete, put off, dismiss.

Not what it shows (`console.screens.jobs.jobs`). Invariant: what ends something for good takes two
acts; what can be taken back is done at once.
"""

from __future__ import annotations

from abc import abstractmethod

from textual.widgets import Input

from agent.protocol import (
    CommitmentUpdate,
    JobPause,
    JobRead,
    JobResume,
    JobRun,
    JobStop,
    Op,
    WatcherRead,
    WatcherStop,
)
from agent.records import (
    Commitment,
    CommitmentStatus,
    Job,
    JobStatus,
    Watcher,
    WatcherStatus,
)
from agent.text import one_line
from console.screens.base import ConsoleScreen
from console.screens.history.replay import ReplayScreen
from console.screens.jobs.jobs_form import JobForm
from console.screens.jobs.jobs_lists import JobLists, Tab
from console.screens.jobs.jobs_review import JobReview
from widgets.base.row_list import RowList

_ENDED = {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.DISPATCHED}
_BUSY = {JobStatus.RUNNING, JobStatus.WAITING, JobStatus.AWAITING_REVIEW, JobStatus.QUEUED}
_STORED = {
    Tab.JOBS: "Job created.",
    Tab.WATCHERS: "Watcher created.",
    Tab.COMMITMENTS: "Commitment created.",
}


class JobsActs(ConsoleScreen):
    """The acts of the Jobs screen."""

    tab: Tab
    wanted: str
    lists: JobLists
    review: JobReview

    @property
    @abstractmethod
    def table(self) -> RowList: ...

    @property
    @abstractmethod
    def form(self) -> JobForm: ...

    @property
    @abstractmethod
    def record(self) -> Job | Watcher | Commitment | None: ...

    @abstractmethod
    def newest_session(self) -> str: ...

    @abstractmethod
    def turn_to(self, tab: Tab) -> None: ...

    # --- what can be done ----------

    def can(self, action_id: str) -> bool:
        if not self.is_composed or action_id == "screen.jobs":
            return action_id != "screen.jobs"
        if action_id == "job.review":
            return self.review.question(self.record) is not None
        match self.record:
            case Job() as job:
                return _can_job(action_id, job, has_session=bool(self.newest_session()))
            case Watcher() as watcher:
                return _can_watcher(action_id, watcher)
            case Commitment() as commitment:
                return _can_commitment(action_id, commitment)
            case None:
                return not action_id.startswith("job.") or action_id in _ALWAYS

    # --- writing ----------

    def do_job_new(self) -> None:
        """Show the form of this list."""
        self.form.devices = self.console_app.bridge.state.devices
        self.focus_now(self.form.open(self.tab))

    def do_job_edit(self) -> None:
        """Show the form with the job in it."""
        job = self.record
        if isinstance(job, Job) and self.can("job.edit"):
            self.focus_now(self.form.open(Tab.JOBS, job))

    def on_job_form_written(self, event: JobForm.Written) -> None:
        """Send what was written; what is refused is in the form again when it is opened."""
        self.form.close()
        self.focus_now(self.table)
        self.console_app.spawn(self._store(event), "storing what was written")

    async def _store(self, event: JobForm.Written) -> None:
        reply = await self.console_app.ask(event.op)
        if reply is None:
            self.form.give_back(event)
            return
        self.console_app.say(_STORED[event.tab])
        if self.wanted:
            # A filter could hide what was just made.
            self.query_one("#filter", Input).value = ""
        made = reply.job or reply.watcher or reply.commitment
        if made is not None:
            self.look_for(event.tab, made.id)
        await self.lists.pager(event.tab).read_now()

    @abstractmethod
    def look_for(self, tab: Tab, number: int) -> None:
        """Put the cursor of a list on a record once it is read."""

    def on_job_form_refused(self, event: JobForm.Refused) -> None:
        """Show what cannot be read."""
        self.console_app.say(event.reason, tone="warning")

    def do_job_review(self) -> None:
        """Go to the card of the job's review; approve it at the second press."""
        if self.review.approve(self.key_of("job.review")):
            self.focus_now(self.query_one("#job-card"))

    # --- at once ----------

    def do_job_run(self) -> None:
        """Make the job due now."""
        if isinstance(self.record, Job) and self.can("job.run"):
            self._send(JobRun(job_id=self.record.id), f"Job {self.record.id} is due now.")

    def do_job_pause(self) -> None:
        """Pause the job, or let it run again."""
        job = self.record
        if not isinstance(job, Job) or not self.can("job.pause"):
            return
        asked = self.console_app.pending.pauses_job(job.id)
        is_paused = job.status is JobStatus.PAUSED if asked is None else asked
        if is_paused:
            self._send(JobResume(job_id=job.id), f"Job {job.id} is resumed.")
        else:
            self._send(JobPause(job_id=job.id), f"Job {job.id} is paused; p resumes it.")

    def do_job_read(self) -> None:
        """Take the result or the match as seen; dismiss the commitment."""
        match self.record:
            case Job(id=job_id, unread_result=True):
                self._send(JobRead(job_id=job_id))
            case Watcher(id=watcher_id, unread=True):
                self._send(WatcherRead(watcher_id=watcher_id))
            case Commitment() as one if not one.status.is_over:
                self._update(one, CommitmentStatus.DISMISSED, "Dismissed; z reopens it.")
            case _:
                pass

    def do_job_done(self) -> None:
        """Complete the commitment."""
        if isinstance(self.record, Commitment) and self.can("job.done"):
            self._update(self.record, CommitmentStatus.COMPLETED, "Done.")

    def do_job_snooze(self) -> None:
        """Put the commitment off by an hour, or take one up again that is over."""
        one = self.record
        if not isinstance(one, Commitment):
            return
        if one.status.is_over:
            self._update(one, CommitmentStatus.PENDING, "Reopened.")
        else:
            self._update(one, CommitmentStatus.SNOOZED, "Snoozed for an hour.")

    def _update(self, one: Commitment, status: CommitmentStatus, done: str) -> None:
        self._send(CommitmentUpdate(commitment_id=one.id, status=status), done)

    def _send(self, op: Op, done: str = "") -> None:
        app = self.console_app
        # From here on it is asked for: the next key may ask for the opposite.
        asked = app.ask(op)

        async def carry_out() -> None:
            if await asked is None:
                return
            if done:
                app.say(done)
            await self.lists.pager(self.tab).read_now()

        app.spawn(carry_out(), type(op).__name__)

    # --- for good ----------

    def do_job_stop(self) -> None:
        """Stop the job or the watcher for good, at the second press."""
        key = self.key_of("job.stop")
        match self.record:
            case Job() as job if self.can("job.stop"):
                op: Op = JobStop(job_id=job.id)
                sentence = f"{key} again stops job {job.id} “{one_line(job.title, 40)}” for good"
            case Watcher() as one if self.can("job.stop"):
                op = WatcherStop(watcher_id=one.id)
                about = f"watcher {one.id} “{one_line(one.title, 40)}”"
                sentence = f"{key} again stops {about} for good"
            case _:
                return
        assert self.record is not None, "something is under the cursor"
        about = f"{self.tab.value}:{self.record.id}"
        if self.console_app.two_acts.confirm("job.stop", about, sentence):
            self._send(op)

    # --- looking ----------

    def do_job_filter(self) -> None:
        """Filter the list."""
        field = self.query_one("#filter", Input)
        field.add_class("-shown")
        self.focus_now(field)

    def do_job_next_list(self) -> None:
        """Show the next list."""
        self._turn(1)

    def do_job_previous_list(self) -> None:
        """Show the list before."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        if self.form.is_shown:
            (self.screen.focus_next if by > 0 else self.screen.focus_previous)("#job-form Input")
            return
        tabs = list(Tab)
        self.turn_to(tabs[(tabs.index(self.tab) + by) % len(tabs)])

    def do_job_replay(self) -> None:
        """Play the newest run of the job again."""
        session_id = self.newest_session()
        if session_id:
            self.console_app.push_screen(ReplayScreen(session_id))

    def do_job_copy(self) -> None:
        """Copy what the detail says."""
        record = self.record
        if record is not None:
            parts = self.lists.detail(record, self.console_app.now_ms())
            self.console_app.copy("".join(text for text, _ in parts))


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
            return not action_id.startswith("job.") or action_id in _ALWAYS


def _can_commitment(action_id: str, commitment: Commitment) -> bool:
    match action_id:
        case "job.done" | "job.read":
            return not commitment.status.is_over
        case "job.snooze" | "job.copy":
            return True
        case _:
            return not action_id.startswith("job.") or action_id in _ALWAYS
