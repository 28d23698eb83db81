"""The Jobs screen as its controllers see it: its widgets, and the lists that are read."""

from console.screens.base.console_screen import ConsoleScreen
from console.screens.base.host_grouping import HostGrouping
from console.screens.jobs.jobs_form import JobForm
from console.screens.jobs.jobs_lists import JobLists
from widgets.base.detail_pane import DetailPane
from widgets.base.row_list import RowList


class BaseJobs(ConsoleScreen):
    """The screen's widgets."""

    lists: JobLists
    grouping: HostGrouping

    def show_again(self) -> None:
        """Show what was read, unless the screen is gone by now."""
        if self.is_running and self.is_attached:
            self.refresh_all()

    @property
    def table(self) -> RowList:
        return self.query_one("#jobs", RowList)

    @property
    def detail(self) -> DetailPane:
        """What there is to say of the row under the cursor."""
        return self.query_one(DetailPane)

    @property
    def form(self) -> JobForm:
        """What a job, a watcher or a commitment is written in."""
        return self.query_one("#job-form", JobForm)
