"""`switchboard replay`: the console's session view, fed from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.cli_support.exits import ExitCode, end

if TYPE_CHECKING:
    from agent.core import Core
    from console.core.stored_core import Records
    from console.terminal.signals import StopRequest


@click.command(
    epilog="""\b
Examples:
  switchboard replay 3f2a
"""
)
@click.argument("session_id", metavar="SESSION")
@click.pass_context
def replay(ctx: click.Context, session_id: str) -> None:
    """Replay a stored SESSION, step by step, as it was seen."""
    from console.commands.console import need_a_terminal, show
    from console.core.command_settings import settings_for
    from console.core.host import run_with_core, run_with_records
    from console.terminal.line_input import can_ask

    settings = settings_for(ctx)

    async def known(records: Records) -> ExitCode:
        await records.session(session_id)
        return ExitCode.DONE

    if not can_ask():
        # An id that nobody knows is the nearer mistake.
        run_with_records(ctx, known)
    need_a_terminal("Read it as text with: switchboard sessions show SESSION.")

    async def work(core: Core, _owned: bool, stop: StopRequest) -> ExitCode:
        session = await core.session(session_id)
        return await show(core, settings, stop, replay=session.session_id)

    end(run_with_core(ctx, work))
