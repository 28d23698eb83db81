"""`switchboard phone`: the virtual phones alone.

Not a way for the core to reach a phone: that is adb. Invariant: what `state` prints is the phone's
own truth, from the process that serves it or from where it is kept, not what any screen shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.commands.phone_content import home_of, restore, snapshot, touch, turn
from console.commands.phone_fault import fault
from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from console.stopping import StopRequest


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def phone() -> None:
    """Serve, inspect, reset or disturb virtual phones. They live below the data directory."""


for command in (fault, restore, snapshot, touch, turn):
    phone.add_command(command)


@phone.command(
    epilog="""\b
Examples:
  switchboard phone serve
  switchboard phone serve --count 3 --port 6001
  adb connect 127.0.0.1:6001
"""
)
@click.option(
    "--count", type=click.IntRange(1, 64), default=1, show_default=True, help="How many phones."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="P",
    help="Port of the first, the next ones follow; 0 is any free one.",
)
@click.option(
    "--profile",
    type=click.Choice(["phone", "small", "tablet", "foldable"]),
    help="What kind of phone; what each was before, at first a phone.",
)
@click.pass_context
def serve(ctx: click.Context, count: int, port: int, profile: str | None) -> None:
    """Serve virtual phones until interrupted; prints a JSON line for each that is ready."""
    import asyncio
    import json

    from agent.phone.phone import Phone
    from agent.phone.serve import serve_forever
    from console.plain import print_text
    from console.setup import settings_for
    from console.stopping import run_async

    home = settings_for(ctx).data_dir / "phones"

    def announce(serial: str, ready: Phone) -> None:
        import sys

        print_text(json.dumps({"serial": serial, "name": ready.name}))
        sys.stdout.flush()
        say(f"{ready.name}: adb connect {serial}")
        for message in ready.messages:
            say(message)

    async def work(stop: StopRequest) -> ExitCode:
        serving = asyncio.ensure_future(serve_forever(home, count, port, announce, profile=profile))
        asked = asyncio.ensure_future(stop.asked.wait())
        with stop.graceful():
            await asyncio.wait({serving, asked}, return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()
            if not serving.done():
                # Ending it is how serving ends: nothing was interrupted.
                serving.cancel()
        try:
            await serving
        except asyncio.CancelledError:
            if not serving.cancelled():
                raise
        return ExitCode.DONE

    end(run_async(work))


@phone.command(
    epilog="""\b
Examples:
  switchboard phone state
  switchboard phone state --json | jq .bluetooth
"""
)
@click.argument("name", default="virtual-1")
@click.option("--json", "as_json", is_flag=True, help="Print everything, as JSON on stdout.")
@click.pass_context
def state(ctx: click.Context, name: str, as_json: bool) -> None:
    """Print the true state of the virtual phone NAME, running or not."""
    from agent.phone.channel import AskState
    from agent.phone.phone import Phone
    from agent.phone.remote import NotServedError, ask
    from agent.text import one_line
    from console.plain import print_json, print_text

    home = home_of(ctx, name)
    try:
        truth = ask(home.parent, AskState(phone=name)).state or {}
    except NotServedError:
        truth = Phone(home, name=name).state()
    if as_json:
        print_json(truth)
        return
    for key, value in truth.items():
        if isinstance(value, dict | list):
            print_text(f"{key:16} {len(value)}")
        else:
            print_text(f"{key:16} {one_line(str(value))}")


@phone.command()
@click.argument("name", default="virtual-1")
@click.pass_context
def reset(ctx: click.Context, name: str) -> None:
    """Put the virtual phone NAME back to how it left the factory, running or not; its files too."""
    from agent.phone.channel import Reset
    from agent.phone.claim import Claim
    from agent.phone.remote import NotServedError, ask
    from agent.phone.served_phone import ServedPhone

    home = home_of(ctx, name)
    try:
        ask(home.parent, Reset(phone=name))
    except NotServedError:
        # A phone that comes to life meanwhile would write its own state over the new one.
        claim = Claim(home)
        try:
            there = ServedPhone(home, name)
            there.reset()
            there.phone.save()
        finally:
            claim.release()
    say(f"{name} is as it left the factory.")
