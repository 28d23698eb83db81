"""`switchboard jobs edit`: change what a stored job does, when, and how it is told of.

Not the checks, which are the core's. Invariant: what is not named stays as it is.
"""

from datetime import datetime

import click

from agent.core import Core
from agent.protocol import JobEdit
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.options import JSON_OPTION
from console.cli_support.time_parsing import duration_ms, moment_ms
from console.commands.jobs.jobs_create import quiet_hours_of
from console.commands.jobs.jobs_look import when
from console.core.host import run_with_core
from console.terminal.signals import StopRequest


@click.command(
    epilog="""\b
Examples:
  switchboard jobs edit 3 --prompt "read the newest message aloud, then say the time"
  switchboard jobs edit 3 --cron "0 8 * * 1-5" --timezone Europe/Berlin
  switchboard jobs edit 3 --every 2h --quiet 22:00-07:00
  switchboard jobs edit 3 --once --no-quiet --silent
"""
)
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.option("--prompt", metavar="TEXT", help="Goal of each run.")
@click.option("--title", metavar="TEXT", help="Its name in lists.")
@click.option("--in", "after", metavar="DURATION", help="Next run after this long, like 10m.")
@click.option(
    "--at", metavar="MOMENT", help="Next run at this time, like 18:30 or 2026-01-31T08:00."
)
@click.option("--every", metavar="DURATION", help="Repeat at this interval, instead of --cron.")
@click.option("--cron", metavar="FIELDS", help="Run at these times, instead of --every.")
@click.option("--once", is_flag=True, help="Remove its interval or cron.")
@click.option(
    "--timezone", metavar="ZONE", help="Time zone of --cron and --quiet; empty for this computer's."
)
@click.option("--quiet", "quiet_hours", metavar="HH:MM-HH:MM", help="Start nothing in these hours.")
@click.option("--no-quiet", is_flag=True, help="Remove its quiet hours.")
@click.option(
    "--notify", "mode", flag_value="notification", help="Send a notice after each run (default)."
)
@click.option(
    "--silent", "mode", flag_value="silent", help="Send no notice; mark the result as unread."
)
@click.option(
    "--none",
    "mode",
    flag_value="none",
    help="Send no notice, and do not mark the result as unread.",
)
@click.option("--notice", metavar="TEXT", help="Text of the notice; empty for the default.")
@JSON_OPTION
@click.pass_context
def edit(
    ctx: click.Context,
    *,
    job_id: int,
    prompt: str | None,
    title: str | None,
    after: str | None,
    at: str | None,
    every: str | None,
    cron: str | None,
    once: bool,
    timezone: str | None,
    quiet_hours: str | None,
    no_quiet: bool,
    mode: str | None,
    notice: str | None,
    as_json: bool,
) -> None:
    """Change a waiting or paused job; omitted options keep their values."""
    if after and at:
        raise click.UsageError("Give --in or --at, not both.", ctx=ctx)
    if once and (every or cron):
        raise click.UsageError("--once cannot be combined with --every or --cron.", ctx=ctx)
    now = datetime.now().astimezone()
    next_ms = moment_ms(at, now) if at else None
    if after:
        next_ms = round(now.timestamp() * 1000) + duration_ms(after)
    op = JobEdit(
        job_id=job_id,
        prompt=prompt,
        title=title,
        next_run_at=next_ms,
        interval_ms=0 if once else duration_ms(every) if every else None,
        cron="" if once else cron,
        timezone=timezone,
        quiet=quiet_hours_of(quiet_hours) if quiet_hours else None,
        without_quiet=no_quiet,
        delivery_mode=mode,
        notification_text=notice,
    )
    if op == JobEdit(job_id=job_id):
        raise click.UsageError("Nothing to change: name an option.", ctx=ctx)

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        job = (await core.request(op)).job
        assert job is not None, "the job is in the reply"
        if as_json:
            plain.print_json(plain.as_builtins(job))
        else:
            plain.print_text(f"Job {job.id}: {when(job)}")
        return ExitCode.DONE

    end(run_with_core(ctx, work))
