"""`switchboard drill`: break the phone under a live session, and report what was lost."""

from typing import TYPE_CHECKING

import click
import msgspec

from agent.text import one_line
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.plain import columns, print_text
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from console.runs.drill_ledger import DrillResult


@click.command(
    epilog="""\b
Exit codes: 0 nothing was lost, 1 something was.

\b
Examples:
  switchboard drill
  switchboard drill --faults disconnect,adb-server-restart
  switchboard drill --profile flip
  switchboard drill --json | jq 'select(.recovered | not)'
"""
)
@click.option(
    "--faults",
    default="",
    metavar="NAMES",
    help="Only these, separated by commas; see 'switchboard phone fault --help'.",
)
@click.option(
    "--for",
    "lasts_s",
    type=click.FloatRange(min=0.1, max=60),
    default=3.0,
    show_default=True,
    metavar="SECONDS",
    help="How long each fault lasts.",
)
@click.option(
    "--profile",
    default="",
    metavar="NAME",
    help="What kind of phone; see 'switchboard phone serve --profile list'.",
)
@click.option("--keep", is_flag=True, help="Keep every drill's data directory.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each fault.")
@click.pass_context
def drill(
    ctx: click.Context, *, faults: str, lasts_s: float, profile: str, keep: bool, as_json: bool
) -> None:
    """Break a virtual phone under a live session, once per fault, and report the losses.

    Each fault gets its own session and data directory, with the offline pilot.
    """
    from agent.devices.pool.virtual_command import virtual_phone_command
    from console.runs.drill import NAMES
    from console.runs.drill import drill as run_drill

    chosen = [name.strip() for name in faults.split(",") if name.strip()] or list(NAMES)
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        raise click.BadParameter(
            f"There is no fault {', '.join(unknown)}; there are {', '.join(NAMES)}.",
            ctx=ctx,
            param_hint="--faults",
        )
    virtual_phone_command()
    settings = settings_for(ctx, {"model.name": "pilot", "model.base_url": None})

    async def work(_stop: StopRequest) -> ExitCode:
        results: list[DrillResult] = []
        for name in chosen:
            if not as_json:
                say(f"{name} …")
            result = await run_drill(settings, name, lasts_s=lasts_s, keep=keep, profile=profile)
            results.append(result)
            if as_json:
                print_text(msgspec.json.encode(result).decode())
        if not as_json:
            print_text(columns(_HEAD, [_row(result) for result in results]))
        for result in results:
            _explain(result)
        lost = any(result.lost_something for result in results)
        return ExitCode.FAILED if lost else ExitCode.DONE

    end(run_async(work))


_HEAD = (
    "FAULT",
    "OUTCOME",
    "RECOVERED",
    "EVENTS",
    "STORED",
    "LOST",
    "STEPS",
    "REPEATED",
    "NOTICED",
    "TOOK",
)


def _row(result: "DrillResult") -> tuple[str, ...]:
    noticed = "-" if result.noticed_ms is None else f"{result.noticed_ms} ms"
    return (
        result.fault,
        result.outcome,
        "yes" if result.recovered else "no",
        str(result.events_published),
        str(result.events_stored),
        str(result.events_lost),
        str(result.steps),
        str(result.steps_repeated),
        noticed,
        f"{result.took_ms / 1000:.1f} s",
    )


def _explain(result: "DrillResult") -> None:
    if result.lost_something and result.error:
        say(f"{result.fault}: {one_line(result.error, 500)}")
    if result.kept_in:
        say(f"{result.fault}: kept in {result.kept_in}")
