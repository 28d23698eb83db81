"""The options that say what a session may do and use up."""

from __future__ import annotations

from collections.abc import Callable

import click


def permission_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command."""
    for option in (
        click.option(
            "--at-limit",
            type=click.Choice(["ask", "stop"]),
            help="What to do when a budget is spent; without a terminal: stop.",
        ),
        click.option(
            "--max-cost",
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="USD",
            help="Most that model calls may cost.",
        ),
        click.option(
            "--max-seconds",
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="N",
            help="Most seconds of work, waiting for a person left out.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="Most tokens, in and out.",
        ),
        click.option(
            "--dry-run", is_flag=True, help="Say and draw the first action, and do nothing."
        ),
        click.option(
            "--autonomy",
            type=click.Choice(["observe_only", "ask_before_action", "trusted_actions"]),
            help="How much may be done without asking.",
        ),
    ):
        command = option(command)
    return command
