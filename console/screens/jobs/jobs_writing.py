"""Writing on the Jobs screen: the form of a new record, or of a job that is changed.

Invariant: what the core refused is in the form again when it is opened.
"""

from typing import TYPE_CHECKING

from textual.widgets import Input

from agent.records import Job
from console.keys.controllers import Controller
from console.screens.jobs.jobs_acts import can_act
from console.screens.jobs.jobs_browsing import JobBrowser
from console.screens.jobs.jobs_form import JobForm
from console.screens.jobs.jobs_lists import Tab

if TYPE_CHECKING:
    from console.screens.jobs.context import BaseJobs

_STORED = {
    Tab.JOBS: "Job created.",
    Tab.WATCHERS: "Watcher created.",
    Tab.COMMITMENTS: "Commitment created.",
}


class JobWriter(Controller):
    """The form.

    Args:
        screen: where it stands.
        browsing: which list is shown, and the record under its cursor.
    """

    def __init__(self, screen: "BaseJobs", browsing: JobBrowser) -> None:
        self._screen = screen
        self._browsing = browsing

    def can(self, action_id: str) -> bool:
        return can_act(action_id, self._browsing.record, "")

    def do_job_new(self) -> None:
        """Show the form of this list."""
        self._screen.form.devices = self._screen.console_app.bridge.state.devices
        self._screen.focus_now(self._screen.form.open(self._browsing.tab))

    def do_job_edit(self) -> None:
        job = self._browsing.record
        if isinstance(job, Job) and self.can("job.edit"):
            self._screen.focus_now(self._screen.form.open(Tab.JOBS, job))

    def on_job_form_written(self, event: JobForm.Written) -> None:
        self._screen.form.close()
        self._screen.focus_now(self._screen.table)
        self._screen.console_app.spawn(self._store(event), "storing what was written")

    async def _store(self, event: JobForm.Written) -> None:
        screen = self._screen
        reply = await screen.console_app.ask(event.op)
        if reply is None:
            self._screen.form.give_back(event)
            return
        screen.console_app.say(_STORED[event.tab])
        if self._browsing.wanted:
            # A filter could hide what was just made.
            screen.query_one("#filter", Input).value = ""
        made = reply.job or reply.watcher or reply.commitment
        if made is not None:
            self._browsing.look_for(event.tab, made.id)
        await screen.lists.pager(event.tab).read_now()

    def on_job_form_refused(self, event: JobForm.Refused) -> None:
        self._screen.console_app.say(event.reason, tone="warning")

    def back(self) -> bool:
        if not self._screen.form.is_shown:
            return False
        self._screen.form.close()
        self._screen.focus_now(self._screen.table)
        return True
