"""`switchboard run`: pursue one goal without a screen.

Invariants: stdout carries events (or the result) and nothing else, speech goes to stderr; what was
asked for and cannot be used ends with 2 before a session exists.
"""

import sys
from secrets import token_hex
from typing import TYPE_CHECKING, Unpack

import click
from msgspec.structs import replace

from agent.protocol import SessionCreate
from console.cli_support.exits import ExitCode, end
from console.commands import session_options
from console.commands.output_options import follow_flags, follow_options
from console.commands.run_each import RunOptions, expected_endpoint, run_each
from console.core.command_settings import settings_for
from console.core.device_setup import CONNECTED, VIRTUAL, Devices
from console.core.host import Host
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.store.store import Store


@click.command(
    epilog="""\b
Exit codes: 0 done and verified, 1 failed, 2 usage, 3 nobody answered a question,
5 done as the model says and not verified, 130 interrupted.

\b
Examples:
  switchboard run "open Settings and turn on Bluetooth" --virtual
  switchboard run "write a note saying 'milk and eggs'" --virtual --json > events.jsonl
  switchboard run "turn on Bluetooth" --virtual --dry-run
  switchboard run "archive the newest message" --device R58M123ABC --max-steps 15
  switchboard run "update the app" --needs "tag:wall,app:com.example>=3.2"
  switchboard run "install the update" --each tag:wall --pace 10/min --at-once 5
  switchboard run "which Android is it?" --virtual --output-schema version.json -o out.json
  switchboard run "set an alarm for 7" --virtual --model qwen3 --base-url http://127.0.0.1:8000/v1
"""
)
@click.argument("goal")
@click.option("--device", "serial", metavar="SERIAL", help="Work on this phone.")
@session_options.NEEDS
@session_options.ACCOUNT
@session_options.EACH
@session_options.PACE
@session_options.AT_ONCE
@session_options.STOP_AFTER
@click.option("--virtual", is_flag=True, help="Start a virtual phone and work on it.")
@click.option("--model", metavar="NAME", help="Model to ask; 'pilot' is the offline one.")
@session_options.BASE_URL
@click.option("--output-schema", metavar="FILE", help="JSON Schema that the result must match.")
@click.option("-o", "--output", metavar="OUT", help="Write the result as data to this file.")
@session_options.permission_options
@follow_flags
@click.pass_context
def run(
    ctx: click.Context,
    *,
    goal: str,
    serial: str | None,
    needs: str,
    account: str,
    each: str | None,
    pace: float,
    at_once: int,
    stop_after: int,
    virtual: bool,
    model: str | None,
    base_url: str | None,
    output_schema: str | None,
    output: str | None,
    **given: Unpack[RunOptions],
) -> None:
    """Pursue GOAL on a phone until it is done, failed or stopped.

    The session is stored, so it can be watched, answered and resumed from other processes.
    """
    from console.runs.result_file import check_output, read_schema_file
    from console.runs.run import pursue_new
    from console.runs.unlocking import request

    if not goal.strip():
        raise click.BadParameter("The goal is empty.", ctx=ctx, param_hint="GOAL")
    if serial and virtual:
        raise click.UsageError("Give --device or --virtual, not both.", ctx=ctx)
    if needs and (serial or virtual):
        raise click.UsageError("Give --needs, or --device or --virtual.", ctx=ctx)
    if each is None and (pace or at_once or stop_after):
        raise click.UsageError("--pace, --at-once and --stop-after-failures need --each.")
    if each is not None:
        if serial or virtual or needs or output or output_schema:
            raise click.UsageError(
                "--each selects the phones and writes no data: leave out --device, --virtual, "
                "--needs, --output-schema and -o.",
                ctx=ctx,
            )
        settings = settings_for(ctx, {"model.name": model, "model.base_url": base_url})
        end(
            run_each(
                settings, goal, each, pace, at_once, stop_after, account, model, base_url, given
            )
        )
        return
    if output and not output_schema:
        raise click.UsageError("-o needs --output-schema.", ctx=ctx)
    shape = read_schema_file(output_schema) if output_schema else ""
    if output:
        check_output(output)
    if given["at_limit"] is None and not given["answers"] and not sys.stdin.isatty():
        # A script has nobody who could be asked whether to go on.
        given["at_limit"] = "stop"
    settings = settings_for(ctx, {"model.name": model, "model.base_url": base_url})

    async def choose(_store: "Store") -> Devices:
        return VIRTUAL if virtual else CONNECTED

    request_id = token_hex(8)

    async def begin(host: Host) -> str:
        chosen = serial or ""
        if virtual:
            chosen = await host.start_phone()
        elif not serial and not needs:
            await host.need_a_device()
        op = SessionCreate(
            goal=goal,
            serial=chosen,
            phone_needs=needs,
            account=account,
            model=model or "",
            endpoint=expected_endpoint(host, settings, model, base_url),
            output_schema=shape,
            request_id=request_id,
        )
        return (await request(host, session_options.permitted(op, given))).session_id

    options = replace(follow_options(settings, given), output=output or "")

    async def work(stop: StopRequest) -> ExitCode:
        return await pursue_new(settings, choose, begin, stop, options, request_id=request_id)

    end(run_async(work))
