"""Rows of the job table, and the detail of one job with its runs.

Pure functions from job records to rows. Invariant: columns line up at every width they fit.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rich.cells import cell_len

from agent.records import LATEST_SHOWN_MS, DeviceInfo, Job, JobStatus, RunOutcome, RunRecord
from agent.state.terms import term
from agent.text import clean, one_line
from widgets.base import formatting, status
from widgets.base.rows import Line, Parts, Row
from widgets.lists import columns, job_words
from widgets.lists.columns import Column
from widgets.lists.run_plot import run_mark, run_plot

_WAKES = {JobStatus.ACTIVE, JobStatus.QUEUED, JobStatus.WAITING}
_NORMAL_FROM, _LAST_FROM, _WIDE_FROM, _RESULT_FROM, _TYPE_FROM = 62, 72, 90, 100, 105
_BESIDE = 5
"""Columns of a row that are neither title nor result: the gutter, the gap and the list's margin."""
_RESULT_LEAST = 12
_WHY_CHARS = 160
_RUNS_LISTED = 10
_NAME_CELLS = 10  # Of a fact in the detail.


def wake(job: Job, now_ms: int) -> str:
    """Return when a job runs next."""
    if job.status is JobStatus.RUNNING:
        return "now"
    if job.status not in _WAKES or not job.next_run_at:
        return "—"
    if job.next_run_at > LATEST_SHOWN_MS:
        return "on event"
    left = job.next_run_at - now_ms
    return "due" if left <= 0 else f"in {formatting.countdown(left)}"


def heading(width: int) -> Parts:
    """Write the heading that stands over `job_rows`."""
    return columns.heading(_COLUMNS, width)


def _status(job: Job, now_ms: int) -> tuple[str, str]:
    mark = status.JOB[job.status]
    return f"{mark.glyph} {mark.word}", mark.style


def _fails(job: Job, now_ms: int) -> tuple[str, str]:
    return str(job.failure_count or "·"), "$bad" if job.failure_count else "$faint"


def _last(job: Job, now_ms: int) -> tuple[str, str]:
    # When the run before this one ended: a job that is running says so under "next".
    return _ago(job.last_run_at, now_ms), "$muted" if job.last_run_at else "$faint"


_COLUMNS: tuple[Column[Job], ...] = (
    Column("status", ((0, 13),), _status),
    Column("type", ((_TYPE_FROM, 10),), lambda job, now_ms: (term(job.type), "$muted")),
    Column("next", ((0, 12),), lambda job, now_ms: (wake(job, now_ms), "$foreground")),
    Column("last run", ((_LAST_FROM, 9),), _last),
    Column(
        "every",
        ((_NORMAL_FROM, 13), (_WIDE_FROM, 18)),
        lambda job, now_ms: (job_words.repeat(job), "$muted"),
    ),
    Column("fails", ((_NORMAL_FROM, 6),), _fails),
)
"""The columns of the table: all that a column is stands in its row."""


def job_rows(jobs: Iterable[Job], *, now_ms: int, width: int) -> list[Row]:
    """List jobs in the order given, one line each."""
    rows: list[Row] = []
    for job in jobs:
        line = list(columns.cells(_COLUMNS, job, now_ms=now_ms, width=width))
        if job.unread_result:
            line.append(("◎ ", "$ask"))
        title = one_line(job.title or job.prompt, 200)
        line.append((title, "$foreground"))
        # A row's left part gives way, and a job is known by its title.
        room = width - sum(cell_len(text) for text, _ in line) - _BESIDE
        result = one_line(_told_of(job), min(room, 60)) if room >= _RESULT_LEAST else ""
        right: Parts = ((result, "$muted"),) if result and width >= _RESULT_FROM else ()
        rows.append(Row(str(job.id), (Line(tuple(line), right),)))
    return rows


def _told_of(job: Job) -> str:
    """Return what the list says of the newest run: the notice's words, never the result itself."""
    if not job.last_run_at or job.status in {JobStatus.RUNNING, JobStatus.AWAITING_REVIEW}:
        return ""
    if job.is_failing:
        return "failed"
    return job.notice_text


