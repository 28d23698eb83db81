"""`switchboard run`: pursue one goal without a screen.

Invariants: stdout carries events (or the result) and nothing else, speech goes to stderr; what was
asked for and cannot be used ends with 2 before a session exists.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Unpack

import click

from console.commands.manner import Speech, manner_of, manner_options
from console.commands.permission import Permission, permission_options, permitted
from console.exits import ExitCode, end

if TYPE_CHECKING:
    from agent.store.store import Store
    from console.host import Host
    from console.rack import Devices
    from console.stopping import StopRequest


class Given(Speech, Permission):
    """What the shared options say."""


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Exit codes: 0 done, 1 failed, 2 usage, 3 nobody answered a question, 130 interrupted.

\b
Examples:
  switchboard run "open Settings and turn on Bluetooth" --virtual
  switchboard run "write a note saying 'milk and eggs'" --virtual --json > events.jsonl
  switchboard run "turn on Bluetooth" --virtual --dry-run
  switchboard run "archive the newest message" --device R58M123ABC --max-steps 15
  switchboard run "set an alarm for 7" --virtual --model qwen3 --base-url http://127.0.0.1:8000/v1
""",
)
@click.argument("goal")
@click.option("--device", "serial", metavar="SERIAL", help="Work on this phone.")
@click.option("--virtual", is_flag=True, help="Start a virtual phone and work on it.")
@click.option("--model", metavar="NAME", help="Model to ask; 'pilot' is the offline one.")
@click.option("--base-url", metavar="URL", help="Where an OpenAI-compatible endpoint answers.")
@permission_options
@manner_options
@click.pass_context
def run(
    ctx: click.Context,
    *,
    goal: str,
    serial: str | None,
    virtual: bool,
    model: str | None,
    base_url: str | None,
    **given: Unpack[Given],
) -> None:
    """Pursue GOAL on a phone until it is done, failed or stopped.

    The session is stored, so it can be watched, answered and resumed from other processes.
    """
    from agent.errors import UsageError
    from agent.protocol import SessionCreate
    from console.pursuit import pursue_new
    from console.rack import CONNECTED, VIRTUAL
    from console.setup import settings_for
    from console.stopping import run_async

    if not goal.strip():
        raise click.BadParameter("The goal is empty.", ctx=ctx, param_hint="GOAL")
    if serial and virtual:
        raise click.UsageError("Give --device or --virtual, not both.", ctx=ctx)
    if given["at_limit"] is None and not given["answers"] and not sys.stdin.isatty():
        # A script has nobody who could be asked whether to go on.
        given["at_limit"] = "stop"
    settings = settings_for(ctx, {"model.name": model, "model.base_url": base_url})

    async def choose(_store: Store) -> Devices:
        return VIRTUAL if virtual else CONNECTED

    async def begin(host: Host) -> str:
        if base_url and not host.owned:
            raise UsageError(
                "Another process owns the data directory and asks its own endpoint.",
                "Set model.base_url there, or point SWITCHBOARD_DATA_DIR at another directory.",
            )
        chosen = serial or ""
        if virtual:
            chosen = await host.start_phone()
        elif not serial:
            await host.need_a_device()
        op = SessionCreate(goal=goal, serial=chosen, model=model or "")
        return (await host.core.request(permitted(op, given))).session_id

    async def work(stop: StopRequest) -> ExitCode:
        return await pursue_new(settings, choose, begin, stop, manner_of(settings, given))

    end(run_async(work))
