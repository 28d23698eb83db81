"""`switchboard store`: look the data directory through, make it smaller, set a damaged one aside.

It works on the files themselves, so no core may have them open. Invariant: nothing is deleted that
an event names, and a damaged database is moved, never removed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import click

from console.cli_support.exits import ExitCode, end

_HELP = {"help_option_names": ["-h", "--help"]}
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


@click.group(context_settings=_HELP)
def store() -> None:
    """Check, compact, adopt or set aside what is stored. No core may be running."""


@store.command(context_settings=_HELP)
@JSON_OPTION
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Read everything that is stored and say what is wrong; ends with 1 when something is."""

    async def work(directory: Path) -> ExitCode:
        from agent.store.embedded.upkeep import check
        from console.cli_support import plain

        found = await check(directory)
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
                f"{found.events:,} events of {found.sessions:,} sessions, {found.blobs:,} blobs, "
                f"{found.size_bytes / 1e6:,.1f} MB in {directory}."
            )
            plain.print_text("\n".join(found.findings) or "Everything can be read.")
        return ExitCode.DONE if found.is_sound else ExitCode.FAILED

    _run(ctx, work)


@store.command(context_settings=_HELP)
@JSON_OPTION
@click.pass_context
def compact(ctx: click.Context, as_json: bool) -> None:
    """Drop frames that nothing names, and give the space back to the file system."""

    async def work(directory: Path) -> ExitCode:
        from agent.store.embedded.upkeep import compact
        from console.cli_support import plain

        done = await compact(directory)
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
                f"{done.blobs + done.stray_files:,} files were dropped."
            )
        return ExitCode.DONE

    _run(ctx, work)


@store.command("set-aside", context_settings=_HELP)
@click.option("--yes", is_flag=True, help="Do it; without this nothing is moved.")
@click.pass_context
def set_aside(ctx: click.Context, yes: bool) -> None:
    """Move a damaged database away, to start with an empty one. Frames stay where they are."""

    async def work(directory: Path) -> ExitCode:
        from agent.errors import UsageError
        from agent.store.embedded.quarantine import quarantine
        from console.cli_support import plain

        if not yes:
            raise UsageError(
                f"The database in {directory} would be moved away.", "Say --yes to do it."
            )
        plain.print_text(f"Moved to {quarantine(directory)}. The next start has an empty store.")
        return ExitCode.DONE

    _run(ctx, work)


@store.command("begin-anew", context_settings=_HELP)
@click.option("--yes", is_flag=True, help="Do it; without this nothing is moved.")
@click.pass_context
def begin_anew(ctx: click.Context, yes: bool) -> None:
    """Move all that is stored away, blobs and audit too, to start with an empty store."""

    async def work(directory: Path) -> ExitCode:
        from agent.errors import UsageError
        from agent.store.database.identity import remains
        from agent.store.embedded.quarantine import begin_anew
        from console.cli_support import plain

        if not yes:
            left = ", ".join(("the database", *remains(directory)))
            raise UsageError(f"{left} in {directory} would be moved away.", "Say --yes to do it.")
        plain.print_text(f"Moved to {begin_anew(directory)}. The next start has an empty store.")
        return ExitCode.DONE

    _run(ctx, work)


@store.command(context_settings=_HELP)
@click.pass_context
def adopt(ctx: click.Context) -> None:
    """Take the database and what lies beside it for one store, as after a restore."""

    async def work(directory: Path) -> ExitCode:
        from agent.store.embedded.quarantine import adopt
        from console.cli_support import plain

        wrong = await adopt(directory)
        plain.print_text("\n".join(wrong) or "Everything belonged together already.")
        if wrong:
            plain.print_text("It is taken as one store from now on.")
        return ExitCode.DONE

    _run(ctx, work)


def _run(ctx: click.Context, work: Callable[[Path], Awaitable[ExitCode]]) -> None:
    from console.cli_support.command_settings import settings_for
    from console.terminal.signals import StopRequest, run_async

    directory = settings_for(ctx).data_dir

    async def main(_stop: StopRequest) -> ExitCode:
        return await work(directory)

    end(run_async(main))
