"""`switchboard dataset`: sessions and episodes as Parquet, back again, and in LeRobot's layout."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.core import Core
from agent.errors import UsageError
from agent.extras import install, is_installed, missing
from agent.protocol import SessionImport
from agent.records import Session
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, progress, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import duration_ms
from console.core.device_setup import NO_DEVICES
from console.core.host import run_with_core, run_with_records
from console.terminal.signals import StopRequest

if TYPE_CHECKING:
    from console.core.stored_core import Records

_PAGE = 200


@click.group(cls=CommandGroup)
def dataset() -> None:
    """Write sessions as Parquet to train on, and read them back."""


@dataset.command(
    epilog="""\b
What is redacted in the store is redacted here too. Run it again to resume: episodes that are
already written are kept.
Examples:
  switchboard dataset export ./runs
  switchboard dataset export ./good --verified --since 7d
  switchboard dataset export ./two 3f2a 91bc
"""
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("session_ids", nargs=-1, metavar="[SESSION]…")
@click.option("--since", metavar="TIME", help="Only sessions of the last 90m, 8h, 7d …")
@click.option("--tag", default="", metavar="TAG", help="Only sessions with this tag.")
@click.option("--verified", is_flag=True, help="Only sessions whose goal is verified.")
@JSON_OPTION
@click.pass_context
def export(
    ctx: click.Context,
    *,
    folder: Path,
    session_ids: tuple[str, ...],
    since: str | None,
    tag: str,
    verified: bool,
    as_json: bool,
) -> None:
    """Write ended sessions, or those given, to FOLDER as Parquet."""
    _need()
    from console.datasets.exporting import export_sessions

    place = folder.absolute()
    after_ms = round(time.time() * 1000) - duration_ms(since) if since else 0

    def wanted(session: Session) -> bool:
        return (
            session.created_ms >= after_ms
            and (not tag or tag in session.tags)
            and (not verified or session.is_verified)
        )

    async def work(core: "Records") -> ExitCode:
        if session_ids:
            sessions = [await core.session(one) for one in session_ids]
        else:
            ended = [one for one in await _all(core, after_ms) if one.state.is_terminal]
            sessions = ended[::-1]
        chosen = [session for session in sessions if wanted(session)]
        if not chosen:
            say("No session matches.")
            return ExitCode.FAILED
        done = await export_sessions(core, chosen, place, progress("episodes"))
        if as_json:
            plain.print_json({"ok": True, **plain.as_builtins(done)})
        else:
            plain.print_text(str(done.path))
            before = f"; there already: {done.known}" if done.known else ""
            blobs = counted(done.missing_blobs, "picture or text", "pictures or texts")
            gone = f"; gone: {blobs}" if done.missing_blobs else ""
            written = f"Written: {counted(done.episodes, 'episode')}{before}"
            say(f"{written}; in all {counted(done.steps, 'step')}{gone}.")
        return ExitCode.DONE

    end(run_with_records(ctx, work))


async def _all(core: "Records", after_ms: int) -> list[Session]:
    found: list[Session] = []
    while page := await core.sessions(limit=_PAGE, before=found[-1].session_id if found else ""):
        found += page
        if len(page) < _PAGE or page[-1].created_ms < after_ms:
            break
    return found


@dataset.command(
    "import",
    epilog="""\b
Run it again to resume: sessions already there are kept.
Example:
  switchboard dataset import ./runs
""",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--as-new", is_flag=True, help="Give every session a new id.")
@JSON_OPTION
@click.pass_context
def import_dataset(ctx: click.Context, *, folder: Path, as_new: bool, as_json: bool) -> None:
    """Read the dataset in FOLDER back as sessions, after comparing every checksum."""
    _need()
    from console.datasets.importing import import_sessions

    dataset_folder = folder.absolute()

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        async def store(place: Path, episode: str) -> bool:
            if not as_new and await _is_there(core, episode):
                return False
            await core.request(SessionImport(path=str(place), as_new=as_new))
            return True

        async def _is_there(core: Core, episode: str) -> bool:
            try:
                return (await core.session(episode)).session_id == episode
            except UsageError:
                return False

        done = await import_sessions(dataset_folder, store, progress("episodes"))
        if as_json:
            plain.print_json({"ok": True, **plain.as_builtins(done)})
        else:
            before = f"; there already: {done.known}" if done.known else ""
            left = f" Events left out: {done.skipped_rows}." if done.skipped_rows else ""
            say(f"Imported: {counted(done.episodes, 'session')}{before}.{left}")
        return ExitCode.DONE

    end(run_with_core(ctx, work, devices=NO_DEVICES))


@dataset.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@JSON_OPTION
def check(*, folder: Path, as_json: bool) -> None:
    """Compare every file of the dataset in FOLDER with its checksum."""
    _need()
    from console.datasets.importing import open_dataset

    manifest = open_dataset(folder.absolute())
    files = sum(len(part.files) for part in manifest.parts)
    told = {"ok": True, "episodes": len(manifest.episodes), "files": files}
    if as_json:
        plain.print_json(told)
    else:
        episodes = counted(len(manifest.episodes), "episode")
        say(f"{episodes} in {counted(files, 'file')}, all as they were written.")


@dataset.command(
    epilog="""\b
Example:
  switchboard dataset lerobot ./runs ./runs-lerobot --size 256x512
"""
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--size",
    default="256x512",
    show_default=True,
    metavar="WxH",
    help="Width and height of every picture.",
)
@JSON_OPTION
def lerobot(*, folder: Path, out: Path, size: str, as_json: bool) -> None:
    """Write the dataset in FOLDER to OUT in LeRobot's layout, version 3.0."""
    _need()
    from console.datasets.lerobot import convert

    work = convert(folder.absolute(), out.absolute(), _size(size), progress("episodes"))
    done = asyncio.run(work)
    if as_json:
        plain.print_json({"ok": True, **plain.as_builtins(done)})
    else:
        plain.print_text(str(done.path))
        rows = counted(done.without_picture, "row")
        left = f"; {rows} without a picture" if done.without_picture else ""
        say(f"{counted(done.episodes, 'episode')}, {counted(done.frames, 'frame')}{left}.")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if width.isdecimal() and height.isdecimal():
        size = int(width), int(height)
        if all(16 <= edge <= 4096 for edge in size):
            return size
    raise click.BadParameter(
        "Give width and height in pixels, from 16x16 to 4096x4096.", param_hint="--size"
    )


def _need() -> None:
    """Raise UsageError where the extra is not installed."""
    if not is_installed("datasets"):
        raise UsageError(missing("datasets"), install("datasets"))
