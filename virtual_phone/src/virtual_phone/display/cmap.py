"""Which code points a font file has glyphs for, read from its `cmap` table.

Formats 4, 12 and 13 of the OpenType specification (the ones current fonts carry); not a font
library. Invariant: reading costs one pass over the table and the answer is a set of ranges.
"""

import struct
from bisect import bisect_right
from pathlib import Path


class Coverage:
    """Whether a font has a code point."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for start, end in sorted(ranges):
            if merged and start <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        self._starts = [r[0] for r in merged]
        self._ends = [r[1] for r in merged]

    def __contains__(self, codepoint: object) -> bool:
        if not isinstance(codepoint, int):
            return False
        at = bisect_right(self._starts, codepoint) - 1
        return at >= 0 and codepoint <= self._ends[at]


def read_coverage(path: Path, index: int = 0) -> Coverage:
    """Return the coverage of the font at `path`; `index` picks one of a collection.

    Raises:
        ValueError: the file is not an OpenType font with a Unicode character map.
    """
    with path.open("rb") as file:
        head = file.read(12)
        base = 0
        if head[:4] == b"ttcf":
            file.seek(12 + 4 * index)
            (base,) = struct.unpack(">I", file.read(4))
            file.seek(base)
            head = file.read(12)
        (tables,) = struct.unpack(">H", head[4:6])
        directory = file.read(16 * tables)
        for at in range(0, len(directory), 16):
            tag, _, offset, length = struct.unpack(">4sIII", directory[at : at + 16])
            if tag == b"cmap":
                file.seek(offset)
                return Coverage(_ranges(file.read(length)))
    raise ValueError(f"{path.name} has no cmap table")


def _ranges(table: bytes) -> list[tuple[int, int]]:
    (count,) = struct.unpack(">H", table[2:4])
    best: tuple[int, int] | None = None
    for at in range(4, 4 + 8 * count, 8):
        platform, encoding, offset = struct.unpack(">HHI", table[at : at + 8])
        (form,) = struct.unpack(">H", table[offset : offset + 2])
        unicode_map = platform == 0 or (platform == 3 and encoding in (1, 10))
        if unicode_map and form in (4, 12, 13) and (best is None or form > best[0]):
            best = (form, offset)
    if best is None:
        raise ValueError("no Unicode character map")
    form, offset = best
    return _segments(table, offset) if form == 4 else _groups(table, offset)


def _groups(table: bytes, offset: int) -> list[tuple[int, int]]:
    (count,) = struct.unpack(">I", table[offset + 12 : offset + 16])
    body = table[offset + 16 : offset + 16 + 12 * count]
    return [(start, end) for start, end, _ in struct.iter_unpack(">III", body)]


def _segments(table: bytes, offset: int) -> list[tuple[int, int]]:
    (twice,) = struct.unpack(">H", table[offset + 6 : offset + 8])
    n = twice // 2
    ends = struct.unpack(f">{n}H", table[offset + 14 : offset + 14 + twice])
    starts = struct.unpack(f">{n}H", table[offset + 16 + twice : offset + 16 + 2 * twice])
    return [(s, e) for s, e in zip(starts, ends, strict=True) if s <= e and s != 0xFFFF]
