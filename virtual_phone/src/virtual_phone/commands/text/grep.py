"""`grep`: find lines."""

import getopt
import re

from virtual_phone.commands.options import Options, options
from virtual_phone.commands.text.filters import each_source, lines
from virtual_phone.commands.text.regexes import LinePattern, posix_regex
from virtual_phone.server.pipes import Source
from virtual_phone.shell.call import Call, CommandError, command, encode
from virtual_phone.userland.files import PhoneFiles
from virtual_phone.userland.userland import Userland


def _regex(call: Call, patterns: list[str], found: Options) -> LinePattern:
    pieces = [
        re.escape(one) if "F" in found else posix_regex(one, "E" in found) for one in patterns
    ]
    text = "|".join(f"(?:{piece})" for piece in pieces)
    if "w" in found:
        text = rf"(?<!\w)(?:{text})(?!\w)"
    if "x" in found:
        text = rf"^(?:{text})$"
    try:
        return LinePattern(call.name, encode(text), ignores_case="i" in found)
    except (re.error, RecursionError, OverflowError) as error:
        raise CommandError(f"{call.name}: bad regex '{patterns[0]}': {error}", 2) from error


@command("grep", "egrep", "fgrep")
async def grep(call: Call) -> int:
    """Write the lines that match."""
    found = options(
        call, "EFicvnqlLHhoswxrRae:m:A:B:C:f:", long=("color=", "color", "line-buffered")
    )
    if call.name != "grep":
        found = Options([(f"-{call.name[0].upper()}", ""), *_pairs(call)], found.operands)
    operands = list(found.operands)
    patterns = [value for name, value in _pairs(call) if name == "-e"]
    if not patterns:
        if not operands:
            raise CommandError('grep: no REGEX (see "grep --help")', 2)
        patterns = operands.pop(0).split("\n")
    regex = _regex(call, patterns, found)
    limit = found.number(call, "m", 2**62)
    after = max(found.number(call, "A", 0), found.number(call, "C", 0))
    before = max(found.number(call, "B", 0), found.number(call, "C", 0))
    paths = operands
    if found.any("rR"):
        paths = [
            path for one in operands or ["."] for path in walk_files(call.files, one, call.cwd)
        ]
    named = ("H" in found or len(paths) > 1 or found.any("rR")) and "h" not in found
    matched = failed = False
    opened = 0
    async for path, source in each_source(call, paths):
        opened += 1
        count = await _grep_one(
            call, source, regex, found, f"{path}:" if named else "", limit, before, after
        )
        hit = count > 0
        matched = matched or hit
        if hit and "q" in found:
            return 0
        if (hit and "l" in found) or (not hit and "L" in found):
            await call.line(path)
        elif "c" in found:
            await call.line(f"{path}:{count}" if named else str(count))
    failed = opened < len(paths or ["-"])
    return 2 if failed and not matched else int(not matched)


def _pairs(call: Call) -> list[tuple[str, str]]:
    """Return the option pairs again: repeated -e has to be seen."""
    letters = "EFicvnqlLHhoswxrRae:m:A:B:C:f:"
    return getopt.gnu_getopt(call.args, letters, ["color=", "color", "line-buffered"])[0]


async def _grep_one(
    call: Call,
    source: Source,
    regex: LinePattern,
    found: Options,
    prefix: str,
    limit: int,
    before: int,
    after: int,
) -> int:
    count = number = trailing = 0
    kept: list[tuple[int, bytes]] = []
    silent = found.any("qclL")
    async for raw in lines(source):
        number += 1
        line = raw.rstrip(b"\n")
        hit = regex.hits(line) != ("v" in found)
        if not hit:
            if trailing and not silent:
                trailing -= 1
                await _grep_line(call, line, prefix, number, found, "-")
            elif before:
                kept = [*kept, (number, line)][-before:]
            continue
        count += 1
        if silent:
            if found.any("qlL"):
                break
        elif "o" in found:
            for match in regex.matches(line):
                await _grep_line(call, match, prefix, number, found, ":")
        else:
            for earlier, text in kept:
                await _grep_line(call, text, prefix, earlier, found, "-")
            kept = []
            await _grep_line(call, line, prefix, number, found, ":")
            trailing = after
        if count >= limit:
            break
    return count


async def _grep_line(
    call: Call, line: bytes, prefix: str, number: int, found: Options, mark: str
) -> None:
    head = prefix + (f"{number}{mark}" if "n" in found else "")
    await call.stdout.write(encode(head) + line + b"\n")


def walk_files(files: PhoneFiles[Userland], path: str, cwd: str) -> list[str]:
    """Return the regular files below a path (or the path itself)."""
    try:
        found = files.stat(path, cwd, follow=False)
    except OSError:
        return [path]
    if not found.is_dir:
        return [path]
    out: list[str] = []
    pending = [path.rstrip("/") or "/"]
    while pending and len(out) < 100_000:
        here = pending.pop()
        try:
            names = files.listdir(here, cwd)
        except OSError:
            continue
        for name in names:
            inner = f"{here.rstrip('/')}/{name}"
            entry = files.stat(inner, cwd, follow=False)
            if entry.is_dir:
                pending.append(inner)
            elif entry.is_file:
                out.append(inner)
    return sorted(out)
