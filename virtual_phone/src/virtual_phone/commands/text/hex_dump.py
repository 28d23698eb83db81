"""`xxd` and `od`: bytes as numbers, and `xxd -r` back again.

Layouts are those of toybox's xxd.c and od.c. Invariant: input is read and written line by line of
the dump, so that a device without an end costs no memory.
"""

from __future__ import annotations

import asyncio
import getopt
import re
from dataclasses import dataclass

from virtual_phone.commands.options import Options, options, whole_number
from virtual_phone.commands.text.filters import each_source, lines
from virtual_phone.server.pipes import Source
from virtual_phone.shell.call import Call, CommandError, command

MOST_COLUMNS = 256
_DUMP_LINE = re.compile(rb"\s*[0-9a-fA-F]+: ?")
_SHOWN = bytes(code if 0x20 <= code <= 0x7E else 0x2E for code in range(256))


class _Blocks:
    """The input, in whole lines of the dump."""

    def __init__(self, source: Source, skip: int, most: int | None) -> None:
        self._source = source
        self._skip = skip
        self._left = most

    async def next(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end."""
        while self._skip > 0 and (data := await self._source.read(min(self._skip, 65536))):
            self._skip -= len(data)
        wanted = size if self._left is None else min(size, self._left)
        found = b""
        while len(found) < wanted and (data := await self._source.read(wanted - len(found))):
            found += data
        if self._left is not None:
            self._left -= len(found)
        return found


@command("xxd")
async def xxd(call: Call) -> int:
    """Dump bytes in hex with their text; -p plain, -i for C, -r the other way."""
    found = options(call, "c:g:il:o:prs:")
    include, plain = "i" in found, "p" in found
    columns = found.number(call, "c", 0) or (12 if include else 16)
    group = found.number(call, "g", 2) or MOST_COLUMNS + 1
    if not 0 < columns <= MOST_COLUMNS:
        raise CommandError(
            f"xxd: {columns} > {MOST_COLUMNS}" if columns > 0 else f"xxd: {columns} < 0"
        )
    if plain:
        columns, group = 30, MOST_COLUMNS + 1
    opened = 0
    async for _, source in each_source(call, found.operands):
        opened += 1
        if "r" in found:
            await _reverse(call, source, plain=plain, include=include, columns=columns)
            continue
        at = found.number(call, "s", 0)
        blocks = _Blocks(source, at, found.number(call, "l", 0) or None)
        at += found.number(call, "o", 0)
        while block := await blocks.next(columns):
            if include:
                ends = ",\n" if len(block) == columns else "\n"
                await call.out("  " + ", ".join(f"0x{byte:02x}" for byte in block) + ends)
            elif plain:
                await call.line(block.hex())
            else:
                await call.line(_hex_line(at, block, columns, group))
            at += len(block)
            await asyncio.sleep(0)
    return int(opened < len(found.operands or ["-"]))


def _hex_line(at: int, block: bytes, columns: int, group: int) -> str:
    width = 2 * columns + columns // group + 1
    shown = "".join(
        f"{byte:02x}" + (" " if number % group == 0 else "") for number, byte in enumerate(block, 1)
    )
    return f"{at:08x}: {shown:<{width}}{block.translate(_SHOWN).decode('ascii')}"


async def _reverse(call: Call, source: Source, *, plain: bool, include: bool, columns: int) -> None:
    async for line in lines(source):
        if include:
            found = bytes(int(one, 16) for one in re.findall(rb"0x([0-9a-fA-F]{1,2})", line))
        else:
            text = line if plain else _DUMP_LINE.sub(b"", line, count=1)
            digits = re.match(rb"(?:[0-9a-fA-F]{2} ?)*", text)
            found = bytes.fromhex((digits[0] if digits else b"").decode("ascii"))
            found = found if plain else found[:columns]
        await call.stdout.write(found)


@dataclass(frozen=True, slots=True)
class _Type:
    """One way to show bytes: a letter of -t, and how many bytes make one number."""

    letter: str
    size: int

    def shown(self, data: bytes) -> str:
        """Return one item, without its blank."""
        match self.letter:
            case "a":
                code = data[0] & 0x7F
                return _ASCII[code] if code <= 32 else "del" if code == 127 else chr(code)
            case "c":
                return _ESCAPES.get(data[0]) or (
                    chr(data[0]) if 32 <= data[0] < 127 else f"{data[0]:03o}"
                )
            case "d":
                return str(int.from_bytes(data, "little", signed=True))
            case "u":
                return str(int.from_bytes(data, "little"))
            case kind:
                return f"{int.from_bytes(data, 'little'):0{self.width}{kind}}"

    @property
    def width(self) -> int:
        """How many characters the longest item has."""
        most = (1 << 8 * self.size) - 1
        match self.letter:
            case "a" | "c":
                return 3
            case "d":
                return len(str(most >> 1)) + 1
            case "u":
                return len(str(most))
            case kind:
                return len(format(most, kind))


_ASCII = (  # noqa: SIM905 - thirty-three words read better than a list of them
    "nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can "
    "em sub esc fs gs rs us sp"
).split()
_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_ALIASES = {"b": "o1", "c": "c", "d": "u2", "o": "o2", "s": "d2", "x": "x2"}
_TYPE = re.compile(r"([acdoux])([1-8]|[CSIL])?")
_SIZES = {"C": 1, "S": 2, "I": 4, "L": 8}
_ADDRESSES = {"n": "", "d": "07d", "o": "07o", "x": "06x"}


def _types(text: str) -> list[_Type]:
    found: list[_Type] = []
    at = 0
    while at < len(text):
        match = _TYPE.match(text, at)
        if match is None or (match[1] in "ac" and match[2] not in (None, "1")):
            raise CommandError(f"od: bad -t {text}")
        size = match[2] or ("1" if match[1] in "ac" else "4")
        found.append(_Type(match[1], _SIZES.get(size) or int(size)))
        at = match.end()
    return found


@command("od")
async def od(call: Call) -> int:
    """Dump bytes in octal, or as -t says."""
    letters = "j:vw:N:xsodcbA:t:"
    found = options(call, letters)
    # Repeated -t has to be seen.
    pairs = getopt.gnu_getopt(call.args, letters)[0]
    types = [one for name, value in pairs if name == "-t" for one in _types(value)]
    types += [one for letter, text in _ALIASES.items() if letter in found for one in _types(text)]
    base = found.text("A", "o")[:1]
    if base not in _ADDRESSES:
        raise CommandError(f"od: bad -A '{base}'")
    source = _Joined(call, found.operands)
    await _dump(call, source, found, types or _types("o2"), _ADDRESSES[base])
    return int(source.opened < len(found.operands or ["-"]) and not source.is_left)


async def _dump(
    call: Call, source: Source, found: Options, types: list[_Type], address: str
) -> None:
    width = found.number(call, "w", 16)
    if not 0 < width <= 4096:
        raise CommandError(f"od: {width} < 1" if width < 1 else f"od: {width} > 4096")
    at = whole_number(call, found.text("j", "0"))
    most = found.number(call, "N", 0) if "N" in found else None
    blocks = _Blocks(source, at, most)
    # One way of showing has one blank between items; several are brought below each other.
    per_byte = max(-(-(one.width + 1) // one.size) for one in types) if len(types) > 1 else 0
    before, starred = b"", False
    while block := await blocks.next(width):
        if block == before and "v" not in found:
            if not starred:
                await call.line("*")
            starred = True
        else:
            starred = False
            for number, kind in enumerate(types):
                head = format(at, address) if address else ""
                row = head if not number else " " * len(head)
                cell = per_byte * kind.size or kind.width + 1
                padded = block + bytes(-len(block) % kind.size)
                for start in range(0, len(padded), kind.size):
                    row += kind.shown(padded[start : start + kind.size]).rjust(cell)
                await call.line(row)
        before = block if len(block) == width else b""
        at += len(block)
        await asyncio.sleep(0)
    if address:
        await call.line(format(at, address))


class _Joined:
    """Files one behind the other, opened when their turn comes."""

    def __init__(self, call: Call, paths: list[str]) -> None:
        self._sources = each_source(call, paths)
        self._source: Source | None = None
        self.opened = 0
        self.is_left = True
        """Whether there are files that were not asked for."""

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next bytes; b"" at the end of the last file."""
        while True:
            if self._source is None:
                opened = await anext(self._sources, None)
                if opened is None:
                    self.is_left = False
                    return b""
                self.opened += 1
                self._source = opened[1]
            if data := await self._source.read(limit):
                return data
            self._source = None
