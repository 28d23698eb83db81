"""Commands that read lines and write lines: grep, head, tail, wc, sort, cut, tr, sed, xargs …"""

from __future__ import annotations

import asyncio
import base64 as base64_codec
import hashlib
import re
from collections.abc import AsyncIterator

from agent.phone.commands.options import Options, options, whole_number
from agent.phone.commands.printing import unescape
from agent.phone.pipes import Sink, Source, read_all
from agent.phone.shell.call import Call, CommandError, command, decode, encode
from agent.phone.userland.files import PhoneFiles
from agent.phone.userland.userland import Userland

WHOLE_LIMIT_BYTES = 64 * 1024 * 1024
LINE_LIMIT_BYTES = 4 * 1024 * 1024


async def lines(source: Source) -> AsyncIterator[bytes]:
    """Yield lines with their newline; the last one may have none."""
    rest = b""
    while data := await source.read():
        pieces = (rest + data).split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            yield piece + b"\n"
        if len(rest) > LINE_LIMIT_BYTES:
            yield rest
            rest = b""
        await asyncio.sleep(0)
    if rest:
        yield rest


async def each_source(call: Call, paths: list[str]) -> AsyncIterator[tuple[str, Source]]:
    """Yield every operand that can be opened; complain about the others."""
    for path in paths or ["-"]:
        try:
            yield path, call.open_source(path)
        except OSError as error:
            await call.fail(f"{path}: {error.strerror}")


