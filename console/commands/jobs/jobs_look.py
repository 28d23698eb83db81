"""`switchboard jobs list|show|history`: what is stored of jobs and of their runs.

Invariant: looking changes nothing.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from agent.errors import UsageError
from agent.records import LATEST_SHOWN_MS, Job, JobType, RunRecord, campaign_of
from agent.state.terms import term, without_codes
from agent.text import clean, one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import span
from console.core.command_settings import to_run
from console.core.host import run_with_records

if TYPE_CHECKING:
    from console.core.stored_core import Records


@click.command("list")
@click.option("--query", default="", metavar="TEXT", help="Only those that contain this.")
@click.option("--limit", type=click.IntRange(1, 50), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_jobs(ctx: click.Context, query: str, limit: int, as_json: bool) -> None:
    """List jobs, newest first."""
    from console.core.stored_core import stored_jobs

    async def work(core: Records) -> ExitCode:
        found = await stored_jobs(core, query=query, limit=limit)
        if as_json:
            plain.print_json({"data": [plain.as_builtins(job) for job in found]})
        elif not found:
            say("No jobs. Make one with: switchboard jobs create PROMPT --every 1h")
        else:
            rows = [
                (str(job.id), term(job.status), when(job), str(job.failure_count), job.title)
                for job in found
            ]
            plain.print_text(plain.columns(("ID", "STATUS", "NEXT", "FAILURES", "TITLE"), rows))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def when(job: Job) -> str:
    """Return when a job runs next, and how it recurs."""
    from widgets.lists.job_words import repeat

    on = job.schedule_json.get("on", ())
    events = " or ".join(str(name) for name in on) if isinstance(on, list | tuple) else ""
    if job.next_run_at > LATEST_SHOWN_MS:
        return f"on {events}" if events else "-"
    if not job.next_run_at:
        return "-"
    moment = datetime.fromtimestamp(job.next_run_at / 1000).astimezone()
    every = job.schedule_json.get("interval_ms", 0)
    again = f", every {span(every)}" if isinstance(every, int) and every > 0 else ""
    cron = job.schedule_json.get("cron", "")
    again = f", {repeat(job, with_zone=True)}" if isinstance(cron, str) and cron else again
    return moment.strftime("%Y-%m-%d %H:%M:%S") + again


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.option("-o", "--output", metavar="OUT", help="Write the newest result as data to this file.")
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, job_id: int, output: str | None, as_json: bool) -> None:
    """Show a job: goal, schedule and results."""
    from console.core.stored_core import stored_runs
    from console.runs.campaign import campaign_table
    from console.runs.result_file import check_output, write_result

    if output:
        check_output(output)

    async def work(core: Records) -> ExitCode:
        found, runs = await stored_runs(core, job_id, limit=200)
        newest = next((run for run in runs if run.result_json), None)
        if output:
            if newest is None:
                raise UsageError(
                    f"No stored run of job {job_id} has a result as data.",
                    "Create the job with --output-schema, and wait for a run.",
                )
            write_result(output, newest.result_json)
        if as_json:
            job = plain.as_builtins(found)
            plain.print_json({**job, "data": None if newest is None else _data(newest)})
        else:
            plain.print_text(_job_text(found, newest))
            if found.type is JobType.CAMPAIGN:
                phones = campaign_of(found.payload_json).phones
                plain.print_text(campaign_table(phones, runs))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _data(run: RunRecord) -> dict[str, Any]:
    """Return what a run read, with the session, and the step of it that each value is from."""
    return {
        "run": run.run_id,
        "session_id": run.session_id,
        "result": json.loads(run.result_json),
        "sources": [plain.as_builtins(source) for source in run.sources],
    }


def _job_text(job: Job, newest: RunRecord | None) -> str:
    """Write a job as lines of name and value.

    Args:
        job: the job.
        newest: its newest run with a result as data.
    """
    from widgets.lists.job_words import delivery_words, quiet, session_words, where

    def moment(at_ms: int) -> str:
        if not at_ms:
            return "never"
        return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M:%S}"

    facts = (
        ("job", f"{job.id}: {job.title}"),
        ("status", term(job.status)),
        ("next run", when(job)),
        *((("quiet", quiet(job)),) if quiet(job) else ()),
        ("last run", moment(job.last_run_at)),
        ("failures", str(job.failure_count)),
        ("session", session_words(job.session_target)),
        ("phone", where(job)),
        ("on result", delivery_words(job)),
        ("prompt", job.prompt),
        *((("progress", job.progress_text),) if job.progress_text else ()),
        (
            "last result",
            (without_codes(job.last_result) or "-") + (" (not read)" if job.unread_result else ""),
        ),
        *(() if newest is None else (("data", newest.result_json),)),
        *(_review(job)),
    )
    return "\n".join(f"{name:<12}{clean(value, 4_000)}" for name, value in facts)


def _review(job: Job) -> tuple[tuple[str, str], ...]:
    """Return what of a job waits for a review, until when, and how to answer."""
    from widgets.lists.job_words import pending_review

    waits = pending_review(job)
    if waits is None:
        return ()
    until = datetime.fromtimestamp(waits.until_ms / 1000).astimezone()
    answer = to_run(f"sessions answer {waits.session_id} --answer Approve") + " (or Deny)"
    return (
        ("waits for", waits.what),
        ("until", f"{until:%Y-%m-%d %H:%M:%S}, then the answer is no" if waits.until_ms else "-"),
        ("answer", answer),
    )


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@JSON_OPTION
@click.pass_context
def history(ctx: click.Context, job_id: int, limit: int, as_json: bool) -> None:
    """List the runs of a job, newest first: when, how long, their result and session."""
    from console.core.stored_core import stored_runs

    async def work(core: Records) -> ExitCode:
        _, runs = await stored_runs(core, job_id, limit=limit)
        if as_json:
            plain.print_json({"data": [plain.as_builtins(run) for run in runs]})
        elif not runs:
            say(f"Job {job_id} has not run yet.")
        else:
            plain.print_text(plain.columns(_HISTORY, [_run_row(run) for run in runs]))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


_HISTORY = ("BEGAN", "TOOK", "OUTCOME", "STEPS", "MODEL", "SESSION", "WHY OR RESULT")


def _run_row(run: RunRecord) -> tuple[str, ...]:
    began = datetime.fromtimestamp(run.started_at / 1000).astimezone()
    return (
        f"{began:%Y-%m-%d %H:%M:%S}",
        span(run.ended_at - run.started_at) if run.ended_at else "-",
        term(run.outcome or run.status),
        str(run.steps),
        span(run.time.model_ms) if run.time.model_ms else "-",
        run.session_id or "-",
        one_line(without_codes(run.diagnostics or run.result), 80) or "-",
    )
