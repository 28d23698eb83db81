"""`virtual-phone serve`: phones until somebody ends it."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from virtual_phone.cli.ending import say
from virtual_phone.errors import PhoneError, UsageError

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

MOST_PHONES = 64


@click.command(
    epilog="""\b
Examples:
  virtual-phone serve
  virtual-phone serve --count 3 --port 6001
  virtual-phone serve --keys ~/.android/adbkey.pub
  adb connect 127.0.0.1:6001
"""
)
@click.option(
    "--count",
    type=click.IntRange(1, MOST_PHONES),
    default=1,
    show_default=True,
    help="How many phones.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="P",
    help="Port of the first, the next ones follow; 0 is any free one.",
)
@click.option(
    "--profile",
    metavar="NAME",
    help="What kind of phone; what each was before, at first a phone. 'list' prints the kinds.",
)
@click.option(
    "--android",
    type=int,
    metavar="N",
    help="Which Android version; the one of its kind by default.",
)
@click.option(
    "--keys",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Let in only computers whose adb keys are in FILE (an adbkey.pub). Without it, every user "
    "of this computer can reach the phones.",
)
@click.option(
    "--until-eof", is_flag=True, help="End when standard input ends too, as a child process does."
)
@click.pass_obj
def serve(
    home: Path,
    *,
    count: int,
    port: int,
    profile: str | None,
    android: int | None,
    keys: Path | None,
    until_eof: bool,
) -> None:
    """Serve virtual phones until interrupted; print a JSON line for each when ready."""
    if profile == "list":
        _print_profiles()
        return
    _check_kind(profile, android)
    if keys is None:
        say("Every user of this computer can reach these phones. --keys FILE names who may.")
    elif not until_eof:
        # A parent that starts the phones may have its adb server write the key in a moment.
        _check(keys)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(
            _serve(
                home, count, port, profile=profile, android=android, keys=keys, until_eof=until_eof
            )
        )


def _check_kind(profile: str | None, android: int | None) -> None:
    """Raise UsageError: there is no such kind of phone, or no such version."""
    from virtual_phone.android.version import android_of
    from virtual_phone.state.profiles import profile_of

    try:
        if profile is not None:
            profile_of(profile)
        if android is not None:
            android_of(android)
    except PhoneError as error:
        raise UsageError(error.message, error.remedy) from error


def _print_profiles() -> None:
    """Print what each kind of phone has, one a line."""
    from virtual_phone.state.profiles import profile_names, profile_of

    rows = [("PROFILE", "ANDROID", "SCREEN", "DISPLAYS", "USERS", "WHAT IT IS")]
    for name in profile_names():
        kind = profile_of(name)
        first = kind.screens[0]
        displays = ",".join(("0", *(str(one.id) for one in kind.displays)))
        users = ",".join(str(user.id) for user in kind.users)
        screen = f"{first.width}x{first.height}"
        rows.append((name, str(kind.android), screen, displays, users, kind.summary))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _check(keys: Path) -> None:
    from virtual_phone.adbd.gate import read_keys

    if not read_keys(keys):
        raise UsageError(f"{keys} holds no adb key.", "Name a file like ~/.android/adbkey.pub.")


async def _serve(
    home: Path,
    count: int,
    port: int,
    *,
    profile: str | None,
    android: int | None,
    keys: Path | None,
    until_eof: bool,
) -> None:
    from virtual_phone.server.serve import serve_forever

    task = asyncio.ensure_future(
        serve_forever(home, count, port, _announce, profile=profile, android=android, keys=keys)
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    if until_eof:
        import threading

        threading.Thread(target=_cancel_at_eof, args=(loop, task), daemon=True).start()
    await task


def _announce(serial: str, phone: "Phone") -> None:
    sys.stdout.write(json.dumps({"serial": serial, "name": phone.name}) + "\n")
    sys.stdout.flush()
    say(f"{phone.name}: adb connect {serial}")
    for message in phone.messages:
        say(message)


def _cancel_at_eof(loop: asyncio.AbstractEventLoop, task: asyncio.Future[None]) -> None:
    # Not through sys.stdin: a thread inside its lock makes the interpreter abort at exit.
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    # The loop may have ended first.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(task.cancel)
