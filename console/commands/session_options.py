"""The options that say what a session may do and use up, the same wherever one is begun."""

from collections.abc import Callable
from typing import TypedDict

import click
from msgspec.structs import replace

from agent.errors import UsageError
from agent.protocol import SessionCreate
from agent.records import Allowance, AtLimit, Autonomy, Budget, ReasoningEffort


class Permission(TypedDict):
    """What the options say, by their names."""

    tool_servers: tuple[str, ...]
    autonomy: str | None
    allow: tuple[Allowance, ...]
    require: tuple[str, ...]
    let_through: bool
    dry_run: bool
    max_steps: int | None
    max_seconds: float
    max_tokens: int
    max_cost: float
    at_limit: str | None
    reasoning_effort: str | None


REQUIRE = click.option(
    "--require",
    multiple=True,
    metavar="TEXT",
    help="Require this too before the goal counts as met; repeatable.",
)
"""A requirement beside those in the goal."""
LET_THROUGH = click.option(
    "--let-through",
    "let_through",
    is_flag=True,
    help="Do not redact what looks like a secret in this text, for this session; it is stored.",
)
"""What lets a text be stored, typed and sent to the model as it is written."""


def _needs(_ctx: click.Context, _param: click.Parameter, given: str) -> str:
    """Read what is given to `--needs`."""
    if not given:
        return ""
    from agent.placement.needs import parse_needs

    try:
        return str(parse_needs(given))
    except UsageError as error:
        raise click.BadParameter(f"{error.message} {error.remedy}".rstrip()) from error


def _each(_ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Read what is given to `--each`."""
    if given is None or given == "all":
        return None if given is None else ""
    if not given.strip():
        raise click.BadParameter("It names no phones. Write tag:wall, or all.")
    return _needs(_ctx, param, given)


def _pace(_ctx: click.Context, _param: click.Parameter, given: str) -> float:
    """Read a pace, as phones a minute."""
    if not given:
        return 0.0
    number, _, unit = given.partition("/")
    try:
        pace = float(number) / {"min": 1, "m": 1, "h": 60, "s": 1 / 60}[unit.strip() or "min"]
    except (KeyError, ValueError):
        pace = -1.0
    if not 0 < pace <= 6000:
        raise click.BadParameter(f"{given!r} is not a pace. Write 10/min or 30/h.")
    return pace


NEEDS = click.option(
    "--needs",
    default="",
    callback=_needs,
    metavar="NEEDS",
    help="Requirements for the phone: tag:wall,app:com.example>=3.2,locale:de,android>=13,"
    "sdk>=33,screen>=1080x1920,same:SESSION or spread; waits for one.",
)
"""What the phone has to be."""

EACH = click.option(
    "--each",
    default=None,
    callback=_each,
    metavar="NEEDS",
    help="Start a campaign on every matching phone, like tag:wall or 'all', and print a summary.",
)
PACE = click.option(
    "--pace",
    default="",
    callback=_pace,
    metavar="N/min",
    help="With --each: start this many per minute (or N/h); default: all at once.",
)
AT_ONCE = click.option(
    "--at-once",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="With --each: run at most this many at once; 0: no limit.",
)
STOP_AFTER = click.option(
    "--stop-after-failures",
    "stop_after",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="With --each: start no more after this many failures; 0: never.",
)

BASE_URL = click.option(
    "--base-url", metavar="URL", help="Address of an OpenAI-compatible endpoint."
)

ACCOUNT = click.option(
    "--account", default="", metavar="NAME", help="Account for fair shares and run.max_at_once."
)
"""Whose share of the phones it is."""


def _allowances(
    _ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]
) -> tuple[Allowance, ...]:
    """Read what is given to `--allow`."""
    if not given:
        return ()
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
            help="Reasoning effort of the model.",
        ),
        click.option(
            "--at-limit",
            type=click.Choice(["ask", "stop"]),
            help="What to do at a limit; without a terminal: stop.",
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
            help="Maximum seconds of work, not counting waits for a person.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="Maximum tokens, input plus output.",
        ),
        click.option(
            "--max-steps",
            type=click.IntRange(1, 10_000),
            metavar="N",
            help="Maximum steps; 30 by default.",
        ),
        click.option("--dry-run", is_flag=True, help="Show the first action without doing it."),
        LET_THROUGH,
        click.option(
            "--allow",
            multiple=True,
            callback=_allowances,
            metavar="KIND:LIMIT:NAMES",
            help='Send or spend up to a limit without asking, as "send:3:Ana Silva,Mom" or '
            '"spend:20 EUR:Corner Cafe"; repeatable.',
        ),
        REQUIRE,
        click.option(
            "--mcp",
            "tool_servers",
            multiple=True,
            metavar="NAME",
            help="Use the tools of [mcp.servers.NAME]; repeatable.",
        ),
        click.option(
            "--autonomy",
            type=click.Choice(["observe_only", "ask_before_action", "trusted_actions"]),
            help="How much is allowed without asking.",
        ),
    ):
        command = option(command)
    return command


def permitted(op: SessionCreate, given: Permission) -> SessionCreate:
    """Return a request for a session as the options say; the settings say the rest."""
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
        requires=given["require"],
        let_through=given["let_through"],
        dry_run=given["dry_run"],
        reasoning_effort=ReasoningEffort(effort) if effort else None,
    )
