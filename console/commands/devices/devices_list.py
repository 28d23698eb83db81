"""`switchboard devices list`, `in-use` and `tag`: what there is, who has it, what it is called."""

import asyncio
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from agent.config import Settings
from agent.core import Core
from agent.errors import AdbError
from agent.protocol import DeviceTag, ListPhonesInUse, PhoneInUse
from agent.records import DeviceInfo, DeviceState, HostState, at_host
from agent.state.device_names import device_names
from agent.text import one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.core.command_settings import settings_for
from console.core.device_setup import CONNECTED, Phones, make_fleet
from console.core.host import attach, run_with_core
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.devices.protocols import Fleet

DETAILS_BOUND_S = 3.0
FLEET_BOUND_S = 5.0


@click.command("list")
@JSON_OPTION
@click.pass_context
def list_devices(ctx: click.Context, as_json: bool) -> None:
    """List the phones of adb and of the fleet, their state, and who drives each."""
    print_devices(ctx, as_json=as_json)


def print_devices(ctx: click.Context, *, as_json: bool) -> None:
    """Print every device, and end the command."""
    settings = settings_for(ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        found = await _look(settings)
        # The name that the console shows; every command takes it in the place of the serial.
        names = device_names({info.serial: info for info in found})
        if as_json:
            shown = [plain.as_builtins(info) | {"called": names[info.serial]} for info in found]
            plain.print_json({"data": shown})
        elif not found:
            say("No devices. Plug one in with USB debugging on, or try: switchboard demo")
        else:
            head = ("SERIAL", "STATE", "NAME", "MODEL", "ANDROID", "SIZE", "BY", "DRIVER", "NOTE")
            rows = [_row(info, names[info.serial]) for info in found]
            plain.print_text(plain.columns(head, rows))
        return ExitCode.DONE

    end(run_async(work))


@click.command(
    epilog="""\b
Examples:
  switchboard devices tag R5CT1234 --name "Left phone" --tag bench --tag android14
  switchboard devices tag R5CT1234 --notes "cracked screen"
  switchboard devices tag R5CT1234 --no-tags
"""
)
@click.argument("serial")
@click.option("--name", help="What to call it.")
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable. Replaces the phone's tags.")
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option("--notes", help="A note about it.")
@click.pass_context
def tag(
    ctx: click.Context,
    serial: str,
    name: str | None,
    tags: tuple[str, ...],
    no_tags: bool,
    notes: str | None,
) -> None:
    """Name, tag or annotate the phone SERIAL."""
    if no_tags and tags:
        raise click.UsageError("--no-tags and --tag exclude each other.", ctx=ctx)
    if name is None and notes is None and not tags and not no_tags:
        raise click.UsageError("Give --name, --tag, --no-tags or --notes.", ctx=ctx)
    wanted = tags if tags or no_tags else None

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(DeviceTag(serial=serial, name=name, tags=wanted, notes=notes))
        say(f"{serial} is labelled.")
        return ExitCode.DONE

    end(run_with_core(ctx, work, devices=CONNECTED))


@click.command(
    "in-use",
    epilog="""\b
Examples:
  switchboard devices in-use
  switchboard devices in-use --json | jq -r '.data[] | select(.waiting) | .serial'
""",
)
@JSON_OPTION
@click.pass_context
def in_use(ctx: click.Context, as_json: bool) -> None:
    """List phones that are in use or waited for."""
    settings = settings_for(ctx)

    async def ask() -> tuple[PhoneInUse, ...]:
        core = await attach(settings)
        if core is None:
            # Sessions drive phones only in a core.
            return ()
        try:
            return await core.look_up(ListPhonesInUse())
        finally:
            await core.close()

    async def work(_stop: StopRequest) -> ExitCode:
        found = await ask()
        if as_json:
            plain.print_json({"data": [plain.as_builtins(one) for one in found]})
        elif not found:
            say("No phone is in use.")
        else:
            rows = [
                (one.serial, one.name, one.driver, one_line(one.title, 60), " ".join(one.waiting))
                for one in found
            ]
            shown = [tuple(cell or "-" for cell in row) for row in rows]
            plain.print_text(
                plain.columns(("SERIAL", "NAME", "DRIVER", "SESSION", "WAITING"), shown)
            )
        return ExitCode.DONE

    end(run_async(work))


def _row(info: DeviceInfo, name: str) -> tuple[str, ...]:
    size = f"{info.width_px}×{info.height_px}" if info.width_px else "-"
    label = " ".join([name, *(f"#{tag}" for tag in info.tags)])
    return (
        info.serial,
        info.state.value,
        label or "-",
        info.model or "-",
        info.android or "-",
        size,
        info.transport.value if info.transport else "-",
        info.driver or "-",
        info.note or info.notes,
    )


async def _look(settings: Settings) -> tuple[DeviceInfo, ...]:
    """Ask the owner of the data directory, or the adb servers themselves and the fleet's hosts."""
    client = await attach(settings)
    if client is not None:
        try:
            return (await client.overview()).devices
        finally:
            await client.close()
    of_hosts = await _phones_of_hosts(settings)
    try:
        return (*await _phones_here(settings), *of_hosts)
    except AdbError:
        # A computer that only reads the fleet's phones needs no adb.
        if not of_hosts:
            raise
        return of_hosts


async def _phones_here(settings: Settings) -> tuple[DeviceInfo, ...]:
    """Return the phones that the adb servers see. Raises AdbError."""
    fleet = await make_fleet(settings, CONNECTED, Phones(settings))
    await fleet.start()
    try:
        await await_details(fleet)
        return fleet.devices()
    finally:
        await fleet.close()


async def _phones_of_hosts(settings: Settings) -> tuple[DeviceInfo, ...]:
    """Return the phones of the fleet's hosts that are there; none without a fleet."""
    if not settings.store.dsn:
        return ()
    from agent.store.addresses import address
    from agent.store.postgres.hosts import hosts
    from agent.store.postgres.link import Link
    from agent.store.postgres.opening import open_records

    link = Link(address(settings), "devices", patience_s=FLEET_BOUND_S, is_written=False)
    try:
        await open_records(link, expected="")
        return tuple(
            replace(info, serial=at_host(one.name, info.serial))
            for one in await hosts(link)
            if one.state is HostState.HERE
            for info in one.phones
        )
    finally:
        await link.close()


async def await_details(fleet: "Fleet") -> None:
    """Give every phone that is online a moment to say what it is."""

    def is_known(info: DeviceInfo) -> bool:
        return info.state is not DeviceState.ONLINE or bool(info.android or info.note)

    changes = fleet.changes()
    try:
        async with asyncio.timeout(DETAILS_BOUND_S):
            while not all(is_known(info) for info in fleet.devices()):
                await anext(changes)
    except TimeoutError:
        return