def _regex(call: Call, patterns: list[str], found: Options) -> re.Pattern[bytes]:
    pieces = [
        re.escape(one) if "F" in found else posix_regex(one, "E" in found) for one in patterns
    ]
    text = "|".join(f"(?:{piece})" for piece in pieces)
    if "w" in found:
        text = rf"(?<!\w)(?:{text})(?!\w)"
    if "x" in found:
        text = rf"^(?:{text})$"
    try:
        return re.compile(encode(text), re.IGNORECASE if "i" in found else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise CommandError(f"{call.name}: bad regex '{patterns[0]}': {error}", 2) from error


def posix_regex(pattern: str, extended: bool) -> str:
    """Translate a POSIX regular expression to Python's."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "[":
            end = at + 1 if pattern[at : at + 1] == "^" else at
            end = pattern.find("]", end + 1)
            while end >= 0 and pattern[at:end].count("[:") > pattern[at:end].count(":]"):
                end = pattern.find("]", end + 1)
            if end < 0:
                out.append("\\[")
                continue
            inner = pattern[at:end].replace("\\", "\\\\")
            for name, ranges in _CLASSES.items():
                inner = inner.replace(f"[:{name}:]", ranges)
            head, body = ("^", inner[1:]) if inner.startswith("^") else ("", inner)
            out.append(f"[{head}{body.replace('[', chr(92) + '[')}]")
            at = end + 1
        elif char == "\\" and at < len(pattern):
            code = pattern[at]
            at += 1
            if not extended and code in "(){}|+?":
                out.append(code)
            elif code in "<>":
                out.append(r"\b")
            elif code in "bBwWsSdD123456789":
                out.append("\\" + code)
            else:
                out.append(re.escape(code))
        elif not extended and char in "(){}|+?":
            out.append("\\" + char)
        elif not extended and char == "*" and not out:
            out.append("\\*")
        else:
            out.append(char)
    return "".join(out)


_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "space": r"\s", "upper": "A-Z",
    "lower": "a-z", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F", "blank": r" \t",
}  # fmt: skip


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
    import getopt

    letters = "EFicvnqlLHhoswxrRae:m:A:B:C:f:"
    return getopt.gnu_getopt(call.args, letters, ["color=", "color", "line-buffered"])[0]


async def _grep_one(
    call: Call,
    source: Source,
    regex: re.Pattern[bytes],
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
        hit = (regex.search(line) is not None) != ("v" in found)
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
            for match in regex.finditer(line):
                if match.group():
                    await _grep_line(call, match.group(), prefix, number, found, ":")
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


@command("head")
async def head(call: Call) -> int:
    """Write the first lines or bytes."""
    found, paths = _head_options(call)
    count = found.number(call, "n", 10)
    async for path, source in each_source(call, paths):
        if len(paths) > 1 and "q" not in found:
            await call.line(f"==> {path} <==")
        if "c" in found:
            left = found.number(call, "c", 0)
            while left > 0 and (data := await source.read(left)):
                await call.stdout.write(data)
                left -= len(data)
            continue
        left = count
        if left <= 0:
            continue
        async for line in lines(source):
            await call.stdout.write(line)
            left -= 1
            if left <= 0:
                break
    return 0


def _head_options(call: Call) -> tuple[Options, list[str]]:
    """Read -n and -c, and the old spelling -5."""
    old = re.compile(r"-\d+")
    words = [f"-n{word[1:]}" if old.fullmatch(word) else word for word in call.args]
    call.argv = [call.argv[0], *words]
    found = options(call, "n:c:qvfF")
    return found, found.operands


@command("tail")
async def tail(call: Call) -> int:
    """Write the last lines or bytes; -f goes on."""
    found, paths = _head_options(call)
    text = found.text("n", "10")
    async for _, source in each_source(call, paths):
        if "c" in found:
            data = await read_all(source, WHOLE_LIMIT_BYTES)
            count = found.number(call, "c", 0)
            await call.stdout.write(data[-abs(count) :] if count else b"")
        elif text.startswith("+"):
            skip = whole_number(call, text) - 1
            async for line in lines(source):
                if skip > 0:
                    skip -= 1
                else:
                    await call.stdout.write(line)
        else:
            keep = abs(whole_number(call, text))
            kept: list[bytes] = []
            async for line in lines(source):
                kept.append(line)
                if len(kept) > keep:
                    del kept[0]
            await call.stdout.write(b"".join(kept))
        while found.any("fF"):
            data = await source.read()
            await call.stdout.write(data)
            if not data:
                await asyncio.sleep(0.2)
    return 0


@command("wc")
async def wc(call: Call) -> int:
    """Count lines, words and bytes."""
    found = options(call, "lwcm")
    chosen = [letter for letter in "lwcm" if letter in found] or list("lwc")
    totals = dict.fromkeys("lwcm", 0)
    files = 0
    async for path, source in each_source(call, found.operands):
        files += 1
        counts = dict.fromkeys("lwcm", 0)
        async for line in lines(source):
            counts["l"] += line.endswith(b"\n")
            counts["w"] += len(line.split())
            counts["c"] += len(line)
            counts["m"] += len(line.decode("utf-8", "replace"))
        for letter, value in counts.items():
            totals[letter] += value
        await call.line(_wc_line([counts[letter] for letter in chosen], path))
    if files > 1:
        await call.line(_wc_line([totals[letter] for letter in chosen], "total"))
    return int(files < len(found.operands or ["-"]))


def _wc_line(counts: list[int], path: str) -> str:
    shown = " ".join(map(str, counts))
    return shown if path == "-" else f"{shown} {path}"


@command("sort")
async def sort(call: Call) -> int:
    """Sort lines."""
    found = options(call, "rnufk:t:bhVs")
    rows: list[bytes] = []
    async for _, source in each_source(call, found.operands):
        rows += (await read_all(source, WHOLE_LIMIT_BYTES)).splitlines()
    separator = encode(found.text("t")) or None
    key_text = found.text("k").partition(",")[0]
    column = whole_number(call, re.sub(r"[a-zA-Z.].*", "", key_text) or "1") if "k" in found else 0
    numeric = "n" in found or "n" in found.text("k")

    def key(row: bytes) -> tuple[float, bytes]:
        field = row
        if column > 0:
            fields = row.split(separator)
            field = fields[column - 1] if column <= len(fields) else b""
        if "f" in found:
            field = field.upper()
        if not numeric:
            return 0.0, field
        match = re.match(rb"\s*-?\d{1,300}(\.\d{1,300})?", field)
        return (float(match.group()) if match else 0.0), b""

    rows.sort(key=key, reverse="r" in found or "r" in found.text("k"))
    if "u" in found:
        unique: list[bytes] = []
        for row in rows:
            if not unique or key(unique[-1]) != key(row):
                unique.append(row)
        rows = unique
    await call.stdout.write(b"".join(row + b"\n" for row in rows))
    return 0


@command("uniq")
async def uniq(call: Call) -> int:
    """Leave out repeated lines."""
    found = options(call, "cdui")
    last: bytes | None = None
    count = 0

    async def show() -> None:
        if last is None or ("d" in found and count < 2) or ("u" in found and count > 1):
            return
        await call.stdout.write((encode(f"{count:>7} ") if "c" in found else b"") + last + b"\n")

    async for _, source in each_source(call, found.operands[:1]):
        async for raw in lines(source):
            line = raw.rstrip(b"\n")
            if last is not None and line == last:
                count += 1
                continue
            await show()
            last, count = line, 1
    await show()
    return 0


@command("cut")
async def cut(call: Call) -> int:
    """Take columns."""
    found = options(call, "d:f:c:b:sD")
    letter = next((one for one in "fcb" if one in found), None)
    if letter is None:
        raise CommandError("cut: no ranges")
    ranges = _ranges(found.text(letter))
    delimiter = encode(found.text("d", "\t"))
    async for _, source in each_source(call, found.operands):
        async for raw in lines(source):
            line = raw.rstrip(b"\n")
            if letter != "f":
                units: list[str] | list[bytes] = list(decode(line))
                picked = encode("".join(str(one) for one in _pick(units, ranges)))
            elif delimiter not in line:
                if "s" in found:
                    continue
                picked = line
            else:
                picked = delimiter.join(_pick(line.split(delimiter), ranges))
            await call.stdout.write(picked + b"\n")
    return 0


def _ranges(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for piece in text.split(","):
        match = re.fullmatch(r"(\d{0,9})(-?)(\d{0,9})", piece)
        if match is None or not piece or piece == "-":
            raise CommandError(f"cut: bad range '{piece}'")
        first, dash, last = match.groups()
        start = int(first or 1)
        found.append((start, int(last) if last else (2**31 if dash else start)))
    return found


def _pick(units: list[bytes] | list[str], ranges: list[tuple[int, int]]) -> list:  # type: ignore[type-arg]
    return [
        unit
        for number, unit in enumerate(units, 1)
        if any(first <= number <= last for first, last in ranges)
    ]


@command("tr")
async def tr(call: Call) -> int:
    """Translate or delete characters."""
    found = options(call, "cCds", leading=True)
    if not found.operands:
        raise CommandError('tr: Needs 1 argument (see "tr --help")')
    first = _characters(found.operands[0])
    second = _characters(found.operands[1]) if len(found.operands) > 1 else ""
    if found.any("cC"):
        first = "".join(chr(code) for code in range(256) if chr(code) not in first)
    table: dict[int, int | None]
    if "d" in found:
        table = {ord(char): None for char in first}
    elif second:
        padded = second + second[-1] * (len(first) - len(second))
        table = {ord(one): ord(two) for one, two in zip(first, padded, strict=False)}
    else:
        table = {}
    squeeze = second or first if "s" in found else ""
    last = ""
    while data := await call.stdin.read():
        text = data.decode("latin-1").translate(table)
        if squeeze:
            kept: list[str] = []
            for char in text:
                if char != last or char not in squeeze:
                    kept.append(char)
                last = char
            text = "".join(kept)
        await call.stdout.write(text.encode("latin-1", "replace"))
        await asyncio.sleep(0)
    return 0


def _characters(text: str) -> str:
    text = unescape(text)[0]
    classes = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z",
               "lower": "a-z", "space": " \t\n\r\f\v", "punct": "!-/:-@[-`{-~"}  # fmt: skip
    for name, ranges in classes.items():
        text = text.replace(f"[:{name}:]", ranges)

    def span(match: re.Match[str]) -> str:
        first, last = ord(match.group(1)), ord(match.group(2))
        if last < first or last > 255:
            raise CommandError("tr: bad range")
        return "".join(chr(code) for code in range(first, last + 1))

    return re.sub(r"(.)-(.)", span, text.encode("utf-8", "surrogateescape").decode("latin-1"))


@command("tee")
async def tee(call: Call) -> int:
    """Copy stdin to stdout and to files."""
    found = options(call, "ai")
    sinks: list[Sink] = [call.stdout]
    status = 0
    for path in found.operands:
        try:
            sinks.append(call.open_sink(path, append="a" in found))
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
    while data := await call.stdin.read():
        for sink in sinks:
            await sink.write(data)
    return status


@command("rev", "tac")
async def rev(call: Call) -> int:
    """Turn lines (rev) or their order (tac) around."""
    for path in call.args or ["-"]:
        rows = (await read_all(call.open_source(path), WHOLE_LIMIT_BYTES)).splitlines()
        turned = rows[::-1] if call.name == "tac" else [encode(decode(row)[::-1]) for row in rows]
        await call.stdout.write(b"".join(row + b"\n" for row in turned))
    return 0


@command("xargs")
async def xargs(call: Call) -> int:
    """Run a command with words from stdin."""
    found = options(call, "0n:rI:P:", leading=True)
    data = await read_all(call.stdin, WHOLE_LIMIT_BYTES)
    separator = b"\0" if "0" in found else (b"\n" if "I" in found else None)
    words = [decode(word) for word in data.split(separator) if word]
    base = found.operands or ["echo"]
    streams = call.streams
    if "I" in found:
        mark = found.text("I")
        batches = [[part.replace(mark, word) for part in base] for word in words]
    else:
        size = max(1, found.number(call, "n", len(words) or 1))
        batches = [base + words[at : at + size] for at in range(0, len(words), size)]
        if not words and "r" not in found:
            batches = [base]
    status = 0
    for argv in batches:
        if await call.shell.run_argv(argv, streams, functions=False):
            status = 123
    return status


@command("base64")
async def base64(call: Call) -> int:
    """Encode or decode base64."""
    found = options(call, "dw:i")
    path = found.operands[0] if found.operands else "-"
    data = await read_all(call.open_source(path), WHOLE_LIMIT_BYTES)
    if "d" in found:
        try:
            await call.stdout.write(base64_codec.b64decode(b"".join(data.split())))
        except ValueError as error:
            raise CommandError("base64: bad input") from error
        return 0
    text = base64_codec.b64encode(data)
    width = found.number(call, "w", 76) or len(text) or 1
    rows = [text[at : at + width] for at in range(0, len(text), width)]
    await call.stdout.write(b"\n".join(rows) + b"\n" if rows else b"")
    return 0


@command("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum")
async def digest(call: Call) -> int:
    """Write checksums of files."""
    found = options(call, "bc")
    status = 0
    for path in found.operands or ["-"]:
        hasher = hashlib.new(call.name.removesuffix("sum"), usedforsecurity=False)
        try:
            source = call.open_source(path)
            while data := await source.read(256 * 1024):
                hasher.update(data)
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
            continue
        await call.line(hasher.hexdigest() if "b" in found else f"{hasher.hexdigest()}  {path}")
    return status


@command("sed")
async def sed(call: Call) -> int:
    """Edit lines: s///[gip], p, d, = and q with an optional line number or /regex/ before."""
    found = options(call, "nErie:")
    operands = list(found.operands)
    script = found.text("e") if "e" in found else (operands.pop(0) if operands else "")
    if not script:
        raise CommandError("sed: no pattern")
    extended = found.any("Er")
    steps = [_SedStep(piece.strip(), extended) for piece in _sed_pieces(script) if piece.strip()]
    number = 0
    pending: bytes | None = None
    async for _, source in each_source(call, operands):
        async for raw in lines(source):
            if pending is not None and await _sed_line(call, steps, pending, number, False, found):
                return 0
            number += 1
            pending = raw
    if pending is not None:
        await _sed_line(call, steps, pending, number, True, found)
    return 0


async def _sed_line(
    call: Call, steps: list[_SedStep], raw: bytes, number: int, last: bool, found: Options
) -> bool:
    line, quits, deleted = raw.rstrip(b"\n"), False, False
    for step in steps:
        if not step.applies(line, number, last):
            continue
        if step.verb == "d":
            deleted = True
            break
        if step.verb == "s":
            changed, count = step.pattern.subn(step.replace, line, count=step.count)
            line = changed
            if count and step.prints:
                await call.stdout.write(line + b"\n")
        elif step.verb == "p":
            await call.stdout.write(line + b"\n")
        elif step.verb == "=":
            await call.line(str(number))
        elif step.verb == "q":
            quits = True
            break
    if not deleted and "n" not in found:
        await call.stdout.write(line + b"\n")
    return quits


def _sed_pieces(script: str) -> list[str]:
    """Split at `;` and newlines that are not inside an s command."""
    pieces: list[str] = []
    current = ""
    for piece in re.split(r"[;\n]", script):
        current = f"{current};{piece}" if current else piece
        match = re.match(r"^[^s]*s(.)", current)
        marks = len(re.findall(rf"(?<!\\){re.escape(match.group(1))}", current)) if match else 3
        if marks < 3:
            continue
        pieces.append(current)
        current = ""
    return [*pieces, current] if current else pieces


class _SedStep:
    """One sed command."""

    def __init__(self, text: str, extended: bool) -> None:
        match = re.match(r"(?:(\d+|\$)(?:,(\d+|\$))?|/((?:[^/\\]|\\.)*)/)?\s*(!?)\s*", text)
        assert match is not None
        first, last, regex, negated = match.groups()
        self._first, self._last, self._negated = first, last, bool(negated)
        self._regex = self._compile(regex, extended, 0) if regex is not None else None
        body = text[match.end() :]
        self.verb = body[:1]
        self.count, self.prints = 1, False
        self.pattern = re.compile(b"")
        self._template: list[str] = []
        if self.verb == "s":
            self._substitution(body, extended)
        elif self.verb not in ("p", "d", "q", "=") or len(body) > 1:
            raise CommandError(f"sed: bad pattern '{text}'")

    @staticmethod
    def _compile(regex: str, extended: bool, flags: int) -> re.Pattern[bytes]:
        try:
            return re.compile(encode(posix_regex(regex, extended)), flags)
        except (re.error, RecursionError, OverflowError) as error:
            raise CommandError(f"sed: bad regex '{regex}'") from error

    def _substitution(self, body: str, extended: bool) -> None:
        mark = re.escape(body[1:2])
        match = re.fullmatch(
            rf"s{mark}((?:[^\\]|\\.)*?){mark}((?:[^\\]|\\.)*?){mark}([gIip0-9]*)", body, re.DOTALL
        )
        if match is None:
            raise CommandError(f"sed: bad pattern '{body}'")
        regex, replacement, flags = match.groups()
        ignore = re.IGNORECASE if "i" in flags.lower() else 0
        self.pattern = self._compile(regex, extended, ignore)
        self._template = re.findall(r"\\.|&|[^\\&]+", replacement, re.DOTALL)
        self.count = 0 if "g" in flags else 1
        self.prints = "p" in flags

    def replace(self, match: re.Match[bytes]) -> bytes:
        """Return the replacement of one match."""
        out: list[bytes] = []
        for token in self._template:
            if token == "&":
                out.append(match.group())
            elif token[0] == "\\" and token[1:].isdigit():
                number = int(token[1])
                out.append((match.group(number) or b"") if number <= (match.re.groups) else b"")
            elif token[0] == "\\":
                out.append(encode({"n": "\n", "t": "\t"}.get(token[1], token[1])))
            else:
                out.append(encode(token))
        return b"".join(out)

    def applies(self, line: bytes, number: int, last: bool) -> bool:
        """Whether the command's address covers the line."""
        if self._regex is not None:
            inside = self._regex.search(line) is not None
        elif self._first is None:
            inside = True
        elif self._last is not None:
            first = number if self._first == "$" and last else self._number(self._first)
            inside = first <= number and (self._last == "$" or number <= self._number(self._last))
        else:
            inside = last if self._first == "$" else number == self._number(self._first)
        return inside != self._negated

    @staticmethod
    def _number(text: str) -> int:
        return int(text[:9]) if text.isdigit() else 2**31
