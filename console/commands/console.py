"""The console itself, on the phones that adb can see: what `switchboard` alone opens."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.core import Core
    from console.app import StartPhone
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
    start_phone: StartPhone | None = None,
) -> ExitCode:
    """Show the console until the operator leaves it, or a signal ends it."""
    # Textual reads this once. At its own 60 a key that changes a line waits for the next picture.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from console.app import run_console

    failed = await run_console(
        core,
        settings=settings,
        title=title,
        focus_session=focus_session,
        replay=replay,
        start_phone=start_phone,
    )
    # Textual takes a cancellation as a wish to leave, and returns.
    if stop.asked.is_set():
        return stop.code
    return ExitCode.FAILED if failed else ExitCode.DONE


TAKEOVERS = 5


def open_console(ctx: click.Context) -> None:
    """Open the console; attach to the process that owns the data directory when one runs.

    When that process dies, this one takes its place; when the terminal goes, the work goes on.
    """
    from console.host import run_with_host
    from console.rack import EVERYTHING
    from console.setup import settings_for

    need_a_terminal("Work without one with: switchboard run GOAL, or see: switchboard --help")
    settings = settings_for(ctx)
    for _ in range(TAKEOVERS):
        taken_over: list[bool] = []

        async def work(host: Host, stop: StopRequest, died: list[bool] = taken_over) -> ExitCode:
            code, is_orphaned = await _show_while_it_lives(host, settings, stop)
            died.append(is_orphaned)
            return code

        code = run_with_host(settings, EVERYTHING, work)
        if not any(taken_over):
            end(code)
            return
        say("The process that ran the sessions has died; this console takes its place.")
    raise UsageError("The core died again and again.", "See the log in the data directory.")


async def _show_while_it_lives(
    host: Host, settings: Settings, stop: StopRequest
) -> tuple[ExitCode, bool]:
    """Show the console until it is left, or until the core of another process dies under it.

    Returns:
        The exit code, and whether there is a core to take over.
    """
    from console.lingering import leave_terminal, linger

    def hung_up() -> None:
        # Before anything is drawn again: whoever writes to a terminal that has gone may hang.
        leave_terminal()
        stop.ask(signal.SIGHUP)

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hung_up)
    showing = asyncio.ensure_future(show(host.core, settings, stop, start_phone=host.start_phone))
    closing = asyncio.ensure_future(host.closed())
    try:
        await asyncio.wait({showing, closing}, return_when=asyncio.FIRST_COMPLETED)
        if not showing.done() and not host.owned and not closing.result():
            # Textual takes a cancellation as a wish to leave.
            showing.cancel()
            await asyncio.wait({showing})
            return ExitCode.DONE, True
        code = await showing
    except asyncio.CancelledError:
        showing.cancel()
        await asyncio.wait({showing})
        code = stop.code
        if not stop.asked.is_set():
            raise
    except OSError:
        # A terminal that has gone cannot be restored.
        if stop.code is not ExitCode.HANGUP or not stop.asked.is_set():
            raise
        code = stop.code
    finally:
        closing.cancel()
    if host.owned and stop.asked.is_set() and stop.code is ExitCode.HANGUP:
        await linger(host)
    return code, False
