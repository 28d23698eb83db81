"""`switchboard devices qualify`: find out what works on a phone, and keep it as its passport."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.devices.passport.page import MARKS
from agent.text import one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, say
from console.cli_support.options import JSON_OPTION
from console.commands.devices.devices_reach import DRIVER, Reached, run_with_phone
from console.core.command_settings import settings_for

if TYPE_CHECKING:
    from agent.devices.passport.passport import Row


@click.command()
@click.argument("serial", default="")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the JSON there too, and the page beside it as FILE.md.",
)
@JSON_OPTION
@click.pass_context
def qualify(ctx: click.Context, serial: str, out: Path | None, as_json: bool) -> None:
    """Try every way to the phone SERIAL, and keep what works as its passport.

    It takes at most five minutes and changes nothing: touches and text go to the search of the
    phone's settings, and afterwards the phone shows what it showed before. Sessions use what was
    found best, until the phone's build changes.
    """

    async def work(phone: Reached) -> ExitCode:
        from agent.devices.passport.page import choice_lines, page
        from agent.devices.passport.passport_file import PassportFolder, write_whole
        from agent.devices.passport.passport_file import as_json as passport_json
        from agent.devices.qualify.phone_parts import PhoneParts
        from agent.devices.qualify.qualification import qualify as examine
        from agent.devices.scrcpy.link import ScrcpySettings

        settings = settings_for(ctx)
        parts = PhoneParts(
            phone.client,
            phone.info.serial,
            scrcpy=ScrcpySettings(settings.scrcpy.server),
            resources=phone.resources,
        )
        transport = phone.info.transport.value if phone.info.transport is not None else "adb"
        try:
            passport = await examine(
                parts,
                reached_by=f"{transport}, listed by the adb server at {phone.info.server}",
                driving=phone.fleet.lease(phone.info.serial, DRIVER),
                launch=phone.device.launch,
                on_rows=lambda rows: None if as_json else _print_rows(rows),
            )
        finally:
            await parts.close()
        if out is not None:
            write_whole(out, passport_json(passport))
            write_whole(out.with_name(f"{out.name}.md"), page(passport).encode())
        if not passport.fingerprint:
            why = "the phone does not answer, or does not name its build"
            say(f"No passport was kept: {why}.")
        else:
            _, readable = PassportFolder.of(settings.data_dir).keep(passport)
            say(f"Kept as {readable} ({passport.took_ms / 1000:.1f} s).")
        if as_json:
            plain.print_json(plain.as_builtins(passport))
        else:
            plain.print_text("\n".join(("", *choice_lines(passport.choices))))
        return ExitCode.DONE if passport.fingerprint else ExitCode.FAILED

    run_with_phone(ctx, serial, work)


def _print_rows(rows: "tuple[Row, ...]") -> None:
    """Print the rows of one probe as soon as they are there; those that say the same in one line.

    A way of typing has a row for each script: their names are joined.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.outcome, row.detail), []).append(row)
    for first, *others in groups.values():
        names = [first.name, *(one.name.rpartition(": ")[2] for one in others)]
        took = f"{first.took_ms} ms" if first.took_ms else ""
        remedy = f" → {first.remedy}" if first.remedy else ""
        text = one_line(f"{first.detail}{remedy}", 400)
        click.echo(f"{MARKS[first.outcome]:9} {first.area:8} {took:>8}  {', '.join(names)}: {text}")
