"""`switchboard devices apps|install|uninstall|clear|push|pull|logcat`: apps, files and the log."""

from pathlib import Path

import click

from console.cli_support import plain
from console.cli_support.exits import ExitCode
from console.cli_support.options import JSON_OPTION
from console.cli_support.plain import print_text
from console.commands.devices.devices_reach import Progress, Reached, done, run_with_phone


@click.command()
@click.argument("serial", default="")
@JSON_OPTION
@click.pass_context
def apps(ctx: click.Context, serial: str, as_json: bool) -> None:
    """List the apps of the phone SERIAL that can be started."""

    async def work(phone: Reached) -> ExitCode:
        found = await phone.device.apps()
        if as_json:
            plain.print_json({"data": [plain.as_builtins(app) for app in found]})
        else:
            plain.print_text("\n".join(app.package for app in found))
        return ExitCode.DONE

    run_with_phone(ctx, serial, work)


@click.command()
@click.argument("serial")
@click.argument("apk", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_context
def install(ctx: click.Context, serial: str, apk: Path) -> None:
    """Install APK on the phone SERIAL, replacing an older version."""
    progress = Progress(f"Sending {apk.name}", apk.stat().st_size)

    async def work(phone: Reached) -> ExitCode:
        await phone.extras.install(apk, progress=progress)
        return done(f"{apk.name} is installed on {phone.info.serial}.")

    run_with_phone(ctx, serial, work, drives=True)


@click.command()
@click.argument("serial")
@click.argument("package")
@click.pass_context
def uninstall(ctx: click.Context, serial: str, package: str) -> None:
    """Remove PACKAGE with its data from the phone SERIAL."""

    async def work(phone: Reached) -> ExitCode:
        await phone.extras.uninstall(package)
        return done(f"{package} is gone from {phone.info.serial}.")

    run_with_phone(ctx, serial, work, drives=True)


@click.command()
@click.argument("serial")
@click.argument("package")
@click.pass_context
def clear(ctx: click.Context, serial: str, package: str) -> None:
    """Delete the data of PACKAGE on the phone SERIAL."""

    async def work(phone: Reached) -> ExitCode:
        await phone.extras.clear(package)
        return done(f"{package} on {phone.info.serial} is as if freshly installed.")

    run_with_phone(ctx, serial, work, drives=True)


@click.command()
@click.argument("serial")
@click.argument("local", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("remote")
@click.pass_context
def push(ctx: click.Context, serial: str, local: Path, remote: str) -> None:
    """Copy LOCAL to the absolute path REMOTE on the phone SERIAL."""
    from agent.devices.adb import sync
    from agent.devices.health.admin import FILE_TIMEOUT_S

    data = local.read_bytes()

    async def work(phone: Reached) -> ExitCode:
        place = f"{remote}{local.name}" if remote.endswith("/") else remote
        await sync.push(
            phone.client,
            phone.serial,
            data,
            place,
            timeout_s=FILE_TIMEOUT_S,
            progress=Progress(f"Sending {local.name}", len(data)),
        )
        return done(f"{len(data)} bytes are in {place}.")

    run_with_phone(ctx, serial, work)


@click.command()
@click.argument("serial")
@click.argument("remote")
@click.argument("local", type=click.Path(path_type=Path), default=Path())
@click.pass_context
def pull(ctx: click.Context, serial: str, remote: str, local: Path) -> None:
    """Copy REMOTE from the phone SERIAL to LOCAL, a file or an existing folder."""
    from agent.devices.adb import sync
    from agent.devices.health.admin import FILE_LIMIT_BYTES, FILE_TIMEOUT_S

    target = local / Path(remote).name if local.is_dir() else local

    async def work(phone: Reached) -> ExitCode:
        there = await sync.stat(phone.client, phone.serial, remote)
        data = await sync.pull(
            phone.client,
            phone.serial,
            remote,
            timeout_s=FILE_TIMEOUT_S,
            limit=FILE_LIMIT_BYTES,
            progress=Progress(f"Fetching {target.name}", there.size_bytes),
        )
        with target.open("wb") as file:
            file.write(data)
        return done(f"{len(data)} bytes are in {target}.")

    run_with_phone(ctx, serial, work)


@click.command(
    epilog="""\b
Examples:
  switchboard devices logcat R5CT1234 ActivityManager:I
  switchboard devices logcat R5CT1234 --last 100 --no-follow
"""
)
@click.argument("serial")
@click.argument("filters", nargs=-1)
@click.option(
    "--last", type=click.IntRange(min=1), default=None, help="Start this many lines back."
)
@click.option("--follow/--no-follow", default=True, help="Keep printing new lines.")
@click.pass_context
def logcat(
    ctx: click.Context, serial: str, filters: tuple[str, ...], last: int | None, follow: bool
) -> None:
    """Print the log of the phone SERIAL; FILTERS are TAG:PRIORITY."""

    async def work(phone: Reached) -> ExitCode:
        async for line in phone.extras.log(filters=filters, last=last or 0, follow=follow):
            print_text(line)
        return ExitCode.DONE

    run_with_phone(ctx, serial, work)
