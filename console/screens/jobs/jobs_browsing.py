"""Which list the Jobs screen shows, where its cursor is, what it is filtered by; and the details.

Invariant: each list keeps its own cursor.
"""

from typing import TYPE_CHECKING

from textual.widgets import Input

from agent.protocol import JobHistory
from agent.records import Commitment, Job, RunRecord, Watcher
from agent.state.reducer import State
from console.keys.controllers import Controller
from console.screens.history.replay import ReplayScreen
from console.screens.jobs.jobs_acts import can_act
from console.screens.jobs.jobs_lists import EMPTY, Tab
from widgets.base.detail_pane import DetailPane
from widgets.base.formatting import quoted
from widgets.base.row_list import RowList
from widgets.lists.groups import by_host
from widgets.lists.run_plot import SHOWN

if TYPE_CHECKING:
    from console.base_app import ConsoleApp
    from console.screens.jobs.context import BaseJobs

_READ_ON_ROWS = 20  # So close to the end of what is held, more is read.


class JobBrowser(Controller):
    """The lists.

    Args:
        screen: where they are shown.
        tab: which is shown first.
        number: the record that the cursor is put on, once it is read; 0 for none.
    """

    def __init__(self, screen: "BaseJobs", tab: Tab, number: int) -> None:
        self._screen = screen
        self.tab = tab
        self.wanted = ""
        """The words of the filter."""
        self._look_for = str(number) if number else ""
        self._cursors: dict[Tab, str] = {}
        self._runs: dict[int, tuple[int, tuple[RunRecord, ...]]] = {}
        self._reading_runs = False

    @property
    def _filter(self) -> Input:
        return self._screen.query_one("#filter", Input)

    @property
    def record(self) -> Job | Watcher | Commitment | None:
        state = self._screen.console_app.bridge.state
        return self._screen.lists.find(self.tab, self._screen.table.cursor_key, state)

    def can(self, action_id: str) -> bool:
        return can_act(action_id, self.record, "")

    def show(self, state: State, now_ms: int) -> None:
        """Show the rows, the cursor where it belongs."""
        table, lists = self._screen.table, self._screen.lists
        table.say_when_empty(self._nothing(lists.pager(self.tab).is_read))
        rows = lists.rows(self.tab, state, now_ms=now_ms, width=table.text_width)
        if self._screen.grouping.is_on:
            hosts = [one.host for one in lists.held(self.tab, state)]
            pager = lists.pager(self.tab)
            more = "+" if pager.has_after or pager.has_before else ""
            known = self._screen.console_app.bridge.hosts_by_name
            rows = by_host(zip(hosts, rows, strict=True), known, more=more)
        table.show_rows(rows)
        if self._look_for and any(row.key == self._look_for for row in table.rows):
            table.move_to(self._look_for)
            self._look_for = ""

    def _nothing(self, is_read: bool) -> str:
        if not is_read:
            return "Reading …"
        if self.wanted:
            return f"Nothing matches {quoted(self.wanted, 80)}."
        return self._screen.if_known(*EMPTY[self.tab])

    # --- keys ----------

    def do_job_filter(self) -> None:
        self._filter.add_class("-shown")
        self._screen.focus_now(self._filter)

    def do_job_next_list(self) -> None:
        self._turn(1)

    def do_job_previous_list(self) -> None:
        self._turn(-1)

    def _turn(self, by: int) -> None:
        screen = self._screen
        if screen.form.is_shown:
            (screen.focus_next if by > 0 else screen.focus_previous)("#job-form Input")
            return
        tabs = list(Tab)
        self._turn_to(tabs[(tabs.index(self.tab) + by) % len(tabs)])

    def back(self) -> bool:
        screen, field = self._screen, self._filter
        if screen.focused is field or self.wanted:
            field.value = ""
            field.remove_class("-shown")
            screen.focus_now(screen.table)
        elif screen.focused is screen.query_one("#job-card"):
            screen.focus_now(screen.table)
        elif screen.has_class("-reading") or screen.focused is screen.detail:
            self._read(False)
        else:
            return False
        return True

    # --- the cursor, the filter, the details ----------

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        pager = self._screen.lists.pager(self.tab)
        keys = [row.key for row in self._screen.table.rows]
        at = keys.index(event.key) if event.key in keys else 0
        if event.by_operator and at >= len(keys) - _READ_ON_ROWS:
            pager.go_on()
        elif event.by_operator and at < _READ_ON_ROWS:
            pager.go_back()
        self._screen.refresh_all()

    def look_for(self, tab: Tab, number: int) -> None:
        """Put the cursor of a list on a record once it is read."""
        if tab is self.tab:
            self._look_for = str(number)
        else:
            self._cursors[tab] = str(number)

    def _turn_to(self, tab: Tab) -> None:
        """Show another list, where its cursor was."""
        self._cursors[self.tab] = self._screen.table.cursor_key
        self.tab = tab
        self._screen.table.show_rows(())
        self._look_for = self._cursors.get(tab, "")
        self._screen.lists.pager(tab).wish(self.wanted)
        self._screen.refresh_all()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter" and event.value.strip() != self.wanted:
            self.wanted = event.value.strip()
            self._screen.lists.pager(self.tab).wish(self.wanted)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self._screen.focus_now(self._screen.table)

    def on_row_list_opened(self, _event: RowList.Opened) -> None:
        self._read(True)

    def on_detail_pane_left(self, _event: DetailPane.Left) -> None:
        self._read(False)

    def _read(self, whether: bool) -> None:
        """Go to the details, which take the list's place where there is not room for both."""
        self._screen.set_class(whether, "-reading")
        self._screen.focus_now(self._screen.detail if whether else self._screen.table)
        self._screen.call_after_refresh(self._screen.refresh_all)

    # --- what the acts are told (`JobList`) ----------

    @property
    def ops(self) -> "ConsoleApp":
        return self._screen.console_app

    def key_of(self, action_id: str) -> str:
        return self._screen.key_of(action_id)

    async def read_now(self) -> None:
        await self._screen.lists.pager(self.tab).read_now()

    def show_replay(self, session_id: str) -> None:
        self.ops.push_screen(ReplayScreen(session_id))

    def copy_detail(self) -> None:
        record = self.record
        if record is not None:
            parts = self._screen.lists.detail(record, self.ops.now_ms())
            self.ops.copy("".join(text for text, _ in parts))

    def newest_session(self) -> str:
        record = self.record
        if not isinstance(record, Job):
            return ""
        _, runs = self._runs.get(record.id, (0, ()))
        return next((run.session_id for run in runs if run.session_id), "")

    def runs_of(self, job: Job) -> tuple[RunRecord, ...]:
        """Return the runs of a job as far as they are known; reads them once for each change."""
        changed, runs = self._runs.get(job.id, (-1, ()))
        if not self._reading_runs and changed != job.updated_at:
            self._reading_runs = True
            self.ops.spawn(self._fetch_runs(job), "reading the runs of a job")
        return runs

    async def _fetch_runs(self, job: Job) -> None:
        try:
            reply = await self.ops.core.request(JobHistory(job_id=job.id, limit=SHOWN))
            self._runs = {job.id: (job.updated_at, reply.runs)}
        except Exception:
            # Said once for this state of the job, not once a second.
            self._runs = {job.id: (job.updated_at, ())}
            raise
        finally:
            self._reading_runs = False
        self._screen.show_again()
