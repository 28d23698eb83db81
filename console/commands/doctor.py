"""`switchboard doctor`: look at all that Switchboard needs, say what is wrong and the remedy.

It mends nothing and starts nothing that stays. Invariant: one check never keeps the next from
being made.
"""

import click

from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.options import JSON_OPTION
from console.terminal.signals import StopRequest, run_async


@click.command(
    epilog="""\b
Examples:
  switchboard doctor
  switchboard doctor --json | jq '.checks[] | select(.ok | not)'
"""
)
@JSON_OPTION
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check Python, settings, data directory, adb, phones, model, MCP server and terminal.

    Exits with 1 if something required is broken; warnings do not count.
    """
    from console.commands.checks import NEEDED, examine

    async def work(_stop: StopRequest) -> ExitCode:
        found = await examine(ctx)
        if as_json:
            checks = [{**plain.as_builtins(one), "needed": one.name in NEEDED} for one in found]
            plain.print_json({"checks": checks})
        else:
            for one in found:
                mark = "ok  " if one.ok else "FAIL" if one.name in NEEDED else "warn"
                plain.print_text(f"{mark}  {one.name}: {one.detail}")
                if one.remedy and not one.ok:
                    plain.print_text(f"      → {one.remedy}")
        broken = any(not one.ok and one.name in NEEDED for one in found)
        return ExitCode.FAILED if broken else ExitCode.DONE

    end(run_async(work))
