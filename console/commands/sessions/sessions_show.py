"""`switchboard sessions report|movie|diff`: a session as a page or a film; two of them compared."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.commands.sessions.sessions_shared import SESSION_ID
from console.core.host import run_with_records

if TYPE_CHECKING:
    from console.core.stored_core import Records
    from console.report.parting import Parting

FILE = click.argument("file", type=click.Path(path_type=Path), default=Path(), metavar="[FILE]")
OVERWRITE = click.option("--overwrite", is_flag=True, help="Overwrite an existing file.")


@click.command(
    epilog="""\b
Examples:
  switchboard sessions report 3f2a
  switchboard sessions report 3f2a why-it-failed.html
"""
)
@SESSION_ID
@FILE
@OVERWRITE
@JSON_OPTION
@click.pass_context
def report(
    ctx: click.Context, *, session_id: str, file: Path, overwrite: bool, as_json: bool
) -> None:
    """Write a session as one HTML page: frames, steps, time and cost."""

    async def work(core: Records) -> ExitCode:
        from console.report.page import write_report

        session = await core.session(session_id)
        place = _place(file, session.session_id, "html", overwrite=overwrite)
        await tell_missing(core, session.session_id)
        done = await write_report(core, session.session_id, place, told=_progress_line("steps"))
        return _tell(done.path, as_json, frames=done.frames, missing=done.missing)

    end(run_with_records(ctx, work))


@click.command(
    epilog="""\b
Examples:
  switchboard sessions movie 3f2a                  # an MP4 in this directory
  switchboard sessions movie 3f2a demo.gif --speed 4
"""
)
@SESSION_ID
@FILE
@click.option("--speed", type=click.FloatRange(0.1, 64), default=1.0, show_default=True)
@OVERWRITE
@JSON_OPTION
@click.pass_context
def movie(
    ctx: click.Context, *, session_id: str, file: Path, speed: float, overwrite: bool, as_json: bool
) -> None:
    """Write a session as a film: GIF or MP4, by the name of the file."""

    async def work(core: Records) -> ExitCode:
        from console.report.movie import Film, write_movie

        film = Film.GIF if file.suffix.casefold() == ".gif" else Film.MP4
        session = await core.session(session_id)
        place = _place(file, session.session_id, film.value, overwrite=overwrite)
        await tell_missing(core, session.session_id)
        done = await write_movie(
            core, session.session_id, place, film=film, told=_progress_line("frames"), speed=speed
        )
        return _tell(done.path, as_json, frames=done.frames, missing=done.missing)

    end(run_with_records(ctx, work))


@click.command(
    epilog="""\b
Examples:
  switchboard sessions diff 3f2a 91bc
"""
)
@SESSION_ID
@click.argument("other_id", metavar="OTHER")
@JSON_OPTION
@click.pass_context
def diff(ctx: click.Context, session_id: str, other_id: str, as_json: bool) -> None:
    """Compare two sessions, and show the step where they diverge."""

    async def work(core: Records) -> ExitCode:
        from console.report.parting import compare
        from console.report.parting_words import parting_lines
        from console.report.recorded import read_recorded

        left, right = await read_recorded(core, session_id), await read_recorded(core, other_id)
        parting = compare(left, right)
        if as_json:
            sides = (left.session.session_id, right.session.session_id)
            plain.print_json(
                {
                    "sessions": list(sides),
                    "same": parting.is_same,
                    "alike": parting.at,
                    "steps": _steps_at(parting),
                }
            )
        else:
            plain.print_text("\n".join(parting_lines(left, right, parting)))
        return ExitCode.DONE if parting.is_same else ExitCode.FAILED

    end(run_with_records(ctx, work))


async def tell_missing(core: Records, session_id: str) -> None:
    """Warn on standard error what an export will lack, before it begins."""
    from console.report.missing import missing_frames

    if words := (await missing_frames(core, session_id)).words:
        say(words)


def _steps_at(parting: Parting) -> list[int | None]:
    if parting.is_same:
        return [None, None]
    return [act.step if act is not None else None for act in parting.pairs[parting.at]]


def _place(file: Path, session_id: str, suffix: str, *, overwrite: bool) -> Path:
    """Return where to write. Raises UsageError for a file that is there."""
    place = file.absolute()
    if place.is_dir():
        place = place / f"session-{session_id}.{suffix}"
    if place.exists() and not overwrite:
        raise UsageError(f"{place} already exists.", "Name another file, or add --overwrite.")
    return place


def _tell(path: Path, as_json: bool, *, frames: int, missing: int) -> ExitCode:
    if as_json:
        plain.print_json({"ok": True, "path": str(path), "frames": frames, "missing": missing})
    else:
        plain.print_text(str(path))
        if missing:
            say(f"Left out: {counted(missing, 'frame')}.")
    return ExitCode.DONE


def _progress_line(what: str) -> Callable[[int, int], None]:
    """Show the progress on a terminal."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty() and (done == total or done % 5 == 0):
            sys.stderr.write(f"\r{done} of {total} {what}{chr(10) if done == total else ''}")
            sys.stderr.flush()

    return show
