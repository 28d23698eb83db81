"""`switchboard commitments show`: one commitment, with the words that say so.

Invariant: looking changes nothing.
"""

from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from agent.protocol import CommitmentSearch
from agent.records import Commitment
from agent.text import clean
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import moment
from console.core.host import run_with_records

if TYPE_CHECKING:
    from console.core.stored_core import Records


@click.command()
@click.argument("commitment_id", type=click.IntRange(1), metavar="COMMITMENT")
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, commitment_id: int, as_json: bool) -> None:
    """Show a commitment: promise, due time and source."""

    async def work(records: "Records") -> ExitCode:
        found = await _find(records, commitment_id)
        if found is None:
            raise UsageError(
                f"There is no commitment {commitment_id}.",
                "List them: switchboard commitments list --all",
            )
        plain.print_json(plain.as_builtins(found)) if as_json else plain.print_text(
            _commitment_text(found)
        )
        return ExitCode.DONE

    end(run_with_records(ctx, work))


async def _find(records: "Records", commitment_id: int) -> Commitment | None:
    from console.core.stored_core import StoredRecords, owner

    if isinstance(records, StoredRecords):
        return await records.store.watches.commitment(commitment_id)
    # The newest of those up to this one is this one, if it is there.
    op = CommitmentSearch(limit=1, before=commitment_id + 1)
    found = (await owner(records).request(op)).commitments
    return next((one for one in found if one.id == commitment_id), None)


def _commitment_text(one: Commitment) -> str:
    """Write a commitment as lines of name and value."""
    evidence = ", ".join(f"{name}: {value}" for name, value in one.evidence_json.items())
    facts = (
        ("commitment", f"{one.id}: {one.title}"),
        ("status", one.status.value),
        ("due", moment(one.due_at) if one.due_at else "-"),
        ("expires", moment(one.expires_at) if one.expires_at else "never"),
        ("created", moment(one.created_at)),
        ("sure", f"{one.confidence:.0%}"),
        ("evidence", evidence or "-"),
        ("description", one.description or "-"),
    )
    return "\n".join(f"{name:<12}{clean(value, 4_000)}" for name, value in facts)
