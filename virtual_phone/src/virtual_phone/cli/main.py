"""The `virtual-phone` command: its group, and how it ends.

Invariants: whatever goes wrong becomes one exit status and at most two lines on stderr, and a
traceback only when VIRTUAL_PHONE_DEBUG is set; importing this module loads click and none of the
phone, so that help and completion answer at once.
"""

import io
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from virtual_phone.cli.completion import completion
from virtual_phone.cli.content import reset, restore, snapshot, state, touch, turn
from virtual_phone.cli.ending import FAILED, INTERRUPTED, PIPE_CLOSED, USAGE, program, say
from virtual_phone.cli.fault import fault
from virtual_phone.cli.serve import serve


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Run 'virtual-phone COMMAND --help' for examples. VIRTUAL_PHONE_HOME is --home for"
    " every command.",
)
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="VIRTUAL_PHONE_HOME",
    metavar="DIR",
    help="Keep the phones here instead of in the user's data directory.",
)
@click.version_option(package_name="switchboard-phone", prog_name="virtual-phone")
@click.pass_context
def cli(ctx: click.Context, home: Path | None) -> None:
    """Serve virtual Android phones to any adb client; inspect, reset and disturb them."""
    if home is None:
        from platformdirs import user_data_path

        home = user_data_path("virtual-phone")
    ctx.obj = home


for _command in (serve, state, reset, snapshot, restore, touch, turn, fault, completion):
    cli.add_command(_command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    # Snapshots and pictures show what a phone showed: only this user reads them.
    os.umask(0o077)
    # What waits for the line that says where a phone is reads it from a pipe.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    raise SystemExit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    try:
        code = cli.main(args=arguments, prog_name=program(), standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        return _ended(error)
    return code if isinstance(code, int) else 0


def _ended(error: BaseException) -> int:
    from virtual_phone.errors import PhoneError, UsageError

    name = program()
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.UsageError():
            say(f"{name}: {error.format_message()}")
            if error.ctx is not None:
                say(f"Try '{error.ctx.command_path} --help'.")
            return USAGE
        case click.ClickException():
            say(f"{name}: {error.format_message()}")
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            say(f"{name}: interrupted")
            return INTERRUPTED
        case BrokenPipeError():
            # The reader went away, as `| head` does; the interpreter must not complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        case SystemExit(code=int(code)):
            return code
        case _:
            pass
    if os.environ.get("VIRTUAL_PHONE_DEBUG", "") not in {"", "0"}:
        import traceback

        traceback.print_exception(error)
    match error:
        case PhoneError():
            message, remedy = error.message, error.remedy
        case OSError():
            where = f": {error.filename}" if error.filename else ""
            message, remedy = f"{error.strerror or error}{where}", ""
        case _:
            message = f"internal error: {type(error).__name__}: {error}"
            remedy = "Run it again with VIRTUAL_PHONE_DEBUG=1 to see where, and report that."
    say(f"{name}: {message}")
    if remedy:
        say(remedy)
    return USAGE if isinstance(error, UsageError) else FAILED
