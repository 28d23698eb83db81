"""`switchboard devices wheel`: drive a phone yourself while its session waits.

A client of the core that runs: the wheel is taken in it, and stays taken when the command ends.
"""

import click

from agent import protocol
from agent.core import Core
from agent.errors import UsageError
from agent.records import Point
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.sections import CommandGroup
from console.core.host import run_with_core
from console.terminal.signals import StopRequest


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard devices wheel take R5CT1234
  switchboard devices wheel tap R5CT1234 0.5 0.25
  switchboard devices wheel back R5CT1234 --note "logged in for you"
""",
)
def wheel() -> None:
    """Take the wheel of a phone, drive it, and hand it back to its session."""


@wheel.command()
@click.argument("serial")
@click.pass_context
def take(ctx: click.Context, serial: str) -> None:
    """Take the wheel of SERIAL: its session waits after the step in flight."""
    _ask(ctx, protocol.WheelTake(serial=serial), f"You have the wheel of {serial}.")


@wheel.command()
@click.argument("serial")
@click.option("--note", default="", help="What the session should know.")
@click.pass_context
def back(ctx: click.Context, serial: str, note: str) -> None:
    """Hand the wheel of SERIAL back: its session observes the screen and resumes."""
    _ask(
        ctx,
        protocol.WheelHandBack(serial=serial, note=note),
        f"The wheel of {serial} is handed back.",
    )


@wheel.command()
@click.argument("serial")
@click.argument("x", type=click.FloatRange(0, 1))
@click.argument("y", type=click.FloatRange(0, 1))
@click.option("--hold", "hold_ms", type=click.IntRange(1, 60_000), help="Press for this many ms.")
@click.pass_context
def tap(ctx: click.Context, serial: str, x: float, y: float, hold_ms: int | None) -> None:
    """Tap the point X Y, each from 0 to 1."""
    at = Point(x=x, y=y)
    gesture = (
        protocol.WheelLongPress(at=at, duration_ms=hold_ms) if hold_ms else protocol.WheelTap(at=at)
    )
    _ask(ctx, protocol.WheelAct(serial=serial, gesture=gesture), "Done.")


@wheel.command()
@click.argument("serial")
@click.argument("places", nargs=4, type=click.FloatRange(0, 1))
@click.option("--ms", "duration_ms", type=click.IntRange(1, 60_000), default=300)
@click.pass_context
def swipe(
    ctx: click.Context, serial: str, places: tuple[float, float, float, float], duration_ms: int
) -> None:
    """Swipe from X Y to X Y, each from 0 to 1."""
    start, stop = Point(x=places[0], y=places[1]), Point(x=places[2], y=places[3])
    gesture = protocol.WheelSwipe(start=start, end=stop, duration_ms=duration_ms)
    _ask(ctx, protocol.WheelAct(serial=serial, gesture=gesture), "Done.")


@wheel.command("type")
@click.argument("serial")
@click.argument("text")
@click.option("--paste", is_flag=True, help="Through the clipboard.")
@click.pass_context
def type_text(ctx: click.Context, serial: str, text: str, paste: bool) -> None:
    """Type TEXT into the focused field; only its length is stored."""
    gesture = protocol.WheelPaste(text=text) if paste else protocol.WheelText(text=text)
    _ask(ctx, protocol.WheelAct(serial=serial, gesture=gesture), "Done.")


@wheel.command()
@click.argument("serial")
@click.argument("button")
@click.pass_context
def press(ctx: click.Context, serial: str, button: str) -> None:
    """Press BUTTON: BACK, HOME, ENTER …"""
    gesture = protocol.WheelButton(button=button.upper())
    _ask(ctx, protocol.WheelAct(serial=serial, gesture=gesture), "Done.")


def _ask(ctx: click.Context, op: protocol.Op, text: str) -> None:
    async def work(core: Core, owned: bool, _stop: StopRequest) -> ExitCode:
        if owned:
            raise UsageError(
                "No Switchboard is running, so there is no wheel to take.",
                "Start the console, `switchboard run` or `switchboard daemon start` first.",
            )
        reply = await core.request(op)
        say(f"{text} Its session is {reply.session_id}." if reply.session_id else text)
        return ExitCode.DONE

    end(run_with_core(ctx, work))
