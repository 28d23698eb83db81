"""The console of one browser tab: a process that the server starts, with textual's web driver.

Not a command for people. Invariant: it attaches to a core and never becomes one, so a tab that is
closed takes no session with it.
"""

from __future__ import annotations

import asyncio
import os

import click

from console.cli_support.exits import ExitCode, end, run_command

INSTEAD = "To answer and act: switchboard web --drive"
_LOOK_S = 1.0


@click.command()
@click.option("--data-dir", required=True)
@click.option("--config")
@click.option("--core")
@click.option("--drive", is_flag=True)
@click.pass_context
def tab(
    ctx: click.Context, data_dir: str, config: str | None, core: str | None, drive: bool
) -> None:
    """Show the console on the pipes to the server."""
    from agent.errors import RuntimeDiedError
    from agent.runtime.read_only_core import LookingCore
    from console.commands.console import show
    from console.core.command_settings import settings_for
    from console.core.host import attach
    from console.terminal.signals import StopRequest, run_async

    ctx.obj = {"data_dir": data_dir, "config": config, "core": core}
    settings = settings_for(ctx)

    async def work(stop: StopRequest) -> ExitCode:
        client = await attach(settings)
        if client is None:
            raise RuntimeDiedError("No core is running.", "Start 'switchboard web' again.")
        shown = client if drive else LookingCore(client, remedy=INSTEAD)
        title = "" if drive else "read-only"
        showing = asyncio.ensure_future(show(shown, settings, stop, title=title))
        ends = [asyncio.ensure_future(client.wait_closed()), asyncio.ensure_future(_orphaned())]
        try:
            await asyncio.wait({showing, *ends}, return_when=asyncio.FIRST_COMPLETED)
            # Textual takes a cancellation as a wish to leave.
            showing.cancel()
            await asyncio.wait({showing})
            return ExitCode.DONE if showing.cancelled() else await showing
        finally:
            for one in ends:
                one.cancel()
            await client.close()

    end(run_async(work))


async def _orphaned() -> None:
    """Wait until the server that started this process is gone: nobody sees the tab any more."""
    server = os.getppid()
    # No event tells of a parent's end on every system.
    while os.getppid() == server:  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_S)


if __name__ == "__main__":
    raise SystemExit(run_command(tab))
