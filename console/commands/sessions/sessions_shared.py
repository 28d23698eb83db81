"""What the commands about sessions share: their arguments, JSON, and how an op is carried out."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from agent.core import Core
from agent.errors import SwitchboardError, UsageError
from agent.protocol import ErrorEvent, Op, TaskComplete, TurnAborted
from agent.records import Session
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import to_run
from console.core.device_setup import CONNECTED, NO_DEVICES
from console.core.host import run_with_core
from console.runs.unlocking import once_unlocked
from console.terminal.line_input import agree, can_ask
from console.terminal.signals import StopRequest

SESSION_ID = click.argument("session_id", metavar="SESSION")
YES = click.option("--yes", is_flag=True, help="Do not ask first.")

TASK_BOUND_S = 600.0
T = TypeVar("T")

CommandResult = tuple[str, dict[str, Any]]
"""What was done: a line for people, and an object for scripts."""


def act_on(
    ctx: click.Context,
    session_id: str,
    act: Callable[[Core, Session], Awaitable[CommandResult]],
    *,
    as_json: bool,
    is_repeatable: bool = False,
) -> None:
    """Do something with a session that needs no phone here; see `act_on_core`."""

    async def work(core: Core) -> CommandResult:
        return await act(core, await core.session(session_id))

    act_on_core(ctx, work, as_json=as_json, is_repeatable=is_repeatable)


def act_on_core(
    ctx: click.Context,
    act: Callable[[Core], Awaitable[CommandResult]],
    *,
    as_json: bool,
    sees_phones: bool = False,
    is_repeatable: bool = False,
) -> None:
    """Do something that works on no phone here, and tell what came of it; see `run_with_core`."""

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        line, told = await once_unlocked(core, lambda: act(core))
        if as_json:
            plain.print_json(told)
        else:
            say(line)
        return ExitCode.DONE

    devices = CONNECTED if sees_phones else NO_DEVICES
    end(run_with_core(ctx, work, devices=devices, is_repeatable=is_repeatable))


async def outcome_of(core: Core, session: Session, op: Op, kind: type[T]) -> T:
    """Carry an op out that begins a task, and wait for the event that is its outcome.

    Raises:
        SwitchboardError: the task ended without one, or not within ten minutes.
    """
    why = ""
    try:
        async with asyncio.timeout(TASK_BOUND_S), core.events() as events:
            await core.request(op)
            async for event in events:
                if event.session_id != session.session_id:
                    continue
                match event.msg:
                    case ErrorEvent(message=message):
                        why = message
                    case TaskComplete() | TurnAborted():
                        break
                    case msg if isinstance(msg, kind):
                        return msg
                    case _:
                        pass
    except TimeoutError:
        why = f"it took longer than {TASK_BOUND_S:g} s"
    raise SwitchboardError(
        f"No result: {why or 'its task ended without a result'}.",
        f"See what happened: {to_run(f'sessions show {session.session_id}')}",
    )


async def confirm(question: str, *, yes: bool) -> None:
    """Have somebody say that it is meant.

    Raises:
        UsageError: nobody can be asked.
        Abort: they said no.
    """
    if yes:
        return
    if not can_ask():
        raise UsageError(
            f"{question} There is no terminal for the question.", "Confirm with --yes."
        )
    await agree(question)
