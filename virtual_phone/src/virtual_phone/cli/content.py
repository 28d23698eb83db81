"""`virtual-phone state`, `reset`, `snapshot`, `restore`, `touch`, `turn`: what a phone holds.

Not adb: all but `touch` and `turn` also work while no process serves the phone. Invariant: what
`state` prints is the phone's own truth, not what any screen shows.
"""

import json
import sys
from pathlib import Path

import click

from virtual_phone.cli.ending import one_line, say
from virtual_phone.cli.homes import ask_served, home_of, request_to, unserved


@click.command(
    epilog="""\b
Examples:
  virtual-phone state
  virtual-phone state virtual-2 --json | jq .bluetooth
"""
)
@click.argument("name", default="virtual-1")
@click.option("--json", "as_json", is_flag=True, help="Print everything, as JSON on stdout.")
@click.pass_obj
def state(homes: Path, name: str, as_json: bool) -> None:
    """Print the true state of the virtual phone NAME, running or not."""
    from virtual_phone.phone import Phone
    from virtual_phone.server.channel import AskState

    answer = request_to(homes, AskState(phone=name))
    truth = Phone(homes / name, name=name).state() if answer is None else answer.state or {}
    if as_json:
        sys.stdout.write(json.dumps(truth, ensure_ascii=False, indent=2) + "\n")
        return
    for key, value in truth.items():
        shown = str(len(value)) if isinstance(value, dict | list) else one_line(str(value))
        sys.stdout.write(f"{key:16} {shown}\n")


@click.command()
@click.argument("name", default="virtual-1")
@click.pass_obj
def reset(homes: Path, name: str) -> None:
    """Reset the virtual phone NAME to factory state, files too, running or not."""
    from virtual_phone.server.channel import Reset

    if request_to(homes, Reset(phone=name)) is None:
        with unserved(homes, name) as there:
            there.reset()
            there.phone.save()
    say(f"{name} is as it left the factory.")


@click.command()
@click.argument("name")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def snapshot(homes: Path, name: str, file: Path) -> None:
    """Save apps and files of the virtual phone NAME to FILE, running or not."""
    from virtual_phone.server.channel import TakeSnapshot
    from virtual_phone.state import checkpoint

    path = file.absolute()
    if request_to(homes, TakeSnapshot(phone=name, path=str(path))) is None:
        with unserved(homes, name) as there:
            checkpoint.write(checkpoint.take(there.phone), path)
    say(f"{name} is kept in {file}.")


@click.command()
@click.argument("name")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_obj
def restore(homes: Path, name: str, file: Path) -> None:
    """Restore the virtual phone NAME from FILE, running or not."""
    from virtual_phone.server.channel import RestoreSnapshot
    from virtual_phone.state import checkpoint

    path = file.absolute()
    if request_to(homes, RestoreSnapshot(phone=name, path=str(path))) is None:
        with unserved(homes, name) as there:
            checkpoint.go_back(there.phone, checkpoint.read(path))
            there.phone.save()
    say(f"{name} is as {file} says.")


@click.command(
    epilog="""\b
Examples:
  virtual-phone touch virtual-1 540 1200
  virtual-phone touch virtual-1 540 1800 540 600 --ms 300
"""
)
@click.argument("name")
@click.argument("points", nargs=-1, type=float, required=True, metavar="X Y [X2 Y2]")
@click.option(
    "--ms", type=click.IntRange(1, 60_000), default=80, show_default=True, help="How long it takes."
)
@click.pass_context
def touch(ctx: click.Context, name: str, points: tuple[float, ...], ms: int) -> None:
    """Touch the running virtual phone NAME like a finger, visible to `getevent`."""
    from virtual_phone.server.channel import Swipe

    if len(points) not in (2, 4):
        raise click.UsageError("Give X Y, or X Y X2 Y2.", ctx=ctx)
    start = (points[0], points[1])
    end = (points[2], points[3]) if len(points) == 4 else start
    home_of(ctx.obj, name)
    ask_served(ctx.obj, Swipe(phone=name, start=start, end=end, duration_ms=ms))


@click.command(
    epilog="""\b
Examples:
  virtual-phone turn virtual-1 90
"""
)
@click.argument("name")
@click.argument("degrees", type=click.Choice(["0", "90", "180", "270"]))
@click.pass_obj
def turn(homes: Path, name: str, degrees: str) -> None:
    """Rotate the running virtual phone NAME.

    Its screen follows while it rotates by itself (accelerometer_rotation is 1).
    """
    from virtual_phone.server.channel import Turn

    home_of(homes, name)
    ask_served(homes, Turn(phone=name, degrees=int(degrees)))
