"""The shell's own commands: those that change the shell itself.

Everything else is a command of the table, see `virtual_phone.commands`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from virtual_phone.numbers import is_number
from virtual_phone.server.pipes import as_sink, as_source
from virtual_phone.shell.call import TABLE, CommandError, Descriptors, decode, encode
from virtual_phone.shell.flow import MAX_CALL_DEPTH, ExitShell, LeaveFunction, LeaveLoop
from virtual_phone.shell.parser import ShellSyntaxError, parse

if TYPE_CHECKING:
    from virtual_phone.shell.interpreter import Shell

Builtin = Callable[["Shell", list[str], Descriptors], Awaitable[int]]
BUILTINS: dict[str, Builtin] = {}
SPECIAL = frozenset(
    {
        *(":", ".", "source", "break", "continue", "eval", "exec", "exit", "export"),
        *("readonly", "return", "set", "shift", "trap", "unset"),
    }
)
"""Before these, an assignment stays (POSIX, 2.14)."""

_LINE_LIMIT = 1024 * 1024


def _builtin(*names: str) -> Callable[[Builtin], Builtin]:
    def register(run: Builtin) -> Builtin:
        for name in names:
            BUILTINS[name] = run
        return run

    return register


def _status(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 2:
        return shell.status
    try:
        return int(argv[1]) & 0xFF
    except ValueError as error:
        raise CommandError(f"/system/bin/sh: {argv[0]}: {argv[1]}: bad number", 1) from error


@_builtin("exit")
async def _exit(shell: Shell, argv: list[str], _: Descriptors) -> int:
    raise ExitShell(_status(shell, argv))


@_builtin("return")
async def _return(shell: Shell, argv: list[str], _: Descriptors) -> int:
    raise LeaveFunction(_status(shell, argv))


@_builtin("break", "continue")
async def _break(shell: Shell, argv: list[str], _: Descriptors) -> int:
    levels = max(1, _status(shell, argv)) if len(argv) > 1 else 1
    raise LeaveLoop(levels, again=argv[0] == "continue")


@_builtin(":")
async def _nothing(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    del shell, argv, streams
    return 0


@_builtin("cd")
async def _cd(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    words = [word for word in argv[1:] if word not in ("-P", "-L", "--")]
    target = words[0] if words else shell.variables.get("HOME", "/")
    if target == "-":
        target = shell.variables.get("OLDPWD", shell.cwd)
        await as_sink(streams.get(1)).write(encode(target) + b"\n")
    files = shell.userland.files
    try:
        absolute = files.resolve(target, shell.cwd)
        if not files.stat(target, shell.cwd).is_dir:
            raise CommandError(f"/system/bin/sh: cd: {target}: Not a directory", 2)
    except OSError as error:
        raise CommandError(f"/system/bin/sh: cd: {target}: {error.strerror}", 2) from error
    shell.variables["OLDPWD"] = shell.cwd
    shell.cwd = absolute
    return 0


@_builtin("export", "readonly", "typeset", "local")
async def _export(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    words = [word for word in argv[1:] if not word.startswith("-")]
    if not words and argv[0] in ("export", "typeset"):
        for name, value in sorted(shell.environment().items()):
            await as_sink(streams.get(1)).write(encode(f"export {name}={value}\n"))
    for word in words:
        name, equals, value = word.partition("=")
        if not name.isidentifier():
            raise CommandError(f"/system/bin/sh: {argv[0]}: {word}: is not an identifier", 1)
        if equals:
            shell.assign(name, value)
        if argv[0] == "export":
            shell.exported.add(name)
    return 0


@_builtin("unset")
async def _unset(shell: Shell, argv: list[str], _: Descriptors) -> int:
    for word in argv[1:]:
        if word == "-f":
            continue
        shell.variables.pop(word, None)
        shell.exported.discard(word)
        shell.functions.pop(word, None)
    return 0


@_builtin("set")
async def _set(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    words = argv[1:]
    if not words:
        for name, value in sorted(shell.variables.items()):
            await as_sink(streams.get(1)).write(encode(f"{name}='{value}'\n"))
        return 0
    while words and words[0][:1] in ("-", "+") and words[0] not in ("--", "-"):
        option = words.pop(0)
        if "e" in option[1:]:
            shell.exit_on_error = option.startswith("-")
        if option[1:] == "o" and words:
            words.pop(0)
    if argv[1] == "--" or words:
        shell.arguments = words[1:] if words[:1] == ["--"] else words
    return 0


@_builtin("shift")
async def _shift(shell: Shell, argv: list[str], _: Descriptors) -> int:
    count = _status(shell, argv) if len(argv) > 1 else 1
    if count > len(shell.arguments):
        raise CommandError("/system/bin/sh: shift: nothing to shift", 1)
    shell.arguments = shell.arguments[count:]
    return 0


@_builtin("eval")
async def _eval(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    return await _run_here(shell, " ".join(argv[1:]), streams)


@_builtin(".", "source")
async def _dot(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    if len(argv) < 2:
        raise CommandError(f"/system/bin/sh: {argv[0]}: missing argument", 1)
    try:
        with shell.userland.files.open_read(argv[1], shell.cwd) as file:
            text = decode(file.read(_LINE_LIMIT))
    except OSError as error:
        raise CommandError(f"/system/bin/sh: .: {argv[1]}: {error.strerror}", 1) from error
    return await _run_here(shell, text, streams)


async def _run_here(shell: Shell, text: str, streams: Descriptors) -> int:
    """Run text in this shell, deeper by one."""
    shell.depth += 1
    try:
        if shell.depth > MAX_CALL_DEPTH:
            raise CommandError("/system/bin/sh: recursion too deep", 1)
        return await shell.run_script(parse(text), streams)
    except ShellSyntaxError as error:
        raise CommandError(f"/system/bin/sh: {error.message}", 1) from error
    finally:
        shell.depth -= 1


@_builtin("exec")
async def _exec(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    if len(argv) < 2:
        return 0
    raise ExitShell(await shell.run_argv(argv[1:], streams, functions=False))


@_builtin("command", "builtin")
async def _command(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    words = argv[1:]
    if words[:1] in (["-v"], ["-V"]):
        return await _locate(shell, words[1:], streams, verbose=words[0] == "-V")
    if not words:
        return 0
    special = BUILTINS.get(words[0])
    if special is not None:
        return await special(shell, words, streams)
    return await shell.run_argv(words, streams, functions=False)


@_builtin("type", "whence")
async def _type(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    return await _locate(shell, argv[1:], streams, verbose=argv[0] == "type")


async def _locate(shell: Shell, names: list[str], streams: Descriptors, *, verbose: bool) -> int:
    status = 0
    for name in names:
        if name in BUILTINS:
            text = f"{name} is a shell builtin" if verbose else name
        elif name in shell.functions:
            text = f"{name} is a function" if verbose else name
        elif TABLE.get(name):
            path = f"/system/bin/{name}"
            text = f"{name} is {path}" if verbose else path
        else:
            status = 1
            if not verbose:
                continue
            text = f"{name} not found"
        await as_sink(streams.get(1)).write(encode(text) + b"\n")
    return status


@_builtin("read")
async def _read(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    names = [word for word in argv[1:] if not word.startswith("-")] or ["REPLY"]
    raw = "-r" in argv[1:]
    source = as_source(streams.get(0))
    line = bytearray()
    ended = True
    while len(line) < _LINE_LIMIT:
        byte = await source.read(1)
        if not byte:
            break
        if byte == b"\n":
            if line.endswith(b"\\") and not raw:
                line.pop()
                continue
            ended = False
            break
        line += byte
    separators = shell.variables.get("IFS", " \t\n")
    text = decode(bytes(line)).strip(separators)
    if separators.strip() or not separators:
        pieces = text.split(separators.strip() or None, len(names) - 1) if separators else [text]
    else:
        pieces = text.split(None, len(names) - 1)
    for index, name in enumerate(names):
        shell.assign(name, pieces[index] if index < len(pieces) else "")
    return int(ended)


@_builtin("trap")
async def _trap(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    words = [word for word in argv[1:] if word != "--"]
    if not words:
        for name, action in shell.traps.items():
            await as_sink(streams.get(1)).write(encode(f"trap -- '{action}' {name}\n"))
        return 0
    for word in words[1:]:
        name = {"0": "EXIT", "1": "HUP", "2": "INT", "15": "TERM"}.get(word, word)
        name = name.removeprefix("SIG")
        if words[0] == "-":
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = words[0]
    return 0


@_builtin("wait")
async def _wait(shell: Shell, argv: list[str], _: Descriptors) -> int:
    if len(argv) < 2:
        await shell.wait_jobs()
        return 0
    status = 0
    for word in argv[1:]:
        task = shell.jobs.pop(int(word), None) if is_number(word) else None
        if task is None:
            status = 127
            continue
        try:
            status = await asyncio.shield(task)
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is not None and own.cancelling():
                raise
            status = 143
    return status


@_builtin("umask", "ulimit", "jobs", "fg", "bg", "alias", "unalias", "hash")
async def _accepted(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    if argv[0] == "umask" and len(argv) == 1:
        await as_sink(streams.get(1)).write(b"077\n")
    if argv[0] == "jobs":
        running = [pid for pid, task in shell.jobs.items() if not task.done()]
        for number, pid in enumerate(running, 1):
            await as_sink(streams.get(1)).write(
                encode(f"[{number}] + Running              {pid}\n")
            )
    return 0


@_builtin("[[")
async def _double_bracket(shell: Shell, argv: list[str], streams: Descriptors) -> int:
    return await shell.run_argv(["[", *argv[1:-1], "]"], streams)
