"""Read the version out of a server file's manifest, which is Android's binary XML.

Not the file it lies in (`server_file`). Layout after `ResourceTypes.h` of AOSP (libs/androidfw):
chunks of u16 kind, u16 head size, u32 size; strings as UTF-8 or UTF-16 with their lengths before
them. Invariant: the version is the value of the attribute that names it, whole, and no other text.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_POOL, _XML, _ELEMENT, _RESOURCES = 0x0001, 0x0003, 0x0102, 0x0180
_UTF8_FLAG = 1 << 8
_VERSION_NAME_ID = 0x0101021C  # android.R.attr.versionName
_TEXT_VALUE = 0x03
_MOST_STRINGS = 10_000


@dataclass(frozen=True, slots=True)
class _Chunk:
    kind: int
    head: bytes
    """After the eight bytes that every chunk begins with."""
    body: bytes


def version_name(manifest: bytes) -> str:
    """Return `android:versionName`. Raises ValueError when the manifest gives none."""
    try:
        whole = next(_chunks(manifest))
        if whole.kind != _XML:
            raise ValueError("its manifest is not binary XML")
        return _version(list(_chunks(whole.body)))
    except (struct.error, IndexError, StopIteration) as error:
        raise ValueError("its manifest is damaged") from error


def _version(chunks: Sequence[_Chunk]) -> str:
    pool = next(chunk for chunk in chunks if chunk.kind == _POOL)
    strings = list(_strings(pool))
    ids = next((chunk.body for chunk in chunks if chunk.kind == _RESOURCES), b"")
    known = [one for (one,) in struct.iter_unpack("<I", ids[: len(ids) // 4 * 4])]
    for chunk in chunks:
        if chunk.kind == _ELEMENT:
            for name, kind, value in _attributes(chunk.body):
                # Tools that shrink a file may take the attributes' names away, never their numbers.
                number = known[name] if name < len(known) else 0
                if number == _VERSION_NAME_ID or strings[name] == "versionName":
                    if kind != _TEXT_VALUE:
                        raise ValueError("its manifest refers to a version elsewhere")
                    return strings[value]
            break
    raise ValueError("its manifest names no version")


def _chunks(data: bytes) -> Iterator[_Chunk]:
    at = 0
    while at + 8 <= len(data):
        kind, head, size = struct.unpack_from("<HHI", data, at)
        if not 8 <= head <= size <= len(data) - at:
            raise ValueError("its manifest is damaged")
        yield _Chunk(kind, data[at + 8 : at + head], data[at + head : at + size])
        at += size


def _strings(pool: _Chunk) -> Iterator[str]:
    count, _, flags, start, _ = struct.unpack_from("<5I", pool.head)
    if count > _MOST_STRINGS:
        raise ValueError("its manifest holds too many strings")
    # Offsets are counted from the strings' start, which is counted from the chunk's.
    base = start - 8 - len(pool.head)
    for (offset,) in struct.iter_unpack("<I", pool.body[: 4 * count]):
        yield _string(pool.body, base + offset, is_utf8=bool(flags & _UTF8_FLAG))


def _string(data: bytes, at: int, *, is_utf8: bool) -> str:
    if is_utf8:
        # The length in characters, then the one in bytes; above 127 each takes two bytes.
        at += 2 if data[at] & 0x80 else 1
        size = data[at]
        at += 1
        if size & 0x80:
            size = (size & 0x7F) << 8 | data[at]
            at += 1
        return data[at : at + size].decode("utf-8", "replace")
    (size,) = struct.unpack_from("<H", data, at)
    at += 2
    if size & 0x8000:
        (low,) = struct.unpack_from("<H", data, at)
        size, at = (size & 0x7FFF) << 16 | low, at + 2
    return data[at : at + 2 * size].decode("utf-16-le", "replace")


def _attributes(body: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield each attribute's name, kind of value and value, of one element's body."""
    _, _, start, size, count = struct.unpack_from("<IIHHH", body)
    for number in range(count):
        _, name, _, _, _, kind, value = struct.unpack_from("<IIIHBBI", body, start + number * size)
        yield name, kind, value
