"""`switchboard host`: be a host of a fleet, whose phones others see.

Not a core: it runs no sessions. Invariants: one process a host; the data directory is its alone.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from console.cli_support.exits import ExitCode, end, say
from console.commands.daemon import PHONES, VIRTUAL_ONLY

if TYPE_CHECKING:
    from console.terminal.signals import StopRequest

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_HELP)
def host() -> None:
    """Join a fleet with this computer's phones. A core is a host by itself."""


@host.command(
    context_settings=_HELP,
    epilog="It ends on SIGTERM or ctrl+c; its phones are then shown as those of a host that left.",
)
@PHONES
@VIRTUAL_ONLY
@click.option(
    "--label", "labels", multiple=True, metavar="WORD", help="A label for it; repeatable."
)
@click.pass_context
def serve(ctx: click.Context, phones: int, virtual_only: bool, labels: tuple[str, ...]) -> None:
    """Join the fleet with this host and its phones for as long as this runs.

    Others see them by 'fleet hosts'. Sessions run on the phones of the database's core alone.
    """
    from agent.errors import FencedError, UsageError
    from agent.private_files import check_unshared
    from agent.text import one_line
    from console.cli_support.command_settings import settings_for
    from console.core.device_setup import Devices, Phones, make_fleet
    from console.core.store_choice import address, host_name, own_version
    from console.terminal.signals import run_async

    settings = settings_for(ctx)
    if not settings.store.dsn:
        raise UsageError("No fleet is named.", "Name its database by --fleet or store.dsn.")
    if any(not one.isprintable() or one_line(one, 40) != one or not one for one in labels):
        raise UsageError("A label is a word of at most 40 characters.")
    dsn = address(settings)

    async def work(stop: StopRequest) -> ExitCode:
        from agent.store.database.lock import DirectoryLock, make_directory
        from agent.store.postgres.core_store import check_directory
        from agent.store.postgres.hosts import joined

        check_directory(settings.data_dir)
        make_directory(settings.data_dir)
        check_unshared(settings.data_dir)
        lock = DirectoryLock.take(settings.data_dir)
        running = Phones(settings)
        devices = Devices(connected=not virtual_only, own_server=True, phones=phones)
        try:
            fleet = await make_fleet(settings, devices, running, is_owner=True)
            try:
                await fleet.start()
                name = host_name(settings)
                joining = joined(
                    dsn, name, version=own_version(), labels=labels, phones=fleet.devices
                )
                async with joining as staying:
                    say(f"Host {name} is in the fleet: process {os.getpid()}.")
                    with stop.graceful():
                        asked = asyncio.ensure_future(stop.asked.wait())
                        await asyncio.wait({asked, staying}, return_when=asyncio.FIRST_COMPLETED)
                        asked.cancel()
                    error = staying.exception() if staying.done() else None
                    if isinstance(error, FencedError):
                        raise error
            finally:
                await fleet.close()
        finally:
            await running.close()
            lock.release()
        return ExitCode.DONE

    end(run_async(work))
