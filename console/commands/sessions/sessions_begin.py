"""`switchboard sessions create`, `create-attach` and `start`: drafts, and what sets them going."""

from secrets import token_hex
from typing import Unpack

import click

from agent.core import Core
from agent.protocol import SessionAttach, SessionCreate, SessionStart, UserInput
from agent.records import SessionState
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.commands.session_options import (
    ACCOUNT,
    LET_THROUGH,
    NEEDS,
    Permission,
    permission_options,
    permitted,
)
from console.commands.sessions.sessions_shared import SESSION_ID, CommandResult, act_on_core
from console.core.command_settings import settings_for, to_run
from console.core.device_setup import EVERYTHING
from console.core.host import Host, run_with_host, run_with_session
from console.runs.unlocking import request
from console.terminal.signals import StopRequest

_TARGET = click.option(
    "--target-package", default="", metavar="PACKAGE", help="Bind it to one app: a home session."
)
_MODEL = click.option("--model", default="", metavar="NAME", help="Model to ask.")
_GOAL = click.option("--goal", default="", metavar="TEXT", help="Goal, if already known.")
_DEVICE = click.option("--device", "serial", default="", metavar="SERIAL", help="Its phone.")


@click.command(
    epilog="""\b
Examples:
  switchboard sessions create --target-package com.android.settings
  switchboard sessions create --goal "tidy the notes" --json | jq -r .sessionId
  switchboard sessions create --goal "tidy the notes" --autonomy ask_before_action --max-steps 15
"""
)
@_TARGET
@_GOAL
@_DEVICE
@NEEDS
@ACCOUNT
@_MODEL
@permission_options
@JSON_OPTION
@click.pass_context
def create(
    ctx: click.Context,
    *,
    target_package: str,
    goal: str,
    serial: str,
    needs: str,
    account: str,
    model: str,
    as_json: bool,
    **permission: Unpack[Permission],
) -> None:
    """Create a draft: a session that waits for 'sessions start'."""
    from agent.codex_bridge.calls import Bridge

    op = SessionCreate(
        goal=goal,
        target_package=target_package,
        model=model,
        serial=serial,
        phone_needs=needs,
        account=account,
        request_id=token_hex(8),
    )

    async def act(core: Core) -> CommandResult:
        made = await Bridge(core, core.request).create(permitted(op, permission))
        started = to_run(f"sessions start {made['sessionId']}")
        return f"Created {made['sessionId']}. Start it: {started}", made

    act_on_core(ctx, act, as_json=as_json, sees_phones=bool(serial), is_repeatable=True)


@click.command("create-attach")
@_TARGET
@_GOAL
@_DEVICE
@NEEDS
@ACCOUNT
@_MODEL
@permission_options
@click.pass_context
def create_attach(
    ctx: click.Context,
    *,
    target_package: str,
    goal: str,
    serial: str,
    needs: str,
    account: str,
    model: str,
    **permission: Unpack[Permission],
) -> None:
    """Create a draft, open the console on it and drive it; unstarted, it stays idle afterwards."""
    from console.commands.console import need_a_terminal, show

    need_a_terminal("Make a draft without one: switchboard sessions create.")
    settings = settings_for(ctx)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        op = SessionCreate(
            goal=goal,
            target_package=target_package,
            model=model,
            serial=serial,
            phone_needs=needs,
            account=account,
            start=False,
            hold=True,
        )
        made = await request(host, permitted(op, permission))
        await host.core.request(SessionAttach(session_id=made.session_id))
        return await show(host.core, settings, stop, focus_session=made.session_id)

    end(run_with_host(settings, EVERYTHING, work))


@click.command(
    epilog="""\b
Examples:
  switchboard sessions start 3f2a --prompt "turn on Bluetooth"
  switchboard sessions start 3f2a --json | jq .childSessionIds
"""
)
@SESSION_ID
@click.option("--prompt", default="", metavar="TEXT", help="What to do; default: the draft's goal.")
@LET_THROUGH
@JSON_OPTION
@click.pass_context
def start(
    ctx: click.Context, *, session_id: str, prompt: str, let_through: bool, as_json: bool
) -> None:
    """Start a draft, or give an idle session its next prompt.

    If no other process owns the data directory, this one runs it to its end. Exit codes are those
    of 'run'.
    """
    from agent.codex_bridge.calls import Bridge
    from console.runs.run import pursue_stored
    from console.runs.run_follower import FollowOptions

    settings = settings_for(ctx)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        bridge = Bridge(host.core, host.core.request)
        session = await host.core.session(session_id)
        asked = prompt.strip() or session.goal
        if host.owned:
            is_idle = session.state is SessionState.WAITING_FOR_USER and not session.turn_id
            op = (
                UserInput(session_id=session.session_id, text=asked, let_through=let_through)
                if is_idle
                else SessionStart(
                    session_id=session.session_id, prompt=prompt, let_through=let_through
                )
            )
            options = FollowOptions(
                quiet=as_json, silent=as_json, answer_timeout_s=settings.run.answer_timeout_s
            )
            code = await pursue_stored(settings, host, session.session_id, op, stop, options)
            if as_json:
                plain.print_json(await bridge.started(session.session_id))
            return code
        told = await bridge.start(session.session_id, asked, let_through=let_through)
        if as_json:
            plain.print_json(told)
        else:
            say(f"Started {session.session_id}.")
        return ExitCode.DONE

    end(run_with_session(settings, session_id, work))
