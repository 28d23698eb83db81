"""How a command ends: the exit codes, and one line on stderr instead of a traceback.

Not a logger. Invariant: whatever a command raises becomes one exit code and at most two lines; the
traceback is shown only when SWITCHBOARD_DEBUG is set. Foreign text in a message is cleaned.
"""

import errno
import io
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, assert_never

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.errors import SwitchboardError


class ExitCode(IntEnum):
    """What the caller of the command learns."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NEEDS_ANSWER = 3
    WRONG_STATE = 4
    UNVERIFIED = 5
    HANGUP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class CommandEnd(Exception):
    """Ends a command with a code; whatever there was to say has been said."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__(code.name)
        self.code = code


def end(code: ExitCode) -> None:
    """End the command with a code; returns when the code says that all is well."""
    if code is not ExitCode.DONE:
        raise CommandEnd(code)


def debugging() -> bool:
    """Return whether tracebacks were asked for."""
    return os.environ.get("SWITCHBOARD_DEBUG", "") not in {"", "0"}


def say(text: str) -> None:
    """Write a line to stderr; a stderr that is closed is nobody's failure."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


def progress(what: str) -> "Callable[[int, int], None]":
    """Return what shows how many of a number of things are done, on a terminal."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {total} {what}{chr(10) if done == total else ''}")
            sys.stderr.flush()

    return show


def hold_streams() -> None:
    """Put /dev/null where stdin, stdout or stderr were closed by the caller.

    The first file that is opened would get the free number, and what is printed would land in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one: those below are open by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def show_lines_at_once() -> None:
    """Have each line on stdout reach a pipe or a file when it is printed, not when the end comes.

    Python gathers 8 KiB for whatever is no terminal: a program that reads the first line and acts
    on it would wait for ever.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)


def run_command(command: click.Command, argv: list[str] | None = None) -> int:
    """Run the command line and give the exit code; never raises."""
    hold_streams()
    show_lines_at_once()
    try:
        code = command.main(args=argv, prog_name="switchboard", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        return _ended(error)
    return code if isinstance(code, int) else ExitCode.DONE


def _ended(error: BaseException) -> int:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    match error:
        case CommandEnd():
            return error.code
        case click.exceptions.Exit():
            return error.exit_code
        case click.UsageError():
            say(f"switchboard: {_number_wanted(error) or error.format_message()}")
            if before := _before_the_command(error):
                say(before)
            elif error.ctx is not None:
                say(f"Try '{error.ctx.command_path} --help'.")
            return ExitCode.USAGE
        case click.ClickException():
            say(f"switchboard: {error.format_message()}")
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            say("switchboard: interrupted")
            return ExitCode.INTERRUPTED
        case BrokenPipeError():
            # The reader went away, as `| head` does; the interpreter must not complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.BROKEN_PIPE
        case SystemExit(code=int(code)):
            # What click itself does about a reader that went away.
            return code
        case _:
            return report(error)


def _before_the_command(error: click.UsageError) -> str:
    """Return where an option belongs that is for all commands; empty for any other."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None or error.ctx.parent is None:
        return ""
    root, name = error.ctx.find_root(), error.option_name
    found = next((one for one in root.command.params if name in one.opts), None)
    if found is None:
        return ""
    value = f" {found.make_metavar(root)}" if not getattr(found, "is_flag", False) else ""
    rest = error.ctx.command_path.removeprefix(root.command_path)
    return f"It goes before the command: {root.command_path} {name}{value}{rest}"


def _number_wanted(error: click.UsageError) -> str:
    """Return which numbers an option or argument takes; empty where it is not about a number.

    The library's own sentence is "'abc' is not a valid integer range."
    """
    if not isinstance(error, click.BadParameter) or error.param is None:
        return ""
    kind = error.param.type
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return ""
    word = "a whole number" if isinstance(kind, click.IntRange) else "a number"
    if kind.min is not None and kind.max is not None:
        word += f" from {kind.min:,} to {kind.max:,}"
    elif kind.min is not None:
        word += f" above {kind.min:,}" if kind.min_open else f", {kind.min:,} or more"
    given = error.message.partition(" is not ")[0]
    name = error.param.get_error_hint(error.ctx).strip("'") if error.ctx else error.param.name
    return f"{name} is {word}, not {given}."


def code_of(error: "SwitchboardError") -> ExitCode:
    """Return the exit code of an error of ours: by its class, else by its JSON-RPC code."""
    from agent.errors import ConfigError, RpcCode

    if isinstance(error, ConfigError):
        return ExitCode.USAGE
    match error.code:
        case RpcCode.INVALID_ARGUMENT | RpcCode.UNKNOWN_METHOD | RpcCode.PARSE:
            return ExitCode.USAGE
        case RpcCode.WRONG_STATE:
            return ExitCode.WRONG_STATE
        case RpcCode.INTERNAL:
            return ExitCode.FAILED
        case _:
            assert_never(error.code)


def report(error: BaseException) -> ExitCode:
    """Return what failed and what to do next; return the code that goes with it."""
    from agent.errors import SwitchboardError
    from agent.text import one_line

    if debugging():
        import traceback

        traceback.print_exception(error)
    code = ExitCode.FAILED
    match error:
        case SwitchboardError():
            message, remedy, code = error.message, error.remedy, code_of(error)
        case OSError():
            message, remedy = _operating_system(error)
        case _:
            message = f"internal error: {type(error).__name__}: {error}"
            remedy = "Run it again with SWITCHBOARD_DEBUG=1 to see where, and report that."
    say(f"switchboard: {one_line(message, 2000)}")
    if remedy:
        say(one_line(remedy, 2000))
    return code


_REMEDIES = {
    errno.ENOSPC: "Free some space and run it again; nothing that was stored is lost.",
    errno.EDQUOT: "Your quota is used up: free some space and run it again.",
    errno.EFBIG: "A file-size limit is in force (ulimit -f): raise it and run it again.",
    errno.EROFS: "Name a directory that can be written with SWITCHBOARD_DATA_DIR.",
    errno.EACCES: "Check who owns it, or name another directory with SWITCHBOARD_DATA_DIR.",
    errno.EPERM: "Check who owns it, or name another directory with SWITCHBOARD_DATA_DIR.",
    errno.EADDRINUSE: "Another program listens there: choose another port, or 0 for a free one.",
    errno.EMFILE: "Too many files are open: raise ulimit -n.",
}


def _operating_system(error: OSError) -> tuple[str, str]:
    what = error.strerror or str(error) or type(error).__name__
    where = f": {error.filename}" if error.filename else ""
    known = _REMEDIES.get(error.errno or 0)
    return f"{what}{where}", known or "Run it again with SWITCHBOARD_DEBUG=1 to see where."
