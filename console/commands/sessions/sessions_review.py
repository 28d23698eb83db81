"""What looks back at a session: a review of what went wrong, and a summary in place of its past."""

from collections.abc import Awaitable, Callable

import click
import msgspec

from agent import protocol
from agent.records import Review
from agent.text import clean
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.options import JSON_OPTION
from console.commands.sessions.sessions_shared import SESSION_ID, outcome_of
from console.core.command_settings import settings_for
from console.core.host import Host, run_with_session
from console.terminal.signals import StopRequest


@click.command()
@SESSION_ID
@click.option("--request", default="", metavar="TEXT", help="What to focus on.")
@JSON_OPTION
@click.pass_context
def review(ctx: click.Context, session_id: str, request: str, as_json: bool) -> None:
    """Review a finished session: what went wrong first, and what to do about it."""

    async def work(host: Host, _stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        op = protocol.SessionReview(session_id=session.session_id, request=request)
        _tell_review(
            (await outcome_of(host.core, session, op, protocol.ReviewPublished)).review, as_json
        )
        return ExitCode.DONE

    _with_session(ctx, session_id, work)


def _tell_review(found: Review, as_json: bool) -> None:
    if as_json:
        plain.print_json(msgspec.to_builtins(found))
        return
    lines = []
    for number, finding in enumerate(found.findings, start=1):
        where = f" (step {finding.step})" if finding.step else ""
        lines.append(f"{number}. {finding.title}{where}, {finding.confidence:.0%} sure")
        lines.append(f"   {finding.body}" if finding.body else "")
    lines.append(found.explanation or "It found nothing to report.")
    plain.print_text(clean("\n".join(filter(None, lines)), 20_000))


@click.command()
@SESSION_ID
@JSON_OPTION
@click.pass_context
def compact(ctx: click.Context, session_id: str, as_json: bool) -> None:
    """Replace what the model remembers of a session with a summary."""

    async def work(host: Host, _stop: StopRequest) -> ExitCode:
        session = await host.core.session(session_id)
        op = protocol.SessionCompact(session_id=session.session_id)
        summary = (await outcome_of(host.core, session, op, protocol.HistoryCompacted)).text
        if as_json:
            plain.print_json({"ok": True, "summary": summary})
        else:
            plain.print_text(clean(summary, 20_000))
        return ExitCode.DONE

    _with_session(ctx, session_id, work)


def _with_session(
    ctx: click.Context, session_id: str, work: Callable[[Host, StopRequest], Awaitable[ExitCode]]
) -> None:
    end(run_with_session(settings_for(ctx), session_id, work))
