"""`switchboard jobs create`: hand in work that runs by itself.

Not the checks, which are the core's. Invariant: a job is only kept here; it runs in the process
that owns the store.
"""

from datetime import datetime
from secrets import token_hex

import click

from agent.core import Core
from agent.errors import UsageError
from agent.protocol import JobCreate
from agent.records import JobType, Misfire, QuietHours, Trigger
from agent.text import one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.time_parsing import duration_ms, moment_ms
from console.commands.jobs.jobs_look import when
from console.commands.session_options import NEEDS, REQUIRE
from console.core.device_setup import CONNECTED, NO_DEVICES
from console.core.host import run_with_core
from console.terminal.signals import StopRequest


@click.command(
    epilog="""\b
Examples:
  switchboard jobs create "read the newest message aloud" --every 1h
  switchboard jobs create "check the weather" --cron "30 7 * * 1-5" --timezone Europe/Berlin
  switchboard jobs create "look for new photos" --on device_connected --quiet 22:00-07:00
  switchboard jobs create "clear old notes" --in 10m --device 127.0.0.1:6001 --silent
"""
)
@click.argument("prompt")
@click.option("--title", default="", help="Title in lists; default: the start of the prompt.")
@click.option("--in", "after", metavar="DURATION", help="First run after this long, like 10m.")
@click.option(
    "--at", metavar="MOMENT", help="First run at this time, like 18:30 or 2026-01-31T08:00."
)
@click.option("--every", metavar="DURATION", help="Repeat at this interval, at least 15s.")
@click.option(
    "--cron", default="", metavar="FIELDS", help='Run at these times, like "0 9 * * 1-5".'
)
@click.option(
    "--timezone",
    default="",
    metavar="ZONE",
    help="Time zone of --cron and --quiet; default: this computer's.",
)
@click.option(
    "--on",
    "triggers",
    multiple=True,
    type=click.Choice(
        ["device_connected", "device_booted", "app_updated", "console_start", "manual"]
    ),
    help="Run when this happens; repeatable.",
)
@click.option("--quiet", "quiet_hours", metavar="HH:MM-HH:MM", help="Start nothing in these hours.")
@click.option(
    "--skip-missed", is_flag=True, help="Skip times that passed while nothing was running."
)
@click.option("--device", "serial", default="", metavar="SERIAL", help="Run on this phone.")
@click.option("--app", default="", help="Run on a phone that has this app, by package or name.")
@click.option("--tag", "tags", multiple=True, help="Run on a phone with this tag; repeatable.")
@NEEDS
@click.option(
    "--type",
    "job_type",
    type=click.Choice(["agent_turn", "system_event", "heartbeat"]),
    default="agent_turn",
    show_default=True,
    help="What it does.",
)
@click.option(
    "--target",
    default="main",
    metavar="main|isolated|session:ID",
    show_default=True,
    help="The session it uses.",
)
@click.option(
    "--output-schema", metavar="FILE", help="JSON Schema that each run's result must match."
)
@click.option("--silent", is_flag=True, help="Send no notice; mark the result as unread.")
@click.option(
    "--none",
    "quiet_delivery",
    is_flag=True,
    help="Send no notice, and do not mark the result as unread.",
)
@click.option("--notice", default="", metavar="TEXT", help="Text of the notice.")
@REQUIRE
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
    app: str,
    tags: tuple[str, ...],
    needs: str,
    job_type: str,
    target: str,
    output_schema: str | None,
    silent: bool,
    quiet_delivery: bool,
    notice: str,
    require: tuple[str, ...],
    as_json: bool,
) -> None:
    """Create a job whose prompt is the goal of its sessions."""
    from console.runs.result_file import read_schema_file

    if not _short(prompt):
        raise click.BadParameter("The prompt is empty.", ctx=ctx, param_hint="PROMPT")
    if after and at:
        raise click.UsageError("Give --in or --at, not both.", ctx=ctx)
    if silent and quiet_delivery:
        raise click.UsageError("Give --silent or --none, not both.", ctx=ctx)
    if notice and (silent or quiet_delivery):
        raise click.UsageError(
            "Give --notice without --silent and --none: they show no notice.", ctx=ctx
        )
    if timezone and not (cron or quiet_hours):
        raise click.UsageError("--timezone needs --cron or --quiet.", ctx=ctx)
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
        quiet=quiet_hours_of(quiet_hours) if quiet_hours else None,
        misfire=Misfire.SKIP if skip_missed else Misfire.ONCE,
        session_target=target,
        serial=serial,
        app=app,
        tags=tags,
        phone_needs=needs,
        job_type=JobType(job_type),
        output_schema=read_schema_file(output_schema) if output_schema else "",
        delivery_mode="none" if quiet_delivery else "silent" if silent else "notification",
        notification_text=notice,
        requires=require,
        request_id=token_hex(8),
    )

    async def work(core: Core, owned: bool, _stop: StopRequest) -> ExitCode:
        reply = await core.request(op)
        assert reply.job is not None
        if as_json:
            plain.print_json(plain.as_builtins(reply.job))
        else:
            plain.print_text(f"Job {reply.job.id}: {when(reply.job)}")
        if owned:
            say("It runs while a console or the daemon is running.")
        return ExitCode.DONE

    end(run_with_core(ctx, work, devices=CONNECTED if serial else NO_DEVICES, is_repeatable=True))


def quiet_hours_of(text: str) -> QuietHours:
    """Read a span of the day. Raises UsageError when it is none."""
    since, dash, until = text.replace(" ", "").replace("–", "-").partition("-")
    if not dash:
        raise UsageError(f"{text!r} is not a span of the day.", "Write one like 22:00-07:00.")
    return QuietHours(since=since, until=until)


def _short(prompt: str) -> str:
    return one_line(prompt, 60)
