"""`switchboard phone`: the `virtual-phone` program on the phones below the data directory.

Its verbs are carried out by that program, which takes the place of this process; they are named
here so that help, completion and the palette know them where it is not installed.
"""

import os
import sys
from typing import NoReturn

import click

from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for

VERBS = {
    "serve": (
        "[OPTION]…",
        "Serve virtual phones until interrupted; print a JSON line for each when ready.",
    ),
    "state": ("[NAME] [--json]", "Print the true state of the virtual phone NAME, running or not."),
    "reset": (
        "[NAME]",
        "Reset the virtual phone NAME to factory state, files too, running or not.",
    ),
    "snapshot": (
        "NAME FILE",
        "Save apps and files of the virtual phone NAME to FILE, running or not.",
    ),
    "restore": ("NAME FILE", "Restore the virtual phone NAME from FILE, running or not."),
    "touch": (
        "NAME X Y [X2 Y2] [OPTION]…",
        "Touch the running virtual phone NAME like a finger, visible to `getevent`.",
    ),
    "turn": ("NAME DEGREES", "Rotate the running virtual phone NAME."),
    "fault": ("NAME [FAULT] [OPTION]…", "Start FAULT on the running virtual phone NAME."),
}
"""What each takes and does, in the program's own words."""


@click.group(cls=CommandGroup)
def phone() -> None:
    """Serve, inspect, reset and break virtual phones in the data directory.

    Needs the extra `demo`: pip install 'switchboard-console[demo]'.
    """


def _hand_over(ctx: click.Context, verb: str, words: tuple[str, ...]) -> NoReturn:
    from agent.devices.pool.virtual_command import virtual_phone_command

    command = virtual_phone_command()
    home = settings_for(ctx).data_dir / "phones"
    sys.stdout.flush()
    # The program says "switchboard phone" of itself, so that what it advises reaches these phones.
    environment = {**os.environ, "VIRTUAL_PHONE_PROGRAM": "switchboard phone"}
    os.execve(command, [command, f"--home={home}", verb, *words], environment)


def _verb(name: str, takes: str, does: str) -> click.Command:
    @click.command(
        name,
        help=does,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @click.argument("words", nargs=-1, metavar=takes, type=click.UNPROCESSED)
    @click.pass_context
    def verb(ctx: click.Context, words: tuple[str, ...]) -> None:
        _hand_over(ctx, name, words)

    return verb


for _name, (_takes, _does) in VERBS.items():
    phone.add_command(_verb(_name, _takes, _does))
