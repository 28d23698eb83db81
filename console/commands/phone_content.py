"""`switchboard phone snapshot`, `restore`, `touch`, `turn`: what it holds, and a hand on it.

Not adb: a snapshot also works while no process serves the phone. Invariant: a phone that another
process serves is changed by that process alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.exits import say

if TYPE_CHECKING:
    from agent.phone.channel import Request
    from agent.phone.phone import Phone

FILES = ("phone.json", "claim")
"""What tells a phone's directory."""


def home_of(ctx: click.Context, name: str) -> Path:
    """Return a phone's directory; raise UsageError for a name that there is not."""
    from agent.errors import UsageError
    from console.setup import settings_for

    homes = settings_for(ctx).data_dir / "phones"
    # A phone that has just begun has a claim, and no state yet.
    known = sorted({path.parent.name for file in FILES for path in homes.glob(f"*/{file}")})
    if name in known:
        return homes / name
    if known:
        raise UsageError(f"There is no phone {name!r} in {homes}.", f"Known: {', '.join(known)}.")
    raise UsageError(
        f"There is no virtual phone in {homes} yet.", "Start one with: switchboard phone serve"
    )


@click.command()
@click.argument("name")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_context
def snapshot(ctx: click.Context, name: str, file: Path) -> None:
    """Write all that the virtual phone NAME holds, apps and files, to FILE; running or not."""
    from agent.phone import checkpoint
    from agent.phone.channel import TakeSnapshot

    path = file.absolute()
    if not _asked(ctx, TakeSnapshot(phone=name, path=str(path))):
        with _unserved(ctx, name) as phone:
            checkpoint.write(checkpoint.take(phone), path)
    say(f"{name} is kept in {file}.")


@click.command()
@click.argument("name")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_context
def restore(ctx: click.Context, name: str, file: Path) -> None:
    """Put the virtual phone NAME back to what FILE holds; running or not."""
    from agent.phone import checkpoint
    from agent.phone.channel import RestoreSnapshot

    path = file.absolute()
    if not _asked(ctx, RestoreSnapshot(phone=name, path=str(path))):
        with _unserved(ctx, name) as phone:
            checkpoint.go_back(phone, checkpoint.read(path))
            phone.save()
    say(f"{name} is as {file} says.")


@click.command(
    epilog="""\b
Examples:
  switchboard phone touch virtual-1 540 1200
  switchboard phone touch virtual-1 540 1800 540 600 --ms 300
"""
)
@click.argument("name")
@click.argument("points", nargs=-1, type=float, required=True, metavar="X Y [X2 Y2]")
@click.option(
    "--ms", type=click.IntRange(1, 60_000), default=80, show_default=True, help="How long it takes."
)
@click.pass_context
def touch(ctx: click.Context, name: str, points: tuple[float, ...], ms: int) -> None:
    """Touch the virtual phone NAME as a person does, which `getevent` shows; it must be served."""
    from agent.phone.channel import Swipe
    from agent.phone.remote import ask

    if len(points) not in (2, 4):
        raise click.UsageError("Give X Y, or X Y X2 Y2.", ctx=ctx)
    home = home_of(ctx, name)
    start = (points[0], points[1])
    end = (points[2], points[3]) if len(points) == 4 else start
    ask(home.parent, Swipe(phone=name, start=start, end=end, duration_ms=ms))


@click.command(
    epilog="""\b
Examples:
  switchboard phone turn virtual-1 90
"""
)
@click.argument("name")
@click.argument("degrees", type=click.Choice(["0", "90", "180", "270"]))
@click.pass_context
def turn(ctx: click.Context, name: str, degrees: str) -> None:
    """Turn the virtual phone NAME as a hand does; it must be served.

    Its screen follows while it rotates by itself (accelerometer_rotation is 1).
    """
    from agent.phone.channel import Turn
    from agent.phone.remote import ask

    ask(home_of(ctx, name).parent, Turn(phone=name, degrees=int(degrees)))


def _asked(ctx: click.Context, request: Request) -> bool:
    """Have the process that serves a phone do something; False when there is none."""
    from agent.phone.remote import NotServedError, ask

    try:
        ask(home_of(ctx, request.phone).parent, request)
    except NotServedError:
        return False
    return True


@contextmanager
def _unserved(ctx: click.Context, name: str) -> Iterator[Phone]:
    """Give a phone that nobody serves; nobody can begin to until the block has ended."""
    from agent.phone.claim import Claim
    from agent.phone.served_phone import ServedPhone

    home = home_of(ctx, name)
    # A phone that comes to life meanwhile would write its own state over the new one.
    claim = Claim(home)
    try:
        yield ServedPhone(home, name).phone
    finally:
        claim.release()
