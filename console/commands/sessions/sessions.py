"""`switchboard sessions`: look at sessions and steer them from any shell.

A client of the process that owns the data directory when one runs; otherwise it opens the store
itself. Invariants: stop and cancel act at once and do not ask; what deletes takes two acts; JSON on
stdout has the fields of `codex android sessions` (docs/cli.md), speech goes to stderr.
"""

import click

from console.cli_support.sections import SectionedGroup
from console.commands.sessions import sessions_record, sessions_steer
from console.commands.sessions.sessions_again import replay
from console.commands.sessions.sessions_begin import create, create_attach, start
from console.commands.sessions.sessions_look import list_sessions, search, show
from console.commands.sessions.sessions_review import compact, review
from console.commands.sessions.sessions_show import diff, movie, report
from console.commands.sessions.sessions_spending import spending
from console.commands.sessions.sessions_undo import undo

SECTIONS: tuple[tuple[str, tuple[click.Command, ...]], ...] = (
    ("Look", (list_sessions, show, search, diff, report, movie, spending)),
    ("Begin", (create, create_attach, start, replay)),
    ("Steer", (*sessions_steer.COMMANDS, undo, review, compact)),
    ("Judge", (sessions_record.confirm_result,)),
    ("Keep and drop", sessions_record.COMMANDS),
)


@click.group(
    cls=SectionedGroup,
    epilog="""\b
SESSION is an id or a unique prefix of one. 'read' is another name for 'show'.
Examples:
  switchboard sessions list
  switchboard sessions show 3f2a
  switchboard sessions answer 3f2a "the second one"
  switchboard sessions list --json | jq -r '.data[] | select(.stateLabel=="FAILED") | .sessionId'
""",
)
def sessions() -> None:
    """List, inspect and control sessions."""


sessions.add_sections(SECTIONS)
sessions.aliases = {"read": "show"}
