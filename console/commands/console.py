"""The console itself, on the phones that adb can see: what `switchboard` alone opens."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from console.exits import ExitCode, end

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.core import Core
    from console.host import Host
    from console.stopping import StopRequest


def need_a_terminal(instead: str) -> None:
    """Refuse to draw where nobody can see or type.

    Raises:
        UsageError: stdin or stdout is no terminal.
    """
    if not (os.isatty(0) and os.isatty(1)):
        raise UsageError("The console needs a terminal.", instead)


async def show(
    core: Core,
    settings: Settings,
    stop: StopRequest,
    *,
    title: str = "",
    focus_session: str = "",
    replay: str = "",
) -> ExitCode:
    """Show the console until the operator leaves it, or a signal ends it."""
    from console.app import run_console

    failed = await run_console(
        core, settings=settings, title=title, focus_session=focus_session, replay=replay
    )
    # Textual takes a cancellation as a wish to leave, and returns.
    if stop.asked.is_set():
        return stop.code
    return ExitCode.FAILED if failed else ExitCode.DONE


def open_console(ctx: click.Context) -> None:
    """Open the console; attach to the process that owns the data directory when one runs."""
    from console.host import run_with_host
    from console.rack import EVERYTHING
    from console.setup import settings_for

    need_a_terminal("Work without one with: switchboard run GOAL, or see: switchboard --help")
    settings = settings_for(ctx)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        return await show(host.core, settings, stop)

    end(run_with_host(settings, EVERYTHING, work))
