"""`switchboard jobs`: scheduled work, which starts sessions while a console is open.

A client of the process that owns the data directory when one runs; otherwise it writes the store
itself. Invariant: a job is only kept here; it runs in the process that owns the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.core import Core
    from agent.records import Job
    from console.stopping import StopRequest
    from console.stored import Records

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def jobs() -> None:
    """Create, list and stop jobs. They run while a console is open."""


@jobs.command(
    epilog="""\b
Examples:
  switchboard jobs create "read the newest message aloud" --every 1h
  switchboard jobs create "check the weather" --at 07:30 --title Morning
  switchboard jobs create "clear old notes" --in 10m --device 127.0.0.1:6001 --silent
"""
)
@click.argument("prompt")
@click.option("--title", default="", help="Its name in lists; the prompt's beginning otherwise.")
@click.option("--in", "after", metavar="DURATION", help="First run after this long, like 10m.")
@click.option("--at", metavar="MOMENT", help="First run then, like 18:30 or 2026-01-31T08:00.")
@click.option("--every", metavar="DURATION", help="Run again each such time; 15s at the least.")
@click.option("--device", "serial", default="", metavar="SERIAL", help="Run on this phone.")
@click.option(
    "--target",
    default="main",
    metavar="main|isolated|session:ID",
    show_default=True,
    help="The session that the job speaks to.",
)
@click.option("--silent", is_flag=True, help="No notice when it has run.")
@click.option("--notice", default="", metavar="TEXT", help="Exactly what the notice says.")
@JSON_OPTION
@click.pass_context
def create(
    ctx: click.Context,
    *,
    prompt: str,
    title: str,
    after: str | None,
    at: str | None,
    every: str | None,
    serial: str,
    target: str,
    silent: bool,
    notice: str,
    as_json: bool,
) -> None:
    """Store a job whose PROMPT is the goal of the session that it starts."""
    from datetime import datetime

    from agent.protocol import JobCreate
    from console import plain
    from console.host import run_with_core
    from console.moments import duration_ms, moment_ms
    from console.rack import CONNECTED, NO_DEVICES

    if not prompt.strip():
        raise click.BadParameter("The prompt is empty.", ctx=ctx, param_hint="PROMPT")
    if after and at:
        raise click.UsageError("Give --in or --at, not both.", ctx=ctx)
    now = datetime.now().astimezone()
    first_ms = moment_ms(at, now) if at else 0
    if after:
        first_ms = round(now.timestamp() * 1000) + duration_ms(after)
    op = JobCreate(
        title=title.strip() or _short(prompt),
        prompt=prompt,
        next_run_at=first_ms,
        interval_ms=duration_ms(every) if every else 0,
        session_target=target,
        serial=serial,
        delivery_mode="silent" if silent else "notification",
        notification_text=notice,
    )

    async def work(core: Core, owned: bool, _stop: StopRequest) -> ExitCode:
        reply = await core.request(op)
        assert reply.job is not None
        if as_json:
            plain.print_json(plain.as_builtins(reply.job))
        else:
            plain.print_text(f"Job {reply.job.id}: {_when(reply.job)}")
        if owned:
            say("It runs while a console is open.")
        return ExitCode.DONE

    end(run_with_core(ctx, work, devices=CONNECTED if serial else NO_DEVICES))


def _short(prompt: str) -> str:
    from agent.text import one_line

    return one_line(prompt, 60)


@jobs.command("list")
@click.option("--query", default="", metavar="TEXT", help="Only those with this in them.")
@click.option("--limit", type=click.IntRange(1, 50), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_jobs(ctx: click.Context, query: str, limit: int, as_json: bool) -> None:
    """List jobs, newest first."""
    from console import plain
    from console.host import run_with_records

    async def work(core: Records) -> ExitCode:
        found = [job for job in (await core.overview()).jobs if _fits(job, query)][:limit]
        if as_json:
            plain.print_json({"data": [plain.as_builtins(job) for job in found]})
        elif not found:
            say("No jobs. Make one with: switchboard jobs create PROMPT --every 1h")
        else:
            rows = [
                (str(job.id), job.status.value, _when(job), str(job.failure_count), job.title)
                for job in found
            ]
            plain.print_text(plain.columns(("ID", "STATUS", "NEXT", "FAILURES", "TITLE"), rows))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _fits(job: Job, query: str) -> bool:
    return query.casefold() in f"{job.title}\n{job.prompt}\n{job.status.value}".casefold()


def _when(job: Job) -> str:
    from datetime import datetime

    from console.plain import span

    if not job.next_run_at:
        return "-"
    moment = datetime.fromtimestamp(job.next_run_at / 1000).astimezone()
    every = job.schedule_json.get("interval_ms", 0)
    again = f", every {span(every)}" if isinstance(every, int) and every > 0 else ""
    return moment.strftime("%Y-%m-%d %H:%M:%S") + again


@jobs.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def stop(ctx: click.Context, job_id: int) -> None:
    """Stop a job for good; a run under way is interrupted."""
    from agent.protocol import JobStop
    from console.host import run_with_core

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(JobStop(job_id=job_id))
        say(f"Stopped job {job_id}.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))
