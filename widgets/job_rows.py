"""Rows of the job table, and the detail of one job.

Pure functions from job records to rows. Invariant: columns line up at every width they fit.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.records import Job, JobStatus
from agent.text import clean, one_line
from widgets import phrases, status
from widgets.parts import Parts
from widgets.row_list import Line, Row

_WAKES = {JobStatus.ACTIVE, JobStatus.QUEUED, JobStatus.WAITING}


def ordered(jobs: Iterable[Job]) -> list[Job]:
    """Order jobs: what wakes next first, then what has ended, newest first."""
    return sorted(
        jobs,
        key=lambda job: (
            job.status in {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED},
            job.next_run_at if job.status in _WAKES else 0,
            -job.updated_at,
        ),
    )


def wake(job: Job, now_ms: int) -> str:
    """Say when a job runs next."""
    if job.status is JobStatus.RUNNING:
        return "now"
    if job.status not in _WAKES or not job.next_run_at:
        return "—"
    left = job.next_run_at - now_ms
    return "due" if left <= 0 else f"in {phrases.clock(left)}"


def repeat(job: Job) -> str:
    """Say how often a job runs."""
    every = job.schedule_json.get("interval_ms", 0)
    return phrases.interval(every if isinstance(every, int) else 0)


HEADINGS = (("status", 12), ("next", 11), ("every", 8), ("fails", 6))


def heading(width: int) -> Parts:
    """Write the heading that stands over `job_rows`."""
    columns = "".join(f"{name:<{size}}" for name, size in _columns(width))
    return ((f"  {columns}title", "$faint"),)


def _columns(width: int) -> tuple[tuple[str, int], ...]:
    return HEADINGS if width >= 70 else HEADINGS[:2]


def job_rows(jobs: Iterable[Job], *, now_ms: int, width: int) -> list[Row]:
    """List jobs, one line each."""
    rows: list[Row] = []
    for job in ordered(jobs):
        mark = status.JOB[job.status]
        cells: dict[str, tuple[str, str]] = {
            "status": (f"{mark.glyph} {mark.word}", mark.style),
            "next": (wake(job, now_ms), "$foreground"),
            "every": (repeat(job), "$muted"),
            "fails": (str(job.failure_count or "·"), "$bad" if job.failure_count else "$faint"),
        }
        line: list[tuple[str, str]] = []
        for name, size in _columns(width):
            text, style = cells[name]
            line.append((f"{text[: size - 1]:<{size}}", style))
        line.append((one_line(job.title or job.prompt, 200), "$foreground"))
        result = one_line(job.last_result, 60)
        right: Parts = ((result, "$muted"),) if result and width >= 100 else ()
        rows.append(Row(str(job.id), (Line(tuple(line), right),)))
    return rows


def job_detail(job: Job, now_ms: int) -> Parts:
    """Write everything there is to say of a job, as lines of name and value."""
    mark = status.JOB[job.status]
    told: list[tuple[str, str, str]] = [
        ("status", f"{mark.glyph} {mark.word}", mark.style),
        ("number", str(job.id), "$foreground"),
        ("kind", job.type.value.replace("_", " "), "$foreground"),
        ("next run", wake(job, now_ms), "$foreground"),
        ("every", repeat(job), "$foreground"),
        ("last run", _ago(job.last_run_at, now_ms), "$foreground"),
        ("failures", str(job.failure_count), "$bad" if job.failure_count else "$foreground"),
        ("session", one_line(job.session_target, 60) or "—", "$foreground"),
        ("created", _ago(job.created_at, now_ms), "$foreground"),
    ]
    parts: list[tuple[str, str]] = [(one_line(job.title, 200) + "\n\n", "bold $foreground")]
    for name, value, style in told:
        parts += [(f"{name:<10}", "$faint"), (f"{value}\n", style)]
    if job.prompt:
        parts += [("\nprompt\n", "$faint"), (clean(job.prompt, 2_000) + "\n", "$foreground")]
    if job.last_result:
        parts += [("\nlast result\n", "$faint"), (clean(job.last_result, 2_000), "$foreground")]
    return tuple(parts)


def _ago(at_ms: int, now_ms: int) -> str:
    if not at_ms:
        return "never"
    passed = phrases.age(now_ms - at_ms)
    return passed if passed == "now" else f"{passed} ago"
