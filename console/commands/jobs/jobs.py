"""`switchboard jobs`: scheduled work, which starts sessions while a console or the daemon is open.

A client of the process that owns the data directory when one runs; otherwise it writes the store
itself. Invariant: a job is only kept here; it runs in the process that owns the store.
"""

import click

from console.cli_support.sections import CommandGroup
from console.commands.jobs.jobs_create import create
from console.commands.jobs.jobs_edit import edit
from console.commands.jobs.jobs_look import history, list_jobs, show
from console.commands.jobs.jobs_move import pause, read, resume, run, stop


@click.group(cls=CommandGroup)
def jobs() -> None:
    """Create, change, pause, run and stop jobs. They run while a console or daemon is running."""


for _command in (create, list_jobs, show, history, edit, pause, resume, run, read, stop):
    jobs.add_command(_command)
