"""`switchboard store`: check, compact, back up and repair what is stored.

It works on the files themselves, so no core may have them open; a fleet's database is checked and
backed up beside its core. Invariant: nothing is deleted that an event names, and a damaged database
is moved, never removed.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.config import Settings
from agent.errors import UsageError
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.store.queries.integrity import IntegrityReport


@click.group(cls=CommandGroup)
def store() -> None:
    """Check, compact, back up and repair the store. No core may be running.

    With store.dsn or --fleet, work on that database; check and backup then also work while a core
    runs.
    """


store.aliases = {"begin-anew": "reset", "carry-over": "migrate", "set-aside": "quarantine"}
"""The names of earlier versions, which scripts may call."""


@store.command()
@JSON_OPTION
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check everything stored; exits with 1 if there are problems."""

    async def work(settings: Settings) -> ExitCode:
        found = await _checked(settings)
        where = "the database" if settings.store.dsn else str(settings.data_dir)
        if as_json:
            plain.print_json(
                {
                    "sound": found.is_sound,
                    "events": found.events,
                    "sessions": found.sessions,
                    "blobs": found.blobs,
                    "sizeBytes": found.size_bytes,
                    "findings": list(found.findings),
                }
            )
        else:
            plain.print_text(
                f"{_stored(found.events, found.sessions)}, {counted(found.blobs, 'blob')}, "
                f"{found.size_bytes / 1e6:,.1f} MB in {where}."
            )
            plain.print_text("\n".join(found.findings) or "Everything can be read.")
        return ExitCode.DONE if found.is_sound else ExitCode.FAILED

    _run(ctx, work)


@store.command()
@JSON_OPTION
@click.pass_context
def compact(ctx: click.Context, as_json: bool) -> None:
    """Drop unreferenced frames, and return the space to the file system."""

    async def work(settings: Settings) -> ExitCode:
        from agent.store.embedded.upkeep import compact

        if settings.store.dsn:
            return await _compact_database(settings, as_json=as_json)
        done = await compact(settings.data_dir)
        if as_json:
            plain.print_json(
                {
                    "beforeBytes": done.before_bytes,
                    "afterBytes": done.after_bytes,
                    "blobs": done.blobs,
                    "strayFiles": done.stray_files,
                }
            )
        else:
            plain.print_text(
                f"{done.before_bytes / 1e6:,.1f} MB became {done.after_bytes / 1e6:,.1f} MB; "
                f"dropped: {counted(done.blobs + done.stray_files, 'file')}."
            )
        return ExitCode.DONE

    _run(ctx, work)


@store.command("quarantine")
@click.option("--yes", is_flag=True, help="Confirm; without it nothing is moved.")
@click.pass_context
def quarantine_database(ctx: click.Context, yes: bool) -> None:
    """Move a damaged database away and start with an empty one, keeping the frames."""

    async def work(settings: Settings) -> ExitCode:
        from agent.store.embedded.quarantine import quarantine

        directory = _files_of(settings)
        if not yes:
            raise UsageError(
                f"The database in {directory} would be moved away.", "Add --yes to do it."
            )
        plain.print_text(f"Moved to {quarantine(directory)}. The next start has an empty store.")
        return ExitCode.DONE

    _run(ctx, work)


@store.command("reset")
@click.option("--yes", is_flag=True, help="Confirm; without it nothing is moved.")
@click.pass_context
def reset_store(ctx: click.Context, yes: bool) -> None:
    """Move everything stored away, blobs and audit too, and start with an empty store."""

    async def work(settings: Settings) -> ExitCode:
        from agent.store.database.identity import remains
        from agent.store.embedded.quarantine import reset

        directory = _files_of(settings)
        if not yes:
            left = ", ".join(("the database", *remains(directory)))
            raise UsageError(f"{left} in {directory} would be moved away.", "Add --yes to do it.")
        plain.print_text(f"Moved to {reset(directory)}. The next start has an empty store.")
        return ExitCode.DONE

    _run(ctx, work)


@store.command()
@click.pass_context
def adopt(ctx: click.Context) -> None:
    """Treat the database and the files beside it as one store, as after a restore."""

    async def work(settings: Settings) -> ExitCode:
        from agent.store.embedded.quarantine import adopt

        if settings.store.dsn:
            wrong = await _adopt_database(settings)
        else:
            wrong = await adopt(settings.data_dir)
        plain.print_text("\n".join(wrong) or "Everything already belongs together.")
        if wrong:
            plain.print_text("It is one store from now on.")
        return ExitCode.DONE

    _run(ctx, work)


@store.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_context
def backup(ctx: click.Context, file: Path) -> None:
    """Write a consistent copy of a fleet's database to a new FILE, even while cores are running.

    The pictures in its bucket are in the copy. To back up a data directory's own store, copy the
    directory while no core runs.
    """

    async def work(settings: Settings) -> ExitCode:
        dsn = _database_of(settings)
        from agent.store.postgres.backup import back_up
        from console.core.store_choice import bucket

        made = await back_up(dsn, file, bucket=bucket(settings))
        plain.print_text(f"{file} has {counted(made.events, 'event')} of store {made.store}.")
        if made.missing:
            plain.print_text(
                f"Not copied: {counted(made.missing, 'picture')}, which the bucket does not have "
                "as stored. See: switchboard store check"
            )
        return ExitCode.DONE

    _run(ctx, work)