def job_detail(
    job: Job,
    now_ms: int,
    runs: Sequence[RunRecord] = (),
    devices: Mapping[str, DeviceInfo] = MappingProxyType({}),
) -> Parts:
    """Write everything there is to say of a job, as lines of name and value, and its runs.

    Args:
        runs: the newest first.
        devices: the phones, for what they are called.
    """
    mark = status.JOB[job.status]
    times = job_words.next_times(job) if job.status in _WAKES else ()
    unread = ", not read yet" if job.unread_result else ""
    facts: list[tuple[str, str, str]] = [
        ("status", f"{mark.glyph} {mark.word}", mark.style),
        ("number", str(job.id), "$foreground"),
        ("kind", term(job.type), "$foreground"),
        ("next run", wake(job, now_ms), "$foreground"),
        *((("times", _below(times), "$foreground"),) if times else ()),
        ("every", job_words.repeat(job, with_zone=True), "$foreground"),
        ("last run", f"{_ago(job.last_run_at, now_ms)}{unread}", "$foreground"),
        ("failures", str(job.failure_count), "$bad" if job.failure_count else "$foreground"),
        ("session", job_words.session_words(job.session_target), "$foreground"),
        ("phone", job_words.where(job, devices), "$foreground"),
        *((("quiet", job_words.quiet(job), "$foreground"),) if job_words.quiet(job) else ()),
        ("on result", job_words.delivery_words(job), "$foreground"),
        ("created", _ago(job.created_at, now_ms), "$foreground"),
    ]
    if job.phase:
        facts.insert(1, ("phase", job_words.phase_words(job.phase), "$warn"))
    parts: list[tuple[str, str]] = [(one_line(job.title, 200) + "\n\n", "bold $foreground")]
    if job.is_failing and job.last_result and job.phase not in job_words.REVIEW_PHASES:
        # Why is what is looked for; the whole of it stands below.
        parts.append(
            (f"{one_line(job_words.result_words(job.last_result), _WHY_CHARS)}\n\n", "$bad")
        )
    for name, value, style in facts:
        parts += [(f"{name:<{_NAME_CELLS}}", "$faint"), (f"{value}\n", style)]
    parts += _asks(job, now_ms)
    if job.prompt:
        parts += [("\nprompt\n", "$faint"), (clean(job.prompt, 2_000) + "\n", "$foreground")]
    if job.last_result and job.phase not in job_words.REVIEW_PHASES:
        parts += [
            ("\nlast result\n", "$faint"),
            (job_words.result_words(job.last_result) + "\n", "$foreground"),
        ]
    return (*parts, *run_plot(runs), *_runs(runs[:_RUNS_LISTED], now_ms))


def _below(lines: Sequence[str]) -> str:
    """Write lines one below the other, where the values of the facts stand."""
    return ("\n" + " " * _NAME_CELLS).join(lines)


def _asks(job: Job, now_ms: int) -> Parts:
    """Return what a job wants reviewed, how long it waits, and where that is answered."""
    waits = job_words.pending_review(job)
    if waits is None:
        return ()
    left_ms = waits.until_ms - now_ms
    left = f"{formatting.time_left(left_ms)} left, then the answer is no. " if left_ms > 0 else ""
    return (
        ("\nasks\n", "$faint"),
        (f"{waits.what}\n", "$ask"),
        (f"{left}Its card is on this screen.\n", "$muted"),
    )


def _runs(runs: Iterable[RunRecord], now_ms: int) -> Parts:
    """List the runs of a job, the newest first, each with where its time went."""
    parts: list[tuple[str, str]] = []
    for run in runs:
        if not parts:
            parts.append(("\nruns\n", "$faint"))
        word, style = _outcome(run)
        ended_ms = run.ended_at or now_ms
        took = formatting.duration(max(0, ended_ms - run.started_at))
        parts += [
            (f"{_ago(run.started_at, now_ms):>8}  ", "$muted"),
            (f"{word}\n", style),
            (f"          {took}, {run.steps} step{'s' * (run.steps != 1)}\n", "$foreground"),
        ]
        if split := _split(run):
            parts.append((f"          {split}\n", "$muted"))
        if run.diagnostics:
            parts.append(
                (f"          {one_line(job_words.result_words(run.diagnostics), 300)}\n", "$warn")
            )
        if run.session_id:
            parts.append((f"          session {one_line(run.session_id, 40)}\n", "$faint"))
    return tuple(parts)


def _outcome(run: RunRecord) -> tuple[str, str]:
    if run.outcome is None:
        return run.status.value.replace("_", " "), "$live"
    mark = run_mark(run)
    is_finished = run.outcome is RunOutcome.FINISHED
    return f"{mark.glyph} {mark.word if is_finished else term(run.outcome)}", mark.style


def _split(run: RunRecord) -> str:
    """Return where a run's time went, the longest first."""
    spent = {
        "model": run.time.model_ms,
        "phone": run.time.observe_ms + run.time.act_ms + run.time.settle_ms,
        "idle": run.time.idle_ms,
        "for a phone": run.waited_ms,
        "for your word": run.reviewed_ms,
    }
    said = [
        f"{name} {formatting.duration(ms)}"
        for name, ms in sorted(spent.items(), key=lambda one: -one[1])
        if ms > 0
    ]
    return " · ".join(said)


def _ago(at_ms: int, now_ms: int) -> str:
    return formatting.ago(now_ms - at_ms) if at_ms else "never"
