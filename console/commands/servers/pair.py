"""`switchboard pair`: approve and stop from the operator's own phone, wherever it is.

Invariants: a person begins a pairing; its code is printed once, counts for minutes and stands in no
log; a core on another computer is not served from here.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import click

from agent.errors import ConfigError, RuntimeDiedError, UsageError
from agent.extras import install, is_installed, missing
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import duration_ms
from console.core.command_settings import settings_for

if TYPE_CHECKING:
    from agent.rpc.remote_core import Client
    from console.core.host import Host
    from console.paired.serving import PageAddress
    from console.terminal.signals import StopRequest

DEFAULT_PORT = 8431

_PLACE = (
    click.option("--host", help="The address to listen on; default: this computer's own."),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=DEFAULT_PORT,
        show_default=True,
        help="The port; 0 for any free one.",
    ),
    click.option(
        "--url",
        metavar="HTTPS",
        help="The address of a tunnel that leads here; then it listens on 127.0.0.1, without TLS.",
    ),
    click.option("--relay", metavar="HTTPS", help="The address of a relay, instead of a network."),
)


def _with_place(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_PLACE):
        command = option(command)
    return command


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog="""\b
Examples:
  switchboard pair                                   phone and computer in one network
  switchboard pair --name Pixel --url https://me.example.org    through a tunnel of yours
  switchboard pair --relay https://relay.example.org    where nothing leads to this computer
  switchboard pair serve                             the page again, for phones that are paired
  switchboard pair revoke Pixel

Exit codes: 0 ended with ctrl+c, 1 could not be served, 2 invalid option.
""",
)
@click.option("--name", default="phone", show_default=True, help="What the phone is called.")
@click.option("--for", "life", default="5m", show_default=True, help="How long the code counts.")
@_with_place
@click.pass_context
def pair(
    ctx: click.Context,
    name: str,
    life: str,
    host: str | None,
    port: int,
    url: str | None,
    relay: str | None,
) -> None:
    """Pair a phone of yours to answer from; a person has to be here.

    Shows a picture for the phone's camera and serves the page until ctrl+c. A paired phone
    approves, rejects, answers, steers and stops, and does nothing else.
    """
    if ctx.invoked_subcommand is not None:
        return
    life_s = duration_ms(life) // 1000

    async def on_serving(core: Client, address: PageAddress) -> None:
        from console.runs.unlocking import once_unlocked
        from console.terminal.line_input import can_ask

        if not can_ask():
            raise UsageError("Only a person may pair a phone.", "Do it at a terminal.")
        offer = await once_unlocked(core, lambda: core.pairing_offer(name, life_s))
        until = datetime.fromtimestamp(offer.until_ms / 1000).astimezone()
        _show_offer(address, offer.code, f"{until:%H:%M:%S}")

    _serve(ctx, _Place(host, port, url, relay, pairs=True), on_serving)


@pair.command()
@_with_place
@click.pass_context
def serve(
    ctx: click.Context, host: str | None, port: int, url: str | None, relay: str | None
) -> None:
    """Serve the page to the phones that are paired, until ctrl+c."""

    async def on_serving(_core: Client, address: PageAddress) -> None:
        click.echo(address.url)

    _serve(ctx, _Place(host, port, url, relay, pairs=False), on_serving)


@pair.command("list")
@JSON_OPTION
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the paired phones."""
    from agent.consent.paired_phones import PairedPhones

    found = PairedPhones(settings_for(ctx).data_dir).all()
    if as_json:
        plain.print_json(
            [
                {
                    "id": one.phone_id,
                    "name": one.name,
                    "pairedMs": one.paired_ms,
                    "operator": one.operator,
                }
                for one in found
            ]
        )
    elif not found:
        say("No phone is paired.")
    else:
        rows = [
            (one.phone_id, one.name, _moment(one.paired_ms), one.operator or "–") for one in found
        ]
        plain.print_text(plain.columns(("ID", "NAME", "PAIRED", "OPERATOR"), rows))
    end(ExitCode.DONE)


@pair.command()
@click.argument("phone", metavar="PHONE")
@click.pass_context
def revoke(ctx: click.Context, phone: str) -> None:
    """Revoke a paired phone, by its name or id; effective at once."""
    from agent.consent.paired_phones import PairedPhones

    gone = PairedPhones(settings_for(ctx).data_dir).revoke(phone)
    say(f"The paired phone {gone.name} is revoked.")
    end(ExitCode.DONE)


class _Place(NamedTuple):
    """Where the page is served."""

    host: str | None
    port: int
    url: str | None
    relay: str | None
    pairs: bool


def _serve(
    ctx: click.Context, place: _Place, on_serving: Callable[[Client, PageAddress], Awaitable[None]]
) -> None:
    from console.core.device_setup import EVERYTHING
    from console.core.host import attach, run_with_host

    if not is_installed("web"):
        raise ConfigError(missing("web"), install("web"))
    from console.paired.serving import relaying_page, serving_page

    if place.relay is not None and (place.url is not None or place.host is not None):
        raise UsageError("A relay needs no address of this computer.", "Leave --url and --host.")

    settings = settings_for(ctx)
    if settings.core.address:
        raise UsageError(
            "The core is on another computer.", "Run 'switchboard pair' on that computer."
        )

    async def work(on: Host, stop: StopRequest) -> ExitCode:
        core = await attach(settings)
        if core is None:
            raise RuntimeDiedError("The core has ended.", "Start 'switchboard pair' again.")
        try:
            with stop.graceful():
                serving = (
                    serving_page(
                        core, settings.data_dir, host=place.host, port=place.port, url=place.url
                    )
                    if place.relay is None
                    else relaying_page(core, settings.data_dir, place.relay, pairs=place.pairs)
                )
                async with serving as address:
                    await on_serving(core, address)
                    was_asked = await on.until_stopped(stop)
        finally:
            await core.close()
        if was_asked:
            return ExitCode.DONE
        say("The core has ended, and with it the page of paired phones.")
        return ExitCode.FAILED

    end(run_with_host(settings, EVERYTHING, work))


def _show_offer(address: PageAddress, code: str, until: str) -> None:
    from console.paired.qr_code import drawn, offer_url

    target = offer_url(address.url, code, address.fingerprint, address.secret)
    if address.fingerprint:
        say(f"Certificate (SHA-256): {address.fingerprint.hex(':').upper()}")
    lines = drawn(target)
    size = shutil.get_terminal_size()
    if len(lines) + 3 <= size.lines and max(map(len, lines)) <= size.columns:
        say("\n".join(lines))
    else:
        say("The terminal is too small for the picture; open this address on the phone:")
    click.echo(target)
    say(f"Scan it before {until}; it pairs one phone. ctrl+c ends the page.")


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
