"""`awk`: patterns over lines, as one-true-awk reads its command line.

Not the language (`virtual_phone.awk`). Invariant: whatever a program does, what it printed is
written, and what is wrong with it is a line on stderr and the status 2.
"""

from __future__ import annotations

from virtual_phone.awk.memory import Memory
from virtual_phone.awk.running import ASSIGNMENT, Run
from virtual_phone.awk.statements import program_of
from virtual_phone.awk.streams import Streams
from virtual_phone.awk.values import AwkError, Input
from virtual_phone.awk.words import AwkSyntaxError, unescaped
from virtual_phone.server.pipes import read_all
from virtual_phone.shell.call import Call, CommandError, command, encode

VERSION = "awk version 20220912"
_USAGE = "usage: awk [-F fs][-v var=value][prog | -f progfile][file ...]"
_PROGRAM_LIMIT_BYTES = 1024 * 1024


@command("awk")
async def awk(call: Call) -> int:
    """Run a program over files, or stdin."""
    words = list(call.args)
    assigned: list[tuple[str, str]] = []
    parts: list[str] = []
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "--":
            break
        if option in ("-version", "--version", "-V"):
            await call.line(VERSION)
            return 0
        letter, said = option[1], option[2:]
        if letter not in "Fvf":
            await call.err(f"awk: unknown option {option} ignored")
            continue
        if not said:
            if not words:
                raise CommandError(_USAGE, 2)
            said = words.pop(0)
        if letter == "F":
            assigned.append(("FS", "\t" if said == "t" else said))
        elif letter == "v":
            found = ASSIGNMENT.fullmatch(said)
            if found is None:
                raise CommandError(f"awk: invalid -v argument `{said}'", 2)
            assigned.append((found.group(1), found.group(2)))
        else:
            parts.append(await _read_program(call, said))
    if not parts:
        if not words:
            raise CommandError(_USAGE, 2)
        parts.append(_as_bytes(words.pop(0)))
    try:
        return await _run(call, "\n".join(parts), assigned, words)
    except (AwkError, AwkSyntaxError) as error:
        raise CommandError(f"awk: {error}", 2) from error
    except RecursionError as error:
        raise CommandError("awk: functions or expressions nest too deep", 2) from error


async def _run(call: Call, text: str, assigned: list[tuple[str, str]], words: list[str]) -> int:
    program = program_of(text)
    environment = {_as_bytes(name): _as_bytes(said) for name, said in call.environment.items()}
    memory = Memory(environment, ["awk", *(_as_bytes(word) for word in words)])
    for name, said in assigned:
        memory.set(name, Input(unescaped(_as_bytes(said))))
    streams = Streams(call)
    try:
        return await Run(program, memory, streams, call.stdin).run()
    except (AwkError, RecursionError):
        await streams.flush()
        raise
    finally:
        call.close()


async def _read_program(call: Call, path: str) -> str:
    try:
        return (await read_all(call.open_source(path), _PROGRAM_LIMIT_BYTES)).decode("latin-1")
    except OSError as error:
        raise CommandError(f"awk: can't open file {path}", 2) from error


def _as_bytes(text: str) -> str:
    """Return the shell's text as awk counts it: a character for each byte."""
    return encode(text).decode("latin-1")
