"""`switchboard devices collect`: what a phone prints, as a recording that anybody can send.

Invariant: nothing is written before it was shown and agreed to.
"""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.text import clean, one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, say
from console.commands.devices.devices_reach import Reached, done, run_with_phone
from console.commands.sessions.sessions_shared import YES

if TYPE_CHECKING:
    from agent.devices.recordings.collecting import Collected
    from agent.devices.recordings.recording import Entry, Recording


@click.command()
@click.argument("serial", default="")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A new folder, or a new file that ends in .zip; default: a .zip here.",
)
@click.option("--show", is_flag=True, help="Page through everything that would be kept.")
@YES
@click.pass_context
def collect(ctx: click.Context, serial: str, out: Path | None, show: bool, yes: bool) -> None:
    """Collect what the phone SERIAL prints as a recording, without what tells of its owner.

    Names, numbers, addresses and texts get stand-ins of the same shape; names of apps and models
    stay. It shows what was replaced and asks before it keeps anything. Such a recording helps to
    support the phone.
    """

    async def work(phone: Reached) -> ExitCode:
        from agent.devices.recordings.collecting import collect as ask_everything
        from agent.devices.recordings.recording import keep
        from agent.devices.shell.phone_shell import PhoneShell
        from console.commands.sessions.sessions_shared import confirm

        shell = PhoneShell(phone.client, phone.serial)
        names = (phone.info.serial, phone.info.hardware_serial)
        collected = await ask_everything(shell, serials=names, on_entry=_say_entry)
        recording = collected.recording
        place = out or Path(_file_name(recording))
        plain.print_text(_summary(collected))
        if show:
            click.echo_via_pager(_everything(recording))
        await confirm(f"Keep it as {place}?", yes=yes)
        keep(recording, place)
        return done(f"Kept as {place}. Look through it once more before you send it.")

    run_with_phone(ctx, serial, work)


def _file_name(recording: "Recording") -> str:
    words = f"{recording.maker}-{recording.model}-android-{recording.android}".lower()
    safe = "".join(c if c.isascii() and c.isalnum() else "-" for c in words).strip("-")
    return f"{safe}-{datetime.now().astimezone():%Y%m%d-%H%M%S}.zip"


def _say_entry(entry: "Entry") -> None:
    how = entry.cut or f"{len(entry.text)} characters"
    say(f"{entry.took_ms:6} ms  {entry.name}: {how}")


def _summary(collected: "Collected") -> str:
    """Return what was replaced, with a few samples, and what stays."""
    from agent.devices.recordings.stand_ins import Personal

    recording = collected.recording
    rows = [
        (
            kind,
            str(count),
            "; ".join(
                f"{one_line(said, 24)} → {one_line(made, 24)}"
                for said, made in collected.samples.get(Personal(kind), [])
            ),
        )
        for kind, count in recording.replaced.items()
    ]
    table = plain.columns(("REPLACED", "TIMES", "SAMPLES"), rows) if rows else "Nothing to replace."
    return (
        f"\n{table}\n\nIt stays: maker, model, build and Android, the names of installed apps, "
        "sizes, times, settings of displays.\nMessages, calls, contacts, accounts, logs and "
        "locations were not asked for. --show pages through all of it.\n"
    )


def _everything(recording: "Recording") -> str:
    return "\n".join(
        f"=== {entry.name}: {entry.command}\n{clean(entry.text, 2_000_000)}{clean(entry.errors)}"
        for entry in recording.entries
    )
