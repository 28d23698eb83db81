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
    from agent.protocol import JobPause, JobResume, JobRun
    from agent.records import Job, QuietHours
    from console.stopping import StopRequest
    from console.stored import Records

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def jobs() -> None:
    """Create, list, pause, run and stop jobs. They run while a console is open."""


@jobs.command(
    epilog="""\b
Examples:
  switchboard jobs create "read the newest message aloud" --every 1h
  switchboard jobs create "check the weather" --cron "30 7 * * 1-5" --timezone Europe/Berlin
  switchboard jobs create "look for new photos" --on device_connected --quiet 22:00-07:00
  switchboard jobs create "clear old notes" --in 10m --device 127.0.0.1:6001 --silent
"""
)
@click.argument("prompt")
@click.option("--title", default="", help="Its name in lists; the prompt's beginning otherwise.")
@click.option("--in", "after", metavar="DURATION", help="First run after this long, like 10m.")
@click.option("--at", metavar="MOMENT", help="First run then, like 18:30 or 2026-01-31T08:00.")
@click.option("--every", metavar="DURATION", help="Run again each such time; 15s at the least.")
@click.option("--cron", default="", metavar="FIELDS", help='Run then, like "0 9 * * 1-5".')
@click.option(
    "--timezone", default="", metavar="ZONE", help="Of --cron and --quiet; default: ours."
)
@click.option(
    "--on",
    "triggers",
    multiple=True,
    type=click.Choice(["device_connected", "console_start", "manual"]),
    help="Run when this happens; may be repeated.",
)
@click.option("--quiet", "quiet_hours", metavar="HH:MM-HH:MM", help="Begin nothing in these hours.")
@click.option("--skip-missed", is_flag=True, help="Leave out times at which nothing was awake.")
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
    cron: str,
    timezone: str,
    triggers: tuple[str, ...],
    quiet_hours: str | None,
    skip_missed: bool,
    serial: str,
    target: str,
    silent: bool,
    notice: str,
    as_json: bool,
) -> None:
    """Store a job whose PROMPT is the goal of the session that it starts."""
    from datetime import datetime

    from agent.protocol import JobCreate
    from agent.records import Misfire, Trigger
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
        cron=cron,
        timezone=timezone,
        on=tuple(Trigger(name) for name in triggers),
        quiet=_quiet(quiet_hours) if quiet_hours else None,
        misfire=Misfire.SKIP if skip_missed else Misfire.ONCE,
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


def _quiet(text: str) -> QuietHours:
    """Read a span of the day. Raises UsageError when it is none."""
    from agent.errors import UsageError
    from agent.records import QuietHours

    since, dash, until = text.replace(" ", "").replace("–", "-").partition("-")
    if not dash:
        raise UsageError(f"{text!r} is no span of the day.", "Write one like 22:00-07:00.")
    return QuietHours(since=since, until=until)


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

    from agent.records import LATEST_MS
    from agent.text import one_line
    from console.plain import span

    on = job.schedule_json.get("on", ())
    events = " or ".join(str(name) for name in on) if isinstance(on, list | tuple) else ""
    if job.next_run_at >= LATEST_MS:
        return f"on {events}" if events else "-"
    if not job.next_run_at:
        return "-"
    moment = datetime.fromtimestamp(job.next_run_at / 1000).astimezone()
    every = job.schedule_json.get("interval_ms", 0)
    again = f", every {span(every)}" if isinstance(every, int) and every > 0 else ""
    cron = job.schedule_json.get("cron", "")
    again = f", cron {one_line(cron, 60)}" if isinstance(cron, str) and cron else again
    return moment.strftime("%Y-%m-%d %H:%M:%S") + again


@jobs.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, job_id: int, as_json: bool) -> None:
    """Show one job: what it does, when, and how it went."""
    from agent.errors import UsageError
    from console import plain
    from console.host import run_with_records

    async def work(core: Records) -> ExitCode:
        found = next((job for job in (await core.overview()).jobs if job.id == job_id), None)
        if found is None:
            raise UsageError(f"There is no job {job_id}.", "List them: switchboard jobs list")
        if as_json:
            plain.print_json(plain.as_builtins(found))
        else:
            plain.print_text(_told(found))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _told(job: Job) -> str:
    """Write a job as lines of name and value."""
    from datetime import datetime

    from agent.text import clean

    def moment(at_ms: int) -> str:
        if not at_ms:
            return "never"
        return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M:%S}"

    facts = (
        ("job", f"{job.id}: {job.title}"),
        ("status", job.status.value),
        ("next run", _when(job)),
        ("last run", moment(job.last_run_at)),
        ("failures", str(job.failure_count)),
        ("session", job.session_target),
        ("phone", str(job.payload_json.get("serial") or "any")),
        ("prompt", job.prompt),
        ("last result", job.last_result or "-"),
    )
    return "\n".join(f"{name:<12}{clean(value, 4_000)}" for name, value in facts)


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


@jobs.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def pause(ctx: click.Context, job_id: int) -> None:
    """Keep a job from running until it is resumed."""
    from agent.protocol import JobPause

    _move(ctx, JobPause(job_id=job_id), f"Paused job {job_id}.")


@jobs.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def resume(ctx: click.Context, job_id: int) -> None:
    """Let a paused job run again."""
    from agent.protocol import JobResume

    _move(ctx, JobResume(job_id=job_id), f"Resumed job {job_id}.")


@jobs.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def run(ctx: click.Context, job_id: int) -> None:
    """Make a job due now; its schedule goes on afterwards."""
    from agent.protocol import JobRun

    _move(ctx, JobRun(job_id=job_id), f"Job {job_id} is due now.")


def _move(ctx: click.Context, op: JobPause | JobResume | JobRun, said: str) -> None:
    from console.host import run_with_core

    async def work(core: Core, owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(op)
        say(said)
        if owned:
            say("Jobs run while a console or the daemon is open.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))
