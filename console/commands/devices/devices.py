"""`switchboard devices`: the phones that can be reached, and everything done to one by hand.

Invariants: what drives a phone holds its lease, so a phone that a session works on is left alone;
JSON goes to stdout, speech and progress to stderr.
"""

import click

from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import SectionedGroup
from console.commands.devices.devices_acts import (
    launch,
    look,
    press,
    shot,
    swipe,
    tap,
    type_text,
    wait_for,
)
from console.commands.devices.devices_apps import (
    apps,
    clear,
    install,
    logcat,
    pull,
    push,
    uninstall,
)
from console.commands.devices.devices_collect import collect
from console.commands.devices.devices_health import doctor, info, repair, rotate, unlock, wake
from console.commands.devices.devices_link import connect, disconnect, pair
from console.commands.devices.devices_list import in_use, list_devices, print_devices, tag
from console.commands.devices.devices_passport import qualify
from console.commands.devices.devices_record import record
from console.commands.devices.devices_share import share
from console.commands.devices.devices_wheel import wheel

SECTIONS: tuple[tuple[str, tuple[click.Command, ...]], ...] = (
    ("Look", (list_devices, in_use, info, doctor, qualify, collect, logcat, apps, record, share)),
    ("Use", (look, shot, tap, swipe, type_text, press, launch, wait_for)),
    ("Connect", (connect, pair, disconnect)),
    ("Name and drive", (tag, wheel)),
    ("Change", (repair, install, uninstall, clear, push, pull, rotate, wake, unlock)),
)


@click.group(
    cls=SectionedGroup,
    invoke_without_command=True,
    epilog="""\b
Without a command, list. Examples:
  switchboard devices
  switchboard devices --json | jq -r '.data[].serial'
  switchboard devices pair --qr
  switchboard devices doctor R5CT1234
  switchboard devices install R5CT1234 app.apk
""",
)
@JSON_OPTION
@click.pass_context
def devices(ctx: click.Context, as_json: bool) -> None:
    """List, connect, name, check and repair phones."""
    if ctx.invoked_subcommand is None:
        print_devices(ctx, as_json=as_json)


devices.add_sections(SECTIONS)
