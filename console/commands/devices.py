"""`switchboard devices`: the phones that can be reached, and why one cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.devices.device import Rack
    from agent.records import DeviceInfo
    from console.stopping import StopRequest

DETAILS_BOUND_S = 3.0


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  switchboard devices
  switchboard devices --json | jq -r '.data[].serial'
""",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def devices(ctx: click.Context, as_json: bool) -> None:
    """List the phones that adb sees, their state, and who drives each."""
    from console import plain
    from console.setup import settings_for
    from console.stopping import run_async

    settings = settings_for(ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        found = await _look(settings)
        if as_json:
            plain.print_json({"data": [plain.as_builtins(info) for info in found]})
        elif not found:
            say("No devices. Plug one in with USB debugging on, or try: switchboard demo")
        else:
            head = ("SERIAL", "STATE", "MODEL", "ANDROID", "SIZE", "DRIVER", "NOTE")
            plain.print_text(plain.columns(head, [_row(info) for info in found]))
        return ExitCode.DONE

    end(run_async(work))


def _row(info: DeviceInfo) -> tuple[str, ...]:
    size = f"{info.width_px}×{info.height_px}" if info.width_px else "-"
    model = f"{info.model or '-'}{' (virtual)' if info.virtual else ''}"
    return (
        info.serial,
        info.state.value,
        model,
        info.android or "-",
        size,
        info.driver or "-",
        info.note,
    )


async def _look(settings: Settings) -> tuple[DeviceInfo, ...]:
    """Ask the owner of the data directory, or the adb servers themselves."""
    from console.host import attach

    client = await attach(settings)
    if client is not None:
        try:
            return (await client.overview()).devices
        finally:
            await client.close()
    from console.rack import CONNECTED, Phones, make_rack

    rack = await make_rack(settings, CONNECTED, Phones(settings))
    await rack.start()
    try:
        await _await_details(rack)
        return rack.devices()
    finally:
        await rack.close()


async def _await_details(rack: Rack) -> None:
    """Give every phone that is online a moment to say what it is."""
    import asyncio

    from agent.records import DeviceState

    def is_known(info: DeviceInfo) -> bool:
        return info.state is not DeviceState.ONLINE or bool(info.android or info.note)

    changes = rack.changes()
    try:
        async with asyncio.timeout(DETAILS_BOUND_S):
            while not all(is_known(info) for info in rack.devices()):
                await anext(changes)
    except TimeoutError:
        return
