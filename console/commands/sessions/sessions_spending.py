"""`switchboard sessions spending`: what was used by the day, and the sessions that cost most."""

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from agent.protocol import SumSpending
from agent.records import DaySpent, Spending, Usage
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import columns
from console.core.host import run_with_records

if TYPE_CHECKING:
    from console.core.stored_core import Records


@click.command(
    epilog="""\b
Examples:
  switchboard sessions spending
  switchboard sessions spending --days 90 --json | jq '[.days[].costUsd] | add'

Days are in this computer's time zone. A session counts on the day it started, a fork without the
past that it copied, and a watcher's model calls on the day they were made.
"""
)
@click.option("--days", type=click.IntRange(1, 3660), default=14, show_default=True)
@JSON_OPTION
@click.pass_context
def spending(ctx: click.Context, days: int, as_json: bool) -> None:
    """Show tokens and cost by day, and the most expensive sessions."""
    from agent.store.store import wall_clock_ms
    from console.cli_support.days import begin_ms, day_of

    since_ms = begin_ms(day_of(wall_clock_ms()) - timedelta(days=days - 1))

    async def work(core: "Records") -> ExitCode:
        found = await core.look_up(SumSpending(since_ms=since_ms))
        if as_json:
            plain.print_json(_object(found))
        elif not found.days:
            say(
                f"No session began in the last {counted(days, 'day')}, "
                "and nothing was judged for watchers."
            )
        else:
            plain.print_text(_text(found))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _object(found: Spending) -> dict[str, object]:
    return {
        "days": [
            {
                "day": day.day,
                "sessions": day.sessions,
                "completed": day.completed,
                "failed": day.failed,
                "steps": day.steps,
                **_usage(day.usage),
                "watchers": _usage(day.watchers),
            }
            for day in found.days
        ],
        "dearest": [
            {
                "sessionId": one.session.session_id,
                "title": one.session.title or one.session.goal,
                **_usage(one.usage),
            }
            for one in found.dearest
        ],
    }


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "inputTokens": usage.input_tokens,
        "cachedInputTokens": usage.cached_input_tokens,
        "outputTokens": usage.output_tokens,
        "calls": usage.calls,
        "costUsd": round(usage.cost_usd, 6),
    }


def _text(found: Spending) -> str:
    days = columns(
        ("DAY", "SESSIONS", "DONE", "FAILED", "STEPS", "TOKENS", "MONEY"),
        [_day_row(day) for day in found.days],
    )
    watchers = Usage()
    for day in found.days:
        watchers = watchers.plus(day.watchers)
    if watchers.calls:
        used, cost = _figures(watchers)
        paid = f" and {cost}" if watchers.cost_usd else ""
        days = f"{days}\n\nTokens of it that judging for watchers took: {used}{paid}."
    if not found.dearest:
        return days
    dearest = columns(
        ("SESSION", "TOKENS", "MONEY", "GOAL"),
        [
            (one.session.session_id, *_figures(one.usage), one.session.title or one.session.goal)
            for one in found.dearest
        ],
    )
    return f"{days}\n\n{dearest}"


def _day_row(day: DaySpent) -> tuple[str, ...]:
    counts = (day.sessions, day.completed, day.failed, day.steps)
    return (day.day, *(str(count) for count in counts), *_figures(day.usage))


def _figures(usage: Usage) -> tuple[str, str]:
    """Return tokens and money; `-` where no price was known or nothing was paid."""
    from widgets.base.formatting import money, tokens

    used = usage.input_tokens + usage.output_tokens
    return tokens(used), money(usage.cost_usd) if usage.cost_usd else "-"
