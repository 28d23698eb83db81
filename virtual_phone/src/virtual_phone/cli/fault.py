"""`virtual-phone fault`: let something go wrong with a virtual phone that is served.

Not adb: it reaches the process that serves the phone, so a phone that is cut off can be mended.
Invariant: a fault begins when the command returns, and ends at its time or when it is cleared.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from virtual_phone.cli.ending import say
from virtual_phone.cli.homes import ask_served
from virtual_phone.errors import PhoneError

if TYPE_CHECKING:
    from virtual_phone.server.channel import Answer, Request

_EPILOG = """\b
Faults:
  disconnect      the cable is pulled: connections are cut and refused
  unauthorized    the phone trusts no computer any more
  slow-shell      every shell command begins VALUE seconds late
  hung-shell      shell commands begin when the fault ends
  hung-dump       dumps of the UI tree wait until the fault ends
  hung-dumpsys    dumpsys waits until the fault ends; every other command answers
  dump-not-idle   dumps fail: "could not get idle state"
  null-root       dumps fail: "null root node"
  low-storage     nothing can be written
  frozen-screen   pictures and video show what was there when it began
  black-capture   pictures are black
  encoder-stall   video stops
  battery-death   the phone is off; it boots when the fault ends
  clock-jump      the phone's clock is VALUE seconds off
  app-crash       the app in front crashes, once
  refused-input   touches and keys of adb are refused, as by MIUI without its switch

\b
Examples:
  virtual-phone fault virtual-1 disconnect --for 5
  virtual-phone fault virtual-1 slow-shell --value 0.8 --for 30
  virtual-phone fault virtual-1 --list
  virtual-phone fault virtual-1 --clear
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.argument("fault", default="")
@click.option("--value", type=float, default=0.0, metavar="V", help="Seconds, where it takes some.")
@click.option(
    "--for",
    "duration_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End it after this long; without, it stays until it is cleared.",
)
@click.option("--clear", is_flag=True, help="End FAULT, or every fault when none is named.")
@click.option("--list", "listing", is_flag=True, help="Print what is wrong now, as JSON lines.")
@click.pass_context
def fault(
    ctx: click.Context,
    *,
    name: str,
    fault: str,
    value: float,
    duration_s: float | None,
    clear: bool,
    listing: bool,
) -> None:
    """Start FAULT on the running virtual phone NAME."""
    from virtual_phone.server.channel import BeginFault, ClearFaults, ListFaults
    from virtual_phone.server.faults import parse_kind

    if listing and (clear or fault):
        raise click.UsageError("--list goes with NAME alone.", ctx=ctx)
    if clear and (value or duration_s is not None):
        raise click.UsageError("--clear takes neither --value nor --for.", ctx=ctx)
    if not (fault or clear or listing):
        raise click.UsageError("Name a FAULT, or give --list or --clear.", ctx=ctx)
    if fault:
        try:
            parse_kind(fault)
        except PhoneError as error:
            raise click.BadParameter(str(error), ctx=ctx, param_hint="FAULT") from error
    if listing:
        _print_faults(_ask(ctx, ListFaults(phone=name)))
    elif clear:
        _ask(ctx, ClearFaults(phone=name, kind=fault))
        say(f"{name}: {fault or 'every fault'} has ended.")
    else:
        _ask(ctx, BeginFault(phone=name, kind=fault, value=value, duration_s=duration_s))
        say(f"{name}: {fault} has begun" + (f", for {duration_s:g} s." if duration_s else "."))


def _ask(ctx: click.Context, request: Request) -> Answer:
    homes: Path = ctx.obj
    return ask_served(homes, request)


def _print_faults(answer: Answer) -> None:
    for one in answer.faults:
        row = {"fault": one.kind, "value": one.value, "left_s": one.left_s}
        sys.stdout.write(json.dumps(row) + "\n")
