"""`switchboard devices connect`, `pair` and `disconnect`: phones over the network."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING

import click

from agent.errors import DeviceTimeoutError
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.devices.adb.client import AdbClient
    from agent.devices.adb.discovery import QrOffer

QR_WAIT_S = 120.0
_LOOK_EVERY_S = 1.0

SERVER = click.option("--server", metavar="HOST:PORT", help="The adb server; the first by default.")


@click.command(
    epilog="""\b
Examples:
  switchboard devices connect 192.168.1.7:41234
  switchboard devices connect --list
"""
)
@click.argument("target", default="")
@click.option("--list", "listing", is_flag=True, help="List the phones that announce themselves.")
@JSON_OPTION
@SERVER
@click.pass_context
def connect(
    ctx: click.Context, target: str, listing: bool, as_json: bool, server: str | None
) -> None:
    """Connect to the phone at TARGET, host:port, or list those that mDNS finds."""
    from agent.devices.adb.discovery import services

    if bool(target) is listing:
        raise click.UsageError("Give TARGET or --list.", ctx=ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        client = await _client(ctx, server)
        if target:
            await client.connect(target)
            say(f"Connected to {target}; see: switchboard devices")
            return ExitCode.DONE
        found = await services(client)
        if as_json:
            rows = [{"name": one.name, "kind": one.kind, "target": one.target} for one in found]
            plain.print_json({"data": rows})
        elif not found:
            say("No phone found. Turn on Wireless debugging on a phone on this network.")
        else:
            table = [(one.name, "pairing" if one.pairs else "ready", one.target) for one in found]
            plain.print_text(plain.columns(("NAME", "STATE", "TARGET"), table))
        return ExitCode.DONE

    end(run_async(work))


@click.command()
@click.argument("target")
@SERVER
@click.pass_context
def disconnect(ctx: click.Context, target: str, server: str | None) -> None:
    """Disconnect the phone at TARGET, host:port."""

    async def work(_stop: StopRequest) -> ExitCode:
        await (await _client(ctx, server)).disconnect(target)
        say(f"Disconnected from {target}.")
        return ExitCode.DONE

    end(run_async(work))


@click.command(
    epilog="""\b
On the phone: Developer options > Wireless debugging > Pair device with …
Examples:
  switchboard devices pair --qr
  switchboard devices pair 192.168.1.7:37123 123456
"""
)
@click.argument("target", default="")
@click.argument("code", default="")
@click.option("--qr", is_flag=True, help="Show a QR code for the phone to scan.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0),
    default=QR_WAIT_S,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the phone to scan it.",
)
@SERVER
@click.pass_context
def pair(
    ctx: click.Context, target: str, code: str, qr: bool, wait_s: float, server: str | None
) -> None:
    """Pair with a phone by its TARGET and CODE, or by QR code."""
    from agent.devices.adb import discovery

    if qr == bool(target) or (target and not code):
        raise click.UsageError("Give TARGET and CODE, or --qr.", ctx=ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        client = await _client(ctx, server)
        said = (
            await _pair_by_qr(client, wait_s) if qr else await discovery.pair(client, target, code)
        )
        say(said)
        say("It connects automatically, or with: switchboard devices connect HOST:PORT")
        return ExitCode.DONE

    end(run_async(work))


async def _pair_by_qr(client: AdbClient, wait_s: float) -> str:
    from agent.devices.adb import discovery

    offer = discovery.QrOffer.new()
    # Before the picture: a server without mDNS would never see the phone.
    await discovery.services(client)
    _draw(offer)
    say("On the phone: Wireless debugging > Pair device with QR code. Waiting for it …")
    try:
        async with asyncio.timeout(wait_s):
            while True:
                for service in await discovery.services(client):
                    if service.pairs and service.name == offer.name:
                        return await discovery.pair(client, service.target, offer.code)
                await asyncio.sleep(_LOOK_EVERY_S)
    except TimeoutError:
        raise DeviceTimeoutError(
            f"No phone scanned the QR code within {wait_s:g} s.",
            "Both must be on one network that lets mDNS through; or pair with the six-digit code.",
        ) from None


def _draw(offer: QrOffer) -> None:
    import segno

    picture = io.StringIO()
    segno.make(offer.payload, error="m", micro=False).terminal(picture, compact=True)
    say(picture.getvalue())


async def _client(ctx: click.Context, server: str | None) -> AdbClient:
    from agent.devices.adb.address import ServerAddress
    from agent.devices.adb.client import AdbClient
    from agent.devices.adb.server import reach

    settings = settings_for(ctx)
    address = ServerAddress.parse(server or settings.adb.server[0])
    return AdbClient(await reach(address, adb_setting=settings.adb.path))
