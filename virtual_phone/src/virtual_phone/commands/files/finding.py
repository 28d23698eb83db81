"""`find`: search below directories."""

import asyncio
import re

from virtual_phone.commands.files.folders import join
from virtual_phone.commands.options import whole_number
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.shell.patterns import matches
from virtual_phone.userland.file_stat import FileStat


@command("find")
async def find(call: Call) -> int:
    """Find files by name, type, depth and size; -delete, -exec, -print0; -H and -L follow links."""
    words = list(call.args)
    links = ""
    while words and words[0] in ("-H", "-L"):
        links = words.pop(0)
    starts: list[str] = []
    while words and not words[0].startswith(("-", "!", "(")):
        starts.append(words.pop(0))
    tests: list[tuple[str, str]] = []
    execute: list[str] = []
    depth = (0, 2**31)
    while words:
        word = words.pop(0)
        if word == "-exec":
            while words and words[0] not in (";", "+"):
                execute.append(words.pop(0))
            words = words[1:]
        elif word in ("-name", "-iname", "-type", "-path", "-size", "-maxdepth", "-mindepth"):
            if not words:
                raise CommandError(f"find: '{word}' needs 1 arg")
            value = words.pop(0)
            if word == "-maxdepth":
                depth = (depth[0], whole_number(call, value))
            elif word == "-mindepth":
                depth = (whole_number(call, value), depth[1])
            else:
                tests.append((word, value))
        elif word in ("-print", "-print0", "-delete", "-o", "-a", "!"):
            tests.append((word, ""))
        else:
            raise CommandError(f"find: bad arg '{word}'")
    status = 0
    for start in starts or ["."]:
        try:
            status |= await _find_below(call, start, tests, execute, depth, links)
        except OSError as error:
            status = await call.fail(f"'{start}': {error.strerror}")
    return status


LINKS_DEPTH = 40
"""How deep -L goes: a link may lead back to a folder above it."""


async def _find_below(
    call: Call,
    start: str,
    tests: list[tuple[str, str]],
    execute: list[str],
    depth: tuple[int, int],
    links: str,
) -> int:
    status = 0
    pending = [(start, 0)]
    hits: list[str] = []
    while pending:
        path, level = pending.pop()
        follows = links == "-L" or (links == "-H" and level == 0)
        entry = _stat(call, path, follow=follows)
        if links == "-L" and level > LINKS_DEPTH:
            continue
        if level >= depth[0] and _matches(path, entry, tests):
            hits.append(path)
        if entry.is_dir and level < depth[1]:
            try:
                names = call.files.listdir(path, call.cwd)
            except OSError as error:
                status = await call.fail(f"{path}: {error.strerror}")
                continue
            pending.extend((join(path, name), level + 1) for name in reversed(names))
        await asyncio.sleep(0)
    names_of_tests = [name for name, _ in tests]
    streams = call.streams
    for path in reversed(hits) if "-delete" in names_of_tests else hits:
        if "-delete" in names_of_tests:
            if call.files.stat(path, call.cwd, follow=False).is_dir:
                call.files.rmdir(path, call.cwd)
            else:
                call.files.unlink(path, call.cwd)
        elif execute:
            argv = [part.replace("{}", path) for part in execute]
            await call.shell.run_argv(argv, streams, functions=False)
        else:
            await call.out(path + ("\0" if "-print0" in names_of_tests else "\n"))
    return status


def _stat(call: Call, path: str, *, follow: bool) -> FileStat:
    """Return what a path is; a link that leads nowhere is a link."""
    try:
        return call.files.stat(path, call.cwd, follow=follow)
    except OSError:
        return call.files.stat(path, call.cwd, follow=False)


def _matches(path: str, entry: FileStat, tests: list[tuple[str, str]]) -> bool:
    groups: list[bool] = []
    result, negated = True, False
    for name, value in tests:
        if name == "!":
            negated = True
            continue
        if name == "-o":
            groups.append(result)
            result = True
            continue
        base = path.rstrip("/").rpartition("/")[2] or path
        match name:
            case "-name":
                hit = matches([(value, False)], base)
            case "-iname":
                hit = matches([(value.lower(), False)], base.lower())
            case "-path":
                hit = matches([(value, False)], path)
            case "-type":
                kind = {"f": entry.is_file, "d": entry.is_dir, "l": entry.is_link}
                hit = kind.get(value, False)
            case "-size":
                hit = _size_matches(value, entry.size)
            case _:
                hit = True
        result = result and (hit != negated)
        negated = False
    return result or any(groups)


def _size_matches(text: str, size: int) -> bool:
    match = re.fullmatch(r"([-+]?)(\d{1,12})([ckMG]?)", text)
    if match is None:
        raise CommandError(f"find: bad size '{text}'")
    sign, digits, unit = match.groups()
    scale = {"c": 1, "k": 1024, "M": 1024**2, "G": 1024**3}.get(unit, 512)
    units = -(-size // scale)
    wanted = int(digits)
    return units > wanted if sign == "+" else units < wanted if sign == "-" else units == wanted
