"""Commands that read lines and write lines: grep, head, tail, wc, sort, cut, tr, sed, xargs …"""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import TypeVar

from virtual_phone.commands.options import Options, options, whole_number
from virtual_phone.commands.text.printing import unescape
from virtual_phone.server.pipes import Sink, Source, read_all
from virtual_phone.shell.call import Call, CommandError, command, decode, encode

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
            said = found.text("c", "0")
            count = whole_number(call, said)
            if said.startswith("+"):
                await call.stdout.write(data[max(count - 1, 0) :])
            else:
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
                picked = encode("".join(_pick(list(decode(line)), ranges)))
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


_UnitT = TypeVar("_UnitT", str, bytes)


def _pick(units: list[_UnitT], ranges: list[tuple[int, int]]) -> list[_UnitT]:
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
    classes = {
        "alpha": "a-zA-Z",
        "digit": "0-9",
        "alnum": "a-zA-Z0-9",
        "upper": "A-Z",
        "lower": "a-z",
        "space": " \t\n\r\f\v",
        "punct": "!-/:-@[-`{-~",
    }
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
