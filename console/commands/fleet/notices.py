"""`switchboard notices`: the channels of the settings, and a message to try one."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from agent.text import one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for

if TYPE_CHECKING:
    from agent.channels.channel import Channel, Message


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard notices list
  switchboard notices test ana
""",
)
def notices() -> None:
    """Show and test the channels by which people are told that something waits."""


@notices.command("list")
@JSON_OPTION
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the channels of your settings, whose they are, and whether they can be used."""
    from agent.channels.configured import make_channel
    from agent.errors import ConfigError

    settings = settings_for(ctx)
    rows = []
    for name, said in settings.notices.channels.items():
        trouble = ""
        try:
            make_channel(name, settings, _now_ms)
        except ConfigError as error:
            trouble = str(error)
        rows.append(
            (name, said.kind.value, said.operator, said.quiet or settings.notices.quiet, trouble)
        )
    if as_json:
        keys = ("name", "kind", "operator", "quiet", "trouble")
        plain.print_json([dict(zip(keys, row, strict=True)) for row in rows])
    elif not rows:
        say("There are no channels: add one below notices.channels in the settings.")
    else:
        shown = [(*row[:2], row[2] or "-", row[3] or "-", row[4] or "ready") for row in rows]
        plain.print_text(plain.columns(("NAME", "KIND", "OPERATOR", "QUIET", "STATE"), shown))
    end(ExitCode.DONE)


@notices.command("test")
@click.argument("name")
@click.pass_context
def test_command(ctx: click.Context, name: str) -> None:
    """Send a message by a channel of your settings."""
    from agent.channels.channel import Message
    from agent.channels.configured import make_channel

    settings = settings_for(ctx)
    channels = settings.notices.channels
    if name not in channels:
        raise UsageError(
            f"There is no channel {one_line(name, 60)!r} in the settings.",
            f"notices.channels has {', '.join(sorted(channels)) or 'none'}.",
        )
    channel = make_channel(name, settings, _now_ms)
    message = Message(
        key="test",
        title="Switchboard",
        text=f"This is a test of the channel {name}. Nothing waits for an answer.",
    )
    asyncio.run(_send(channel, message))
    whose = channels[name].operator
    takes = f"takes answers of {whose}" if whose and channel.takes_answers else "takes no answers"
    say(f"The message was accepted. The channel {name} {takes}.")
    end(ExitCode.DONE)


async def _send(channel: Channel, message: Message) -> None:
    try:
        await channel.send(message)
    finally:
        await channel.close()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
