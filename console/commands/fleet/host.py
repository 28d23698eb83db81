"""`switchboard host`: be a host of a fleet, whose phones others see.

It is a core without a console. Invariants: one process a host; the data directory is its alone.
"""

import click

from agent.errors import UsageError
from agent.text import one_line
from console.cli_support.exits import ExitCode, end
from console.cli_support.sections import CommandGroup
from console.commands.daemon import (
    PHONES,
    VIRTUAL_ONLY,
    listening,
    listening_options,
    serve_until_stopped,
)
from console.core.command_settings import settings_for
from console.core.device_setup import Devices
from console.core.host import Host, run_with_host
from console.terminal.signals import StopRequest


@click.group(cls=CommandGroup)
def host() -> None:
    """Join a fleet with this computer's phones."""


@host.command(
    epilog="It ends on SIGTERM or ctrl+c; its phones are then shown with a host that has left."
)
@PHONES
@VIRTUAL_ONLY
@click.option(
    "--label", "labels", multiple=True, metavar="WORD", help="A label for this host; repeatable."
)
@listening
@click.pass_context
def serve(
    ctx: click.Context,
    /,
    phones: int,
    virtual_only: bool,
    labels: tuple[str, ...],
    **listens: str | None,
) -> None:
    """Join the fleet with this host and its phones until interrupted.

    Its core runs what belongs to this host: sessions on its phones, jobs, watchers.
    """
    settings = settings_for(ctx, listening_options(**listens))
    if not settings.store.dsn:
        raise UsageError("No fleet is named.", "Name its database by --fleet or store.dsn.")
    if any(not one.isprintable() or one_line(one, 40) != one or not one for one in labels):
        raise UsageError("A label is a word of at most 40 characters.")

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        said = f"Host {host.name} is in the fleet"
        return await serve_until_stopped(host, stop, settings, said)

    devices = Devices(connected=not virtual_only, own_server=True, phones=phones, wakes_jobs=True)
    end(run_with_host(settings, devices, work, labels=labels, listens=True))
