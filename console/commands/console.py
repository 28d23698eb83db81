"""The console itself, on the phones that adb can see: what `switchboard` alone opens."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from typing import TYPE_CHECKING, Any

import click

from agent.errors import UsageError
from console.cli_support.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.core import Core
    from console.app_parts.first_overview import FirstLook
    from console.base_app import StartPhone
    from console.terminal.signals import StopRequest


def need_a_terminal(instead: str) -> None:
    """Refuse to draw where nobody can see or type, or where nothing can be drawn.

    Raises:
        UsageError: stdin or stdout is no terminal, or it is one that moves no cursor.
    """
    if not (os.isatty(0) and os.isatty(1)):
        raise UsageError("The console needs a terminal.", instead)
    name = os.environ.get("TERM", "")
    if name in _LINE_BY_LINE:
        raise UsageError(
            f"The console cannot draw on a terminal that only prints lines (TERM={name}).",
            f"{instead} If yours can draw, set TERM=xterm-256color.",
        )


_LINE_BY_LINE = frozenset({"dumb", "unknown"})
"""Names of terminals without any cursor: the shells of editors, consoles of build machines."""
_FEWEST_COLOURS = 8  # What every terminal with colours has.


def has_no_colours() -> bool:
    """Return whether the terminal says of itself that it has no colours, as a vt100 does.

    Asked of terminfo (terminfo(5), `max_colors`) by the name in TERM; one that it does not know is
    taken for newer than the list. COLORTERM is the word of the terminal itself, and goes before.
    """
    if os.environ.get("COLORTERM"):
        return False
    try:
        import curses
    except ImportError:
        return False
    try:
        curses.setupterm(os.environ.get("TERM", ""), 1)
    except curses.error:
        return False
    return curses.tigetnum("colors") < _FEWEST_COLOURS


async def show(
    core: Core,
    settings: Settings,
    stop: StopRequest,
    *,
    title: str = "",
    focus_session: str = "",
    replay: str = "",
    start_phone: StartPhone | None = None,
    first_look: FirstLook | None = None,
) -> ExitCode:
    """Show the console until the operator leaves it, or a signal ends it."""
    # Textual reads this once. At its own 60 a key that changes a line waits for the next picture.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    if has_no_colours():
        os.environ.setdefault("NO_COLOR", "1")
    from console.app import run_console

    failed = await run_console(
        core,
        settings=settings,
        title=title,
        focus_session=focus_session,
        replay=replay,
        start_phone=start_phone,
        first_look=first_look,
    )
    # Textual takes a cancellation as a wish to leave, and returns.
    if stop.asked.is_set():
        return stop.code
    return ExitCode.FAILED if failed else ExitCode.DONE


TAKEOVERS = 5
_WITHOUT_A_SCREEN = (
    "Without a screen there are: switchboard run GOAL, switchboard sessions list, "
    "switchboard sessions answer SESSION, and switchboard --help."
)


def open_console(ctx: click.Context) -> None:
    """Open the console; attach to the process that owns the data directory when one runs.

    When that process dies, this one takes its place; when the terminal goes, the work goes on.
    """
    from console.core.command_settings import settings_for
    from console.terminal.signals import run_async

    need_a_terminal(_WITHOUT_A_SCREEN)
    settings = settings_for(ctx)
    if settings.oidc.issuer:
        from console.core.signing_in import sign_in_where_asked

        # Before there is a screen, on which a code could not be read.
        asyncio.run(sign_in_where_asked(settings))
    # Thousands of classes and rules are about to be made, and none of them is garbage.
    gc.disable()
    for _ in range(TAKEOVERS):
        taken_over: list[bool] = []

        async def work(stop: StopRequest, died: list[bool] = taken_over) -> ExitCode:
            code, is_orphaned = await _show_while_it_lives(settings, stop)
            died.append(is_orphaned)
            return code

        code = run_async(work)
        if not any(taken_over):
            end(code)
            return
        if settings.core.address:
            say(
                f"The connection to {settings.core.address} has ended; the sessions there continue."
            )
            end(ExitCode.FAILED)
            return
        say("The process that ran the sessions has died; this console takes over.")
    raise UsageError("The core died repeatedly.", "See the log in the data directory.")


async def _show_while_it_lives(settings: Settings, stop: StopRequest) -> tuple[ExitCode, bool]:
    """Show the console until it is left, or until the core of another process dies under it.

    The core is opened behind the console, once that is on the terminal.

    Returns:
        The exit code, and whether there is a core to take over.
    """
    from console.core.core_opening import flush_pending, hold
    from console.core.deferred_core import DeferredCore
    from console.core.hangup import leave_terminal, run_without_terminal

    def hung_up() -> None:
        # Before anything is drawn again: whoever writes to a terminal that has gone may hang.
        leave_terminal()
        stop.ask(signal.SIGHUP)

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hung_up)
    coming, left = DeferredCore(), asyncio.Event()
    showing = asyncio.ensure_future(
        show(coming, settings, stop, start_phone=coming.start_phone, first_look=coming.first_look)
    )
    holding = asyncio.ensure_future(hold(coming, settings, left))
    try:
        code, is_left = await _shown(showing, holding, stop)
        host = coming.host
        if host is not None and stop.asked.is_set() and stop.code is ExitCode.HANGUP and host.owned:
            await run_without_terminal(host)
        await flush_pending(coming, holding)
    finally:
        left.set()
        if coming.host is None:
            holding.cancel()
        try:
            # A signal that comes now reaches the closing.
            has_died = await holding
        except asyncio.CancelledError:
            if coming.host is not None:
                raise
            has_died = False
    return code, has_died and not is_left


async def _shown(
    showing: asyncio.Future[ExitCode], holding: asyncio.Future[bool], stop: StopRequest
) -> tuple[ExitCode, bool]:
    """Wait until the console is left; end it when it has no core any more, or gets none.

    Returns:
        The exit code, and whether it was the operator or a signal that ended the console.
    """
    both: set[asyncio.Future[Any]] = {showing, holding}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not showing.done():
            # Textual takes a cancellation as a wish to leave.
            showing.cancel()
            await asyncio.wait({showing})
            return ExitCode.DONE, False
        return await showing, True
    except asyncio.CancelledError:
        showing.cancel()
        await asyncio.wait({showing})
        if not stop.asked.is_set():
            raise
        return stop.code, True
    except OSError:
        # A terminal that has gone cannot be restored.
        if stop.code is not ExitCode.HANGUP or not stop.asked.is_set():
            raise
        return stop.code, True
