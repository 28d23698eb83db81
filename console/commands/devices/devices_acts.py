"""`switchboard devices look|shot|tap|swipe|type|press|launch|wait`: a phone in a line of a shell.

The tools are those that a model has, with the same policy, record and lease. Exit statuses: 0
done, 1 failed or refused, 3 nobody approved it in time, 4 the phone was in use, 5 the outcome is
not known.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.records import ActionOutcome, Observation
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.core.device_setup import CONNECTED
from console.core.host import Host, run_with_host
from console.terminal.signals import StopRequest

if TYPE_CHECKING:
    from console.runs.single_action import ActResult, SingleAction

_Work = Callable[["SingleAction"], Awaitable["ActResult"]]


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option(
            "--wait",
            "wait_s",
            type=click.FloatRange(0, 3600),
            default=60.0,
            show_default=True,
            metavar="S",
            help="Seconds to wait for the phone, and for an approval.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("serial")
@_options
@click.pass_context
def look(ctx: click.Context, serial: str, as_json: bool, wait_s: float) -> None:
    """Print the screen of the phone SERIAL with numbered elements."""

    async def work(act: SingleAction) -> ActResult:
        came = await act.ready()
        if came.outcome and not as_json:
            click.echo((await act.screen()).screen_text)
        return came

    _run(ctx, serial, "look", work, as_json=as_json, wait_s=wait_s, is_quiet=True)


@click.command()
@click.argument("serial")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@_options
@click.pass_context
def shot(ctx: click.Context, serial: str, file: Path, as_json: bool, wait_s: float) -> None:
    """Write a picture of the phone SERIAL to FILE; - is stdout."""

    async def work(act: SingleAction) -> ActResult:
        came = await act.ready()
        if came.outcome:
            data = await act.picture()
            if str(file) == "-":
                sys.stdout.buffer.write(data)
            else:
                await asyncio.to_thread(file.write_bytes, data)
        return came

    _run(ctx, serial, f"shot {file.name}", work, as_json=as_json, wait_s=wait_s, is_quiet=True)


@click.command()
@click.argument("serial")
@click.argument("target")
@click.option("--long", is_flag=True, help="Press for a second.")
@_options
@click.pass_context
def tap(
    ctx: click.Context, serial: str, target: str, long: bool, as_json: bool, wait_s: float
) -> None:
    """Tap TARGET: an element's number, its text, or a point x,y (each 0 to 1)."""
    from console.runs.single_action import tap_call

    _call(ctx, serial, f"tap {target}", *tap_call(target, long=long), as_json, wait_s)


@click.command()
@click.argument("serial")
@click.argument("places", nargs=-1, required=True)
@_options
@click.pass_context
def swipe(
    ctx: click.Context, serial: str, places: tuple[str, ...], as_json: bool, wait_s: float
) -> None:
    """Swipe on SERIAL. PLACES: up, down, left, right, or two points x,y."""
    from console.runs.single_action import swipe_call

    _call(ctx, serial, f"swipe {' '.join(places)}", *swipe_call(places), as_json, wait_s)


@click.command("type")
@click.argument("serial")
@click.argument("text")
@click.option("--into", default="", metavar="TARGET", help="The field: its number or its text.")
@click.option("--clear", is_flag=True, help="Clear the field first.")
@click.option("--enter", is_flag=True, help="Press ENTER afterwards.")
@_options
@click.pass_context
def type_text(
    ctx: click.Context,
    serial: str,
    text: str,
    into: str,
    clear: bool,
    enter: bool,
    as_json: bool,
    wait_s: float,
) -> None:
    """Type TEXT on the phone SERIAL, into the focused field unless one is named."""
    from console.runs.single_action import type_call

    async def work(act: SingleAction) -> ActResult:
        came = await act.ready()
        if came.outcome is ActionOutcome.DONE:
            came = await act.do(*type_call(text, into, clear=clear))
        if enter and came.outcome is ActionOutcome.DONE:
            came = await act.do("press_button", {"button": "ENTER"})
        return came

    _run(ctx, serial, "type a text", work, as_json=as_json, wait_s=wait_s)


