"""The jobs: what is scheduled, when it wakes, how it went; new ones, and stopping them.

Draws the picture's job records. Invariant: stopping a job, which is for good, takes two acts.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input

from agent.errors import UsageError
from agent.protocol import JobCreate, JobStop
from agent.records import Job, JobStatus
from agent.state import State
from agent.text import one_line
from console import actions
from console.moments import duration_ms, moment_ms
from console.screens.base import ConsoleScreen
from widgets.job_rows import heading, job_detail, job_rows
from widgets.lines import PartsLine
from widgets.row_list import RowList

_ENDED = {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.DISPATCHED}
_FIELDS = (
    ("prompt", "what to do", "Write what an agent should do"),
    ("first", "first run", "10m, 18:30 or 2026-01-31T08:00; empty: in 15 s"),
    ("every", "every", "30m, 1d; empty: once"),
)
_TITLE_CHARS = 60


class JobsScreen(ConsoleScreen):
    """The queue."""

    WHERE = actions.Where.JOBS
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.JOBS)]
    AUTO_FOCUS = "#jobs"

    def __init__(self) -> None:
        super().__init__()
        self.wanted = ""

    def compose_body(self) -> ComposeResult:
        with Vertical(id="job-table"):
            yield PartsLine(id="job-heading")
            yield RowList(
                id="jobs",
                empty="No jobs. Press n to have something done later, or again and again.",
            )
            yield Input(id="filter", placeholder="filter", compact=True)
            with Vertical(id="job-form"):
                for name, label, hint in _FIELDS:
                    with Horizontal():
                        yield PartsLine(((label, "$muted"),))
                        yield Input(id=f"job-{name}", placeholder=hint, compact=True)
        with VerticalScroll(id="job-detail", can_focus=False):
            yield PartsLine(id="job-text")

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms = self.console_app.now_ms()
        table = self.query_one("#jobs", RowList)
        words = self.wanted.casefold().split()
        jobs = [job for job in state.jobs.values() if _matches(job, words)]
        self.query_one("#job-heading", PartsLine).show(heading(table.text_width))
        table.show_rows(job_rows(jobs, now_ms=now_ms, width=table.text_width))
        job = self._job()
        detail = self.query_one("#job-text", PartsLine)
        detail.show(job_detail(job, now_ms) if job else (("Nothing is selected.", "$faint"),))

    def _job(self) -> Job | None:
        key = self.query_one("#jobs", RowList).cursor_key
        return self.console_app.bridge.state.jobs.get(int(key)) if key else None

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self.refresh_all()

    def can(self, action_id: str) -> bool:
        job = self._job()
        match action_id:
            case "job.stop":
                return job is not None and job.status not in _ENDED
            case "job.copy":
                return job is not None
            case "screen.jobs":
                return False
            case _:
                return True

    # --- actions ----------

    @property
    def _form(self) -> Vertical:
        return self.query_one("#job-form", Vertical)

    def do_job_new(self) -> None:
        """Show the form."""
        self._form.add_class("-shown")
        self.focus_now(self.query_one("#job-prompt", Input))

    def do_job_stop(self) -> None:
        """Stop the job for good, at the second press."""
        job = self._job()
        if job is None or job.status in _ENDED:
            return
        sentence = f"x again stops job {job.id} “{one_line(job.title, 40)}” for good"
        if self.console_app.two_acts.confirm("job.stop", str(job.id), sentence):
            self.console_app.request(JobStop(job_id=job.id))

    def do_job_filter(self) -> None:
        """Filter the jobs."""
        field = self.query_one("#filter", Input)
        field.add_class("-shown")
        self.focus_now(field)

    def do_job_copy(self) -> None:
        """Copy the job's details."""
        job = self._job()
        if job is not None:
            parts = job_detail(job, self.console_app.now_ms())
            self.console_app.copy("".join(text for text, _ in parts))

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self.wanted = event.value
            self.refresh_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self.focus_now(self.query_one("#jobs", RowList))
            return
        names = [f"job-{name}" for name, _, _ in _FIELDS]
        at = names.index(event.input.id or names[0])
        if at + 1 < len(names):
            self.focus_now(self.query_one(f"#{names[at + 1]}", Input))
            return
        try:
            op = self._read_form()
        except UsageError as error:
            self.console_app.say(str(error), tone="warning")
            return
        self.console_app.request(op, done="The job is stored.")
        self._close_form(clear=True)

    def _read_form(self) -> JobCreate:
        """Make the op. Raises UsageError naming what cannot be read."""
        prompt, first, every = (
            self.query_one(f"#job-{name}", Input).value.strip() for name, _, _ in _FIELDS
        )
        if not prompt:
            raise UsageError("The job does not say what to do.", "Fill in the first line.")
        now = datetime.fromtimestamp(self.console_app.now_ms() / 1000, tz=UTC).astimezone()
        first_ms = 0
        if first and first[0].isdigit() and first[-1].isalpha():
            first_ms = self.console_app.now_ms() + duration_ms(first)
        elif first:
            first_ms = moment_ms(first, now)
        return JobCreate(
            title=one_line(prompt, _TITLE_CHARS),
            prompt=prompt,
            next_run_at=first_ms,
            interval_ms=duration_ms(every) if every else 0,
        )

    def _close_form(self, *, clear: bool) -> None:
        self._form.remove_class("-shown")
        if clear:
            for name, _, _ in _FIELDS:
                self.query_one(f"#job-{name}", Input).value = ""
        self.query_one("#jobs", RowList).focus()

    def back(self) -> bool:
        field = self.query_one("#filter", Input)
        if self._form.has_class("-shown"):
            self._close_form(clear=False)
            return True
        if self.focused is field or self.wanted:
            field.value = ""
            field.remove_class("-shown")
            self.query_one("#jobs", RowList).focus()
            return True
        return False


def _matches(job: Job, words: list[str]) -> bool:
    hay = f"{job.id} {job.title} {job.prompt} {job.status.value} {job.last_result}".casefold()
    return all(word in hay for word in words)
