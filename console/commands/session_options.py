"""The options that say what a session may do and use up, the same wherever one is begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

import click

if TYPE_CHECKING:
    from agent.protocol import SessionCreate
    from agent.records import Allowance


class Permission(TypedDict):
    """What the options say, by their names."""

    tool_servers: tuple[str, ...]
    autonomy: str | None
    allow: tuple[Allowance, ...]
    let_through: bool
    dry_run: bool
    max_steps: int | None
    max_seconds: float
    max_tokens: int
    max_cost: float
    at_limit: str | None
    reasoning_effort: str | None


LET_THROUGH = click.option(
    "--let-through",
    "let_through",
    is_flag=True,
    help="Do not redact what looks like a secret in this text, for this session; it is stored.",
)
"""What lets a text be stored, typed and sent to the model as it is written."""


def _allowances(
    _ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]
) -> tuple[Allowance, ...]:
    """Read what is given to `--allow`."""
    if not given:
        return ()
    from agent.errors import UsageError
    from agent.safety.allowances.parsing import checked_allowances, parse_allowance

    try:
        return checked_allowances([parse_allowance(text) for text in given])
    except UsageError as error:
        raise click.BadParameter(f"{error.message} {error.remedy}".rstrip()) from error


def permission_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command."""
    for option in (
        click.option(
            "--reasoning-effort",
            type=click.Choice(["none", "minimal", "low", "medium", "high", "xhigh"]),
            help="How long a model that reasons may do so.",
        ),
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
            help="Maximum cost of model calls.",
        ),
        click.option(
            "--max-seconds",
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="N",
            help="Maximum seconds of work; waiting for a person does not count.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="Maximum tokens, in and out.",
        ),
        click.option(
            "--max-steps",
            type=click.IntRange(1, 10_000),
            metavar="N",
            help="Maximum steps; 30 by default.",
        ),
        click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing."),
        LET_THROUGH,
        click.option(
            "--allow",
            multiple=True,
            callback=_allowances,
            metavar="KIND:LIMIT:NAMES",
            help='Send or spend up to a limit without asking, as "send:3:Ana Silva,Mom" or '
            '"spend:20 EUR:Corner Cafe"; may be repeated.',
        ),
        click.option(
            "--mcp",
            "tool_servers",
            multiple=True,
            metavar="NAME",
            help="Give it the tools of [mcp.servers.NAME]; may be repeated.",
        ),
        click.option(
            "--autonomy",
            type=click.Choice(["observe_only", "ask_before_action", "trusted_actions"]),
            help="How much may be done without asking.",
        ),
    ):
        command = option(command)
    return command


def permitted(op: SessionCreate, given: Permission) -> SessionCreate:
    """Return a request for a session as the options say; the settings say the rest."""
    from msgspec.structs import replace

    from agent.records import AtLimit, Autonomy, Budget, ReasoningEffort

    effort, autonomy, limit = given["reasoning_effort"], given["autonomy"], given["at_limit"]
    budget = Budget(
        seconds=given["max_seconds"], tokens=given["max_tokens"], cost_usd=given["max_cost"]
    )
    return replace(
        op,
        max_steps=given["max_steps"] or 0,
        budget=budget if budget != Budget() else None,
        at_limit=AtLimit(limit) if limit else None,
        autonomy=Autonomy(autonomy) if autonomy else None,
        tool_servers=given["tool_servers"],
        allowances=given["allow"],
        let_through=given["let_through"],
        dry_run=given["dry_run"],
        reasoning_effort=ReasoningEffort(effort) if effort else None,
    )