@click.command()
@click.argument("serial")
@click.argument("button")
@_options
@click.pass_context
def press(ctx: click.Context, serial: str, button: str, as_json: bool, wait_s: float) -> None:
    """Press BUTTON on the phone SERIAL: HOME, BACK, ENTER …"""
    given = {"button": button.upper()}
    _call(ctx, serial, f"press {button}", "press_button", given, as_json, wait_s)


@click.command()
@click.argument("serial")
@click.argument("app")
@_options
@click.pass_context
def launch(ctx: click.Context, serial: str, app: str, as_json: bool, wait_s: float) -> None:
    """Open APP, a name or a package, on the phone SERIAL."""
    _call(ctx, serial, f"launch {app}", "launch_app", {"app": app}, as_json, wait_s)


@click.command("wait")
@click.argument("serial")
@click.argument("text")
@click.option("--gone", is_flag=True, help="Wait until it is gone.")
@click.option(
    "--for",
    "for_s",
    type=click.FloatRange(0, 3600),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Give up after this many seconds, with status 1.",
)
@_options
@click.pass_context
def wait_for(
    ctx: click.Context,
    serial: str,
    text: str,
    gone: bool,
    for_s: float,
    as_json: bool,
    wait_s: float,
) -> None:
    """Wait until the screen of the phone SERIAL shows TEXT."""
    from console.runs.single_action import ActResult

    async def work(act: SingleAction) -> ActResult:
        until = time.monotonic() + for_s
        came = await act.ready()
        while came.outcome is ActionOutcome.DONE:
            shown = text.casefold() in (await act.screen()).screen_text.casefold()
            if shown is not gone:
                return came
            if time.monotonic() >= until:
                what = "is still there" if gone else "did not appear"
                return ActResult(outcome=ActionOutcome.FAILED, text=f"{text!r} {what}.")
            came = await act.do("wait", {"seconds": 1})
        return came

    _run(ctx, serial, f"wait {text}", work, as_json=as_json, wait_s=wait_s, is_quiet=True)


def _call(
    ctx: click.Context,
    serial: str,
    purpose: str,
    tool: str,
    arguments: dict[str, Any],
    as_json: bool,
    wait_s: float,
) -> None:
    async def work(act: SingleAction) -> ActResult:
        came = await act.ready()
        return await act.do(tool, arguments) if came.outcome is ActionOutcome.DONE else came

    _run(ctx, serial, purpose, work, as_json=as_json, wait_s=wait_s)


def _run(
    ctx: click.Context,
    serial: str,
    purpose: str,
    work: _Work,
    *,
    as_json: bool,
    wait_s: float,
    is_quiet: bool = False,
) -> None:
    """Do it on the core that runs, or on one for this line.

    Args:
        is_quiet: whether there is nothing to say of what went well.
    """
    from console.runs.single_action import taking

    async def main(host: Host, _stop: StopRequest) -> ExitCode:
        gc.freeze()
        gc.enable()
        if host.owned:
            await host.wait_for(serial)
        async with taking(host.core, serial, purpose, wait_s=wait_s) as act:
            came = await work(act)
            if as_json:
                screen = await act.screen() if came.outcome else None
                plain.print_json(_as_json(came, act.session_id, screen))
        is_done = came.outcome is ActionOutcome.DONE
        if not as_json and not (is_quiet and is_done):
            (click.echo if is_done else say)(came.text)
        return came.code

    # Thousands of classes are about to be made, and none of them is garbage.
    gc.disable()
    try:
        code = run_with_host(settings_for(ctx), CONNECTED, main)
    finally:
        gc.enable()
    end(code)


def _as_json(came: ActResult, session_id: str, screen: Observation | None) -> dict[str, object]:
    outcome = came.outcome.value if came.outcome else "waiting"
    found: dict[str, object] = {"outcome": outcome, "text": came.text, "session": session_id}
    if screen is not None:
        found["app"] = screen.foreground.package
        found["elements"] = [
            {
                "number": one.number,
                "kind": one.kind,
                "label": one.label,
                "value": one.value,
                "bounds": [one.bounds.left, one.bounds.top, one.bounds.right, one.bounds.bottom],
            }
            for one in screen.elements
        ]
    return found
