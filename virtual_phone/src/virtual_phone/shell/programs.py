"""Run one command by its words: a function, a command of the table, or a script of the phone.

Not the shell's grammar (see `interpreter`). Invariant: whatever a command raises becomes what it
says on stderr and its exit status; only cancellation and control flow get out.
"""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from virtual_phone.errors import PhoneError
from virtual_phone.shell.builtins import BUILTINS, SPECIAL
from virtual_phone.shell.call import TABLE, Call, CommandEntry, CommandError, Descriptors, decode
from virtual_phone.shell.flow import (
    MAX_CALL_DEPTH,
    NOT_EXECUTABLE,
    NOT_FOUND,
    SCRIPT_LIMIT_BYTES,
    SHELL_NAME,
    SIGNAL_BASE,
    LeaveFunction,
)
from virtual_phone.shell.redirection import three
from virtual_phone.shell.syntax import Command

if TYPE_CHECKING:
    from virtual_phone.shell.interpreter import Shell


async def run_argv(
    shell: Shell,
    argv: list[str],
    descriptors: Descriptors,
    assignments: dict[str, str] | None = None,
    *,
    functions: bool = True,
) -> int:
    """Run one command by its words: function, command of the table, or script file."""
    name = argv[0]
    extra = assignments or {}
    special = BUILTINS.get(name) if functions else None
    if special is not None:
        saved = {} if name in SPECIAL else {key: shell.variables.get(key) for key in extra}
        for key, value in extra.items():
            shell.assign(key, value)
        try:
            return await special(shell, argv, descriptors)
        finally:
            _put_back(shell, saved)
    body = shell.functions.get(name) if functions else None
    if body is not None:
        return await _call_function(shell, body, argv, descriptors)
    environment = shell.environment() | extra
    entry = _find(shell, name)
    if isinstance(entry, CommandEntry):
        return await _run_entry(shell, entry, argv, descriptors, environment)
    if entry is None:
        raise CommandError(f"{SHELL_NAME}: {name}: inaccessible or not found", NOT_FOUND)
    return await _run_file(shell, entry, argv, descriptors, extra)


def _put_back(shell: Shell, saved: dict[str, str | None]) -> None:
    for key, value in saved.items():
        if value is None:
            shell.variables.pop(key, None)
        else:
            shell.variables[key] = value


async def _call_function(
    shell: Shell, body: Command, argv: list[str], descriptors: Descriptors
) -> int:
    saved, shell.arguments = shell.arguments, argv[1:]
    shell.depth += 1
    try:
        if shell.depth > MAX_CALL_DEPTH:
            raise CommandError(f"{SHELL_NAME}: {argv[0]}: recursion too deep", 1)
        return await shell.run_command(body, descriptors)
    except LeaveFunction as leaving:
        return leaving.status
    finally:
        shell.depth -= 1
        shell.arguments = saved


def _find(shell: Shell, name: str) -> CommandEntry | str | None:
    """Return a command of the table, the path of a script, or None."""
    files = shell.userland.files
    if "/" not in name:
        return TABLE.get(name) if name else None
    try:
        path = files.resolve(name, shell.cwd, follow=False)
        directory = files.resolve(path.rpartition("/")[0] or "/")
        found = files.stat(name, shell.cwd)
    except OSError:
        return None
    if directory == "/system/bin":
        return TABLE.get(path.rpartition("/")[2])
    if found.is_dir:
        raise CommandError(f"{SHELL_NAME}: {name}: can't execute: Is a directory", NOT_EXECUTABLE)
    on_sdcard = path.startswith("/storage/")
    if not found.mode & 0o111 or on_sdcard:
        raise CommandError(
            f"{SHELL_NAME}: {name}: can't execute: Permission denied", NOT_EXECUTABLE
        )
    return name


async def _run_entry(
    shell: Shell,
    entry: CommandEntry,
    argv: list[str],
    descriptors: Descriptors,
    environment: dict[str, str],
) -> int:
    if entry.inline:
        return await _invoke(shell, entry, argv, descriptors, environment, shell.pid)
    pid = shell.userland.processes.new_pid()
    task = asyncio.create_task(_invoke(shell, entry, argv, descriptors, environment, pid))
    shell.register(pid, argv[0].rpartition("/")[2], " ".join(argv), task)
    try:
        return await task
    except asyncio.CancelledError as cancelled:
        own = asyncio.current_task()
        if own is not None and own.cancelling():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        return signal_status(cancelled)


async def _invoke(
    shell: Shell,
    entry: CommandEntry,
    argv: list[str],
    descriptors: Descriptors,
    environment: dict[str, str],
    pid: int,
) -> int:
    call = Call(
        shell,
        entry.words(argv),
        *three(descriptors),
        environment,
        shell.userland.is_terminal(descriptors),
        pid,
    )
    try:
        return await entry.run(call)
    except BrokenPipeError:
        return SIGNAL_BASE + signal.SIGPIPE
    except CommandError as error:
        if error.message:
            await call.err(error.message)
        return error.status
    except PhoneError as error:
        await call.err(f"Error: {error.message}")
        return 1
    except OSError as error:
        await call.err(_command_text(call.name, error))
        return 1
    finally:
        call.close()


async def _run_file(
    shell: Shell, path: str, argv: list[str], descriptors: Descriptors, extra: dict[str, str]
) -> int:
    with shell.userland.files.open_read(path, shell.cwd) as file:
        data = file.read(SCRIPT_LIMIT_BYTES)
    if b"\0" in data[:512]:
        raise CommandError(f"{SHELL_NAME}: {path}: not executable: 64-bit ELF file", NOT_EXECUTABLE)
    child = shell.child()
    if child.depth > MAX_CALL_DEPTH:
        raise CommandError(f"{SHELL_NAME}: {path}: recursion too deep", NOT_EXECUTABLE)
    child.pid = shell.userland.processes.new_pid()
    child.script_name = path
    child.arguments = argv[1:]
    child.variables = {name: shell.variables[name] for name in shell.exported} | extra
    return await child.run_text(decode(data), descriptors)


def signal_status(cancelled: asyncio.CancelledError) -> int:
    """Return the exit status of what ended by a signal, SIGTERM where none is named."""
    name = cancelled.args[0] if cancelled.args else "SIGTERM"
    try:
        return SIGNAL_BASE + signal.Signals[str(name)]
    except KeyError:
        return SIGNAL_BASE + signal.SIGTERM


def _command_text(name: str, error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{name}: {where}{error.strerror or error}"
