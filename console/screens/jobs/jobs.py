"""The jobs: what is scheduled, looked out for and promised; how it went; new ones, and the end of
them.

Draws what the core gives page by page. Invariants: stopping a job or a watcher, which is for good,
takes two acts; nothing here waits for the core in a key's handler.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.records import Job
from agent.state.reducer import State
from console.keys import actions
from console.screens.base.host_grouping import HostGrouping
from console.screens.jobs.context import BaseJobs
from console.screens.jobs.jobs_acts import JobActs
from console.screens.jobs.jobs_browsing import JobBrowser
from console.screens.jobs.jobs_form import JobForm
from console.screens.jobs.jobs_lists import EMPTY, JobLists, Tab
from console.screens.jobs.jobs_review import JobReview
from console.screens.jobs.jobs_writing import JobWriter
from widgets.base.detail_pane import DetailPane
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Parts
from widgets.lists.job_rows import job_detail
from widgets.questions.question_card import QuestionCard


class JobsScreen(BaseJobs):
    """The queue, the watchers and the commitments.

    Args:
        tab: which list is shown first.
        number: the record that the cursor is put on, once it is read.
    """

    WHERE = actions.Where.JOBS
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.JOBS)]
    AUTO_FOCUS = "#jobs"
    CONTROLLERS = (JobWriter, JobReview, JobBrowser, JobActs, HostGrouping)

    def __init__(self, tab: Tab = Tab.JOBS, number: int = 0) -> None:
        super().__init__()
        self.browsing = JobBrowser(self, tab, number)
        self.writing = JobWriter(self, self.browsing)
        self.review = JobReview(self, self.browsing)
        self.grouping = HostGrouping(self)
        self.controllers = (
            self.writing,
            self.review,
            self.browsing,
            JobActs(self.browsing),
            self.grouping,
        )

    def compose_body(self) -> ComposeResult:
        with Vertical(id="job-table"):
            yield PartsLine(id="job-tabs")
            yield PartsLine(id="job-heading")
            yield RowList(id="jobs", empty=self.if_known(*EMPTY[self.browsing.tab]))
            yield Input(id="filter", placeholder="filter", compact=True)
            yield QuestionCard(id="job-card", only_looks=self.console_app.only_looks)
            yield JobForm(id="job-form", now_ms=self.console_app.now_ms)
        yield DetailPane(id="job-detail")

    def on_mount(self) -> None:
        self.lists = JobLists(self.console_app.core, self.console_app.spawn, self.show_again)
        self.lists.pager(self.browsing.tab).wish("")

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        self.lists.follow(state)
        now_ms = self.console_app.now_ms()
        heading = self.lists.heading(self.browsing.tab, self.table.text_width)
        self.query_one("#job-tabs", PartsLine).show(self._tabs(state))
        self.query_one("#job-heading", PartsLine).show(heading)
        self.browsing.show(state, now_ms)
        self._show_detail(now_ms)
        if self.review.show(self.browsing.record, now_ms):
            # The card went, or asks something else: what is typed next was not meant for that.
            self.set_focus(self.table)

    def _show_detail(self, now_ms: int) -> None:
        record = self.browsing.record
        detail: Parts = (("Nothing is selected.", "$faint"),)
        if isinstance(record, Job):
            runs = self.browsing.runs_of(record)
            detail = job_detail(record, now_ms, runs, self.console_app.bridge.state.devices)
        elif record is not None:
            detail = self.lists.detail(record, now_ms)
        self.detail.show(detail)

    def _tabs(self, state: State) -> Parts:
        due = sum(one.status.value == "fired" for one in state.commitments.values())
        unread = {
            Tab.JOBS: sum(job.unread_result for job in state.jobs.values()),
            Tab.WATCHERS: sum(one.unread for one in state.watchers.values()),
            Tab.COMMITMENTS: due,
        }
        parts: list[tuple[str, str]] = [(" ", "")]
        for tab in Tab:
            is_here = tab is self.browsing.tab
            parts.append((f" {tab.value} ", "bold $foreground reverse" if is_here else "$muted"))
            parts.append((f"{unread[tab]} " if unread[tab] else "", "bold $ask"))
        pager = self.lists.pager(self.browsing.tab)
        held = len(pager.records)
        more = " of more" if pager.has_after or pager.has_before else ""
        parts.append((f"  {held}{more} listed" if pager.is_read else "", "$faint"))
        return tuple(parts)

    # --- keys ----------

    def taken_digits(self) -> str:
        card = self.query_one("#job-card", QuestionCard)
        if self.focused is card and card.question is not None:
            return "123456789"[: len(card.question.options)]
        return super().taken_digits()

    def can(self, action_id: str) -> bool:
        if not self.is_composed or action_id == "screen.jobs":
            return action_id != "screen.jobs"
        return super().can(action_id)

    def footer_keys(self) -> list[tuple[str, str]]:
        if self.form.is_shown and isinstance(self.focused, Input):
            word = "store it" if self.form.is_last(self.focused) else "next line"
            return [("enter", word), ("tab", "next line"), ("esc", "back")]
        keys = super().footer_keys()
        if self.focused is self.query_one("#job-card"):
            return [("1-2", "choose"), (self.key_of("job.review"), "approve"), ("esc", "list")]
        if self.focused is self.detail:
            return [("enter", "list"), *keys]
        if self.focused is self.table and self.table.rows:
            return [("enter", "details"), *keys]
        return keys

    def back(self) -> bool:
        return any(controller.back() for controller in self.controllers)
