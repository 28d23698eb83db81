"""The jobs: what is scheduled, looked out for and promised; how it went; new ones, and the end of
them.

Draws what the core gives page by page. Invariants: stopping a job or a watcher, which is for good,
takes two acts; nothing here waits for the core in a key's handler.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.protocol import JobHistory
from agent.records import Commitment, Job, RunRecord, Watcher
from agent.state.reducer import State
from console.keys import actions
from console.screens.jobs.jobs_acts import JobsActs
from console.screens.jobs.jobs_form import JobForm
from console.screens.jobs.jobs_lists import EMPTY, JobLists, Tab
from console.screens.jobs.jobs_review import JobReview
from widgets.base.detail_pane import DetailPane
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import Parts
from widgets.base.row_list import RowList
from widgets.lists.job_rows import job_detail
from widgets.lists.run_plot import SHOWN
from widgets.questions.question_card import QuestionCard

_READ_ON_ROWS = 20
"""So close to the end of what is held, more is read."""


class JobsScreen(JobsActs):
    """The queue, the watchers and the commitments.

    Args:
        tab: which list is shown first.
        number: the record that the cursor is put on, once it is read.
    """

    WHERE = actions.Where.JOBS
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.JOBS)]
    AUTO_FOCUS = "#jobs"

    def __init__(self, tab: Tab = Tab.JOBS, number: int = 0) -> None:
        super().__init__()
        self.tab = tab
        self.wanted = ""
        self._look_for = str(number) if number else ""
        self._cursors: dict[Tab, str] = {}
        self._runs: dict[int, tuple[int, tuple[RunRecord, ...]]] = {}
        self._reading_runs = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="job-table"):
            yield PartsLine(id="job-tabs")
            yield PartsLine(id="job-heading")
            yield RowList(id="jobs", empty=EMPTY[self.tab])
            yield Input(id="filter", placeholder="filter", compact=True)
            yield QuestionCard(id="job-card")
            yield JobForm(id="job-form", now_ms=self.console_app.now_ms)
        yield DetailPane(id="job-detail")

    def on_mount(self) -> None:
        self.lists = JobLists(self.console_app.core, self.console_app.spawn, self._show)
        self.review = JobReview(self.console_app, self.query_one("#job-card", QuestionCard))
        self.lists.pager(self.tab).wish("")

    def _show(self) -> None:
        if self.is_running and self.is_attached:
            self.refresh_all()

    @property
    def table(self) -> RowList:
        """What is listed."""
        return self.query_one("#jobs", RowList)

    @property
    def detail(self) -> DetailPane:
        """What there is to say of the row under the cursor."""
        return self.query_one(DetailPane)

    @property
    def form(self) -> JobForm:
        """What new ones are written in."""
        return self.query_one("#job-form", JobForm)

    @property
    def record(self) -> Job | Watcher | Commitment | None:
        """What the cursor is on."""
        return self.lists.find(self.tab, self.table.cursor_key, self.console_app.bridge.state)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        self.lists.follow(state)
        now_ms = self.console_app.now_ms()
        table = self.table
        width = table.text_width
        pager = self.lists.pager(self.tab)
        table.say_when_empty(self._nothing(pager.is_read))
        self.query_one("#job-tabs", PartsLine).show(self._tabs(state))
        self.query_one("#job-heading", PartsLine).show(self.lists.heading(self.tab, width))
        table.show_rows(self.lists.rows(self.tab, state, now_ms=now_ms, width=width))
        if self._look_for and any(row.key == self._look_for for row in table.rows):
            table.move_to(self._look_for)
            self._look_for = ""
        self._show_detail(now_ms)
        if self.review.show(self.record, now_ms):
            # The card went, or asks something else: what is typed next was not meant for that.
            self.set_focus(table)

    def _nothing(self, is_read: bool) -> str:
        if not is_read:
            return "Reading …"
        return f"Nothing matches “{self.wanted}”." if self.wanted else EMPTY[self.tab]

    def _show_detail(self, now_ms: int) -> None:
        record = self.record
        detail: Parts = (("Nothing is selected.", "$faint"),)
        if isinstance(record, Job):
            self._read_runs(record)
            _, runs = self._runs.get(record.id, (0, ()))
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
            is_here = tab is self.tab
            parts.append((f" {tab.value} ", "bold $foreground reverse" if is_here else "$muted"))
            parts.append((f"{unread[tab]} " if unread[tab] else "", "bold $ask"))
        pager = self.lists.pager(self.tab)
        held = len(pager.records)
        more = " of more" if pager.has_after or pager.has_before else ""
        parts.append((f"  {held}{more}" if pager.is_read else "", "$faint"))
        return tuple(parts)

    # --- reading ----------

    def _read_runs(self, job: Job) -> None:
        """Read the runs of the job under the cursor, once for each of its changes."""
        known = self._runs.get(job.id)
        if self._reading_runs or (known is not None and known[0] == job.updated_at):
            return
        self._reading_runs = True
        self.console_app.spawn(self._fetch_runs(job), "reading the runs of a job")

    async def _fetch_runs(self, job: Job) -> None:
        try:
            reply = await self.console_app.core.request(JobHistory(job_id=job.id, limit=SHOWN))
            self._runs = {job.id: (job.updated_at, reply.runs)}
        except Exception:
            # Said once for this state of the job, not once a second.
            self._runs = {job.id: (job.updated_at, ())}
            raise
        finally:
            self._reading_runs = False
        self._show()

    def newest_session(self) -> str:
        """Return the session of the newest run of the job under the cursor; empty for none."""
        record = self.record
        if not isinstance(record, Job):
            return ""
        _, runs = self._runs.get(record.id, (0, ()))
        return next((run.session_id for run in runs if run.session_id), "")

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        pager = self.lists.pager(self.tab)
        keys = [row.key for row in self.table.rows]
        at = keys.index(event.key) if event.key in keys else 0
        if event.by_operator and at >= len(keys) - _READ_ON_ROWS:
            pager.go_on()
        elif event.by_operator and at < _READ_ON_ROWS:
            pager.go_back()
        self.refresh_all()

    # --- lists, filter, detail ----------

    def look_for(self, tab: Tab, number: int) -> None:
        if tab is self.tab:
            self._look_for = str(number)
        else:
            self._cursors[tab] = str(number)

    def turn_to(self, tab: Tab) -> None:
        """Show another list, where its cursor was."""
        self._cursors[self.tab] = self.table.cursor_key
        self.tab = tab
        self.table.show_rows(())
        self._look_for = self._cursors.get(tab, "")
        self.lists.pager(tab).wish(self.wanted)
        self.refresh_all()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter" and event.value.strip() != self.wanted:
            self.wanted = event.value.strip()
            self.lists.pager(self.tab).wish(self.wanted)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self.focus_now(self.table)

    def on_row_list_opened(self, _event: RowList.Opened) -> None:
        self._read(True)

    def on_detail_pane_left(self, _event: DetailPane.Left) -> None:
        self._read(False)

    def _read(self, whether: bool) -> None:
        """Go to the details, which take the list's place where there is not room for both."""
        self.set_class(whether, "-reading")
        self.focus_now(self.detail if whether else self.table)
        self.call_after_refresh(self.refresh_all)

    def taken_digits(self) -> str:
        card = self.query_one("#job-card", QuestionCard)
        if self.focused is card and card.question is not None:
            return "123456789"[: len(card.question.options)]
        return super().taken_digits()

    def on_question_card_chosen(self, event: QuestionCard.Chosen) -> None:
        """Answer the review with an option."""
        self.review.answer(event.question, event.answer)

    def on_question_card_write(self, _event: QuestionCard.Write) -> None:
        """Show where a reason is written."""
        key = self.key_of("question.next")
        self.console_app.say(f"Press 2 to reject. To write a reason, answer on the Deck: {key}.")

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
        field = self.query_one("#filter", Input)
        if self.form.is_shown:
            self.form.close()
            self.focus_now(self.table)
            return True
        if self.focused is field or self.wanted:
            field.value = ""
            field.remove_class("-shown")
            self.focus_now(self.table)
            return True
        if self.focused is self.query_one("#job-card"):
            self.focus_now(self.table)
            return True
        if self.has_class("-reading") or self.focused is self.detail:
            self._read(False)
            return True
        return False