@store.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_context
def restore(ctx: click.Context, file: Path) -> None:
    """Restore a backup FILE into a fleet's empty database."""

    async def work(settings: Settings) -> ExitCode:
        dsn = _database_of(settings)
        from agent.store.postgres.backup import restore
        from console.core.store_choice import bucket

        made = await restore(dsn, file, bucket=bucket(settings))
        plain.print_text(
            f"The database has {counted(made.events, 'event')} of store {made.store} again. Where "
            "a data directory knew more of them, or on another host: switchboard store adopt"
        )
        if made.has_operators:
            say(
                "A backup has no operators, so none can sign in. Add or import them, then: "
                "switchboard operators confirm"
            )
        return ExitCode.DONE

    _run(ctx, work)


@store.command("migrate")
@click.pass_context
def migrate(ctx: click.Context) -> None:
    """Copy the data directory's own store into a fleet's empty database.

    Afterwards the directory belongs to the database; its own database file is moved aside. No core
    may be running.
    """

    async def work(settings: Settings) -> ExitCode:
        dsn = _database_of(settings)
        from agent.operators.file_register import FILE_NAME
        from agent.store.embedded.quarantine import quarantine
        from agent.store.postgres.directory_migration import migrate_directory
        from console.core.store_choice import host_name

        done = await migrate_directory(settings.data_dir, dsn, host_name(settings))
        aside = quarantine(settings.data_dir, fleet_store=done.store)
        lost = f" Already gone: {counted(done.missing, 'picture')}." if done.missing else ""
        plain.print_text(
            f"The database has {_stored(done.events, done.sessions)} and "
            f"{counted(done.blobs, 'picture')}; it is still store {done.store}.{lost} The file is "
            f"in {aside}; that and {settings.data_dir / 'blobs'} may go once all is well."
        )
        if (settings.data_dir / FILE_NAME).exists():
            say(
                "Its operators are still in a file, so none can sign in. Import them: "
                "switchboard operators import"
            )
        return ExitCode.DONE

    _run(ctx, work)


# --- how ----------


def _stored(events: int, sessions: int) -> str:
    return f"{counted(events, 'event')} of {counted(sessions, 'session')}"


async def _checked(settings: Settings) -> "IntegrityReport":
    if not settings.store.dsn:
        from agent.store.embedded.upkeep import check

        return await check(settings.data_dir)
    dsn = _database_of(settings)
    from agent.store.postgres.upkeep import check as check_database
    from console.core.store_choice import bucket

    return await check_database(dsn, settings.data_dir, bucket=bucket(settings))


async def _compact_database(settings: Settings, *, as_json: bool) -> ExitCode:
    dsn = _database_of(settings)
    from agent.store.postgres.core_store import open_core
    from agent.store.postgres.upkeep import size_bytes, vacuum
    from console.core.store_choice import bucket, host_name

    before = await size_bytes(dsn)
    opening = open_core(dsn, host_name(settings), settings.data_dir, bucket=bucket(settings))
    async with opening as opened:
        dropped = (await opened.blobs.collect()).blobs
        moved = await opened.blobs.move_out()
        strays = await opened.blobs.drop_strays()
        await vacuum(dsn)
    after = await size_bytes(dsn)
    if as_json:
        said = {"beforeBytes": before, "afterBytes": after, "blobs": dropped, "moved": moved}
        plain.print_json({**said, "strayFiles": strays})
    else:
        out = f"Moved to the bucket: {counted(moved, 'picture')}. " if moved else ""
        stray = f" and {counted(strays, 'object')} that nothing names" if strays else ""
        plain.print_text(
            f"{out}Dropped: {counted(dropped, 'picture')}{stray}. {after / 1e6:,.1f} MB are "
            f"taken, as {before / 1e6:,.1f} MB were. The server uses the room for what comes next."
        )
    return ExitCode.DONE


async def _adopt_database(settings: Settings) -> tuple[str, ...]:
    dsn = _database_of(settings)
    from agent.store.postgres.core_store import adopt
    from console.core.store_choice import bucket, host_name

    blobs = bucket(settings)
    return await adopt(dsn, host_name(settings), settings.data_dir, bucket=blobs)


def _database_of(settings: Settings) -> str:
    """Return the address of the database. Raises UsageError when there is none."""
    from agent.store.addresses import address

    if not settings.store.dsn:
        raise UsageError(
            "This needs a fleet's database, but store.dsn is not set.",
            "Name it by --fleet or in the settings. To back up a data directory's own store, "
            "copy the directory while no core runs.",
        )
    return address(settings)


def _files_of(settings: Settings) -> Path:
    """Return the data directory. Raises UsageError when the store is a database."""
    if settings.store.dsn:
        raise UsageError(
            "This works on a data directory, but store.dsn names a database.",
            "Name another database, or restore a backup into an empty one: switchboard store "
            "restore FILE",
        )
    return settings.data_dir


def _run(ctx: click.Context, work: Callable[[Settings], Awaitable[ExitCode]]) -> None:
    settings = settings_for(ctx)

    async def main(_stop: StopRequest) -> ExitCode:
        return await work(settings)

    end(run_async(main))
