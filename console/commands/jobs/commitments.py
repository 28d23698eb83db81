"""`switchboard commitments`: what somebody has promised, and is to be reminded of.

A client of the process that owns the data directory when one runs; otherwise it writes the store
itself. Invariant: a commitment is only kept here; it comes due where the store is owned.
"""

from datetime import datetime
from secrets import token_hex
from typing import TYPE_CHECKING

import click

from agent.core import Core
from agent.protocol import CommitmentCreate, CommitmentSearch, CommitmentUpdate
from agent.records import CommitmentStatus, Origin, OriginKind
from agent.state.terms import term
from agent.text import one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import when_ms
from console.commands.jobs.commitments_show import show
from console.core.device_setup import CONNECTED, NO_DEVICES
from console.core.host import run_with_core, run_with_records
from console.terminal.signals import StopRequest

if TYPE_CHECKING:
    from console.core.stored_core import Records


@click.group(cls=CommandGroup)
def commitments() -> None:
    """Track promises, with reminders."""


commitments.add_command(show)


@commitments.command(
    epilog="""\b
Examples:
  switchboard commitments create "call Ana about the rent" --due 18:30
  switchboard commitments create "send the papers" --due 2d --description "to the tax office"
  switchboard commitments create "answer Ana" --message-from Ana --due 2h
"""
)
@click.argument("title")
@click.option("--description", default="", help="Details.")
@click.option(
    "--due", metavar="WHEN", help="When to be reminded, like 2h or 18:30; never if left out."
)
@click.option("--expires", metavar="WHEN", help="When it is dismissed automatically.")
@click.option("--message-from", "sender", default="", metavar="NAME", help="Quote their message.")
@click.option("--notification", default="", metavar="TEXT", help="Quote a notification with this.")
@click.option("--device", "serial", default="", metavar="SERIAL", help="The phone to quote from.")
@JSON_OPTION
@click.pass_context
def create(
    ctx: click.Context,
    *,
    title: str,
    description: str,
    due: str | None,
    expires: str | None,
    sender: str,
    notification: str,
    serial: str,
    as_json: bool,
) -> None:
    """Create a commitment."""
    if serial and not (sender or notification):
        raise click.UsageError("--device needs --message-from or --notification.", ctx=ctx)
    kind = OriginKind.MESSAGE if sender else OriginKind.NOTIFICATION
    origin = Origin(kind=kind, serial=serial, sender=sender, text=notification)
    op = CommitmentCreate(
        title=title,
        description=description,
        due_at=_when_ms(due),
        expires_at=_when_ms(expires),
        origin=origin if sender or notification else None,
        request_id=token_hex(8),
    )
    _send(ctx, op, as_json=as_json)


@commitments.command("list")
@click.option("--query", default="", metavar="TEXT", help="Only those that contain this.")
@click.option("--all", "all_of_them", is_flag=True, help="Include those that are over.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@JSON_OPTION
@click.pass_context
def list_commitments(
    ctx: click.Context, query: str, all_of_them: bool, limit: int, as_json: bool
) -> None:
    """List commitments that are open, newest first."""
    from console.core.stored_core import StoredRecords, owner

    async def work(records: "Records") -> ExitCode:
        if isinstance(records, StoredRecords):
            found = await records.store.watches.commitments(query=query, limit=limit)
        else:
            op = CommitmentSearch(query=query, limit=limit)
            found = (await owner(records).request(op)).commitments
        wanted = [one for one in found if all_of_them or not one.status.is_over]
        if as_json:
            plain.print_json({"data": [plain.as_builtins(one) for one in wanted]})
        elif not wanted:
            say("No commitments. Make one with: switchboard commitments create TITLE --due 18:30")
        else:
            rows = [
                (str(one.id), one.status.value, plain.moment(one.due_at), one.title)
                for one in wanted
            ]
            plain.print_text(plain.columns(("ID", "STATUS", "DUE", "TITLE"), rows))
        return ExitCode.DONE

    end(run_with_records(ctx, work))


@commitments.command()
@click.argument("commitment_id", type=click.IntRange(1), metavar="COMMITMENT")
@JSON_OPTION
@click.pass_context
def complete(ctx: click.Context, commitment_id: int, as_json: bool) -> None:
    """Complete a commitment."""
    _update(ctx, commitment_id, "completed", as_json=as_json)


@commitments.command()
@click.argument("commitment_id", type=click.IntRange(1), metavar="COMMITMENT")
@JSON_OPTION
@click.pass_context
def dismiss(ctx: click.Context, commitment_id: int, as_json: bool) -> None:
    """Dismiss a commitment."""
    _update(ctx, commitment_id, "dismissed", as_json=as_json)


@commitments.command()
@click.argument("commitment_id", type=click.IntRange(1), metavar="COMMITMENT")
@click.option("--until", metavar="WHEN", help="Like 2h or 18:30; an hour if left out.")
@JSON_OPTION
@click.pass_context
def snooze(ctx: click.Context, commitment_id: int, until: str | None, as_json: bool) -> None:
    """Snooze a commitment."""
    _update(ctx, commitment_id, "snoozed", due_at=_when_ms(until), as_json=as_json)


@commitments.command()
@click.argument("commitment_id", type=click.IntRange(1), metavar="COMMITMENT")
@click.option("--due", metavar="WHEN", help="When to be reminded; never if left out.")
@JSON_OPTION
@click.pass_context
def reopen(ctx: click.Context, commitment_id: int, due: str | None, as_json: bool) -> None:
    """Reopen a commitment that is over."""
    _update(ctx, commitment_id, "active", due_at=_when_ms(due), as_json=as_json)


def _when_ms(text: str | None) -> int:
    return when_ms(text or "", datetime.now().astimezone())


def _update(
    ctx: click.Context, commitment_id: int, status: str, *, due_at: int = 0, as_json: bool
) -> None:
    op = CommitmentUpdate(
        commitment_id=commitment_id, status=CommitmentStatus(status), due_at=due_at
    )
    _send(ctx, op, as_json=as_json)


def _send(ctx: click.Context, op: CommitmentCreate | CommitmentUpdate, *, as_json: bool) -> None:
    quotes = isinstance(op, CommitmentCreate) and op.origin is not None

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        one = (await core.request(op)).commitment
        assert one is not None, "the commitment is in the reply"
        if as_json:
            plain.print_json(plain.as_builtins(one))
        else:
            due = f", due {plain.moment(one.due_at)}" if one.due_at else ""
            title = one_line(one.title)
            plain.print_text(f"Commitment {one.id} is {term(one.status)}{due}: {title}")
        return ExitCode.DONE

    end(run_with_core(ctx, work, devices=CONNECTED if quotes else NO_DEVICES, is_repeatable=True))
