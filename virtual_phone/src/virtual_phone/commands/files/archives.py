"""What a tar archive is made of: its entries, read one behind the other from a stream.

Not the command (`archiving`), and no file is touched here. Format: GNU tar, with POSIX's extended
names. Invariant: what an entry claims is checked and bounded before anything of that size is read.
"""

from __future__ import annotations

import tarfile
from dataclasses import dataclass

from virtual_phone.server.pipes import Source
from virtual_phone.shell.call import CommandError, decode

BLOCK_BYTES = 512
MOST_NAME_BYTES = 64 * 1024
LATEST_S = 2**33
"""The latest time that a file gets: in the year 2242."""
PIECE_BYTES = 64 * 1024
END = bytes(2 * BLOCK_BYTES)


class ArchiveError(CommandError):
    """The archive is damaged: nothing more of it can be read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; `kind` is tar's type, `size` the bytes of content behind the header."""

    name: str
    kind: bytes
    mode: int
    size: int
    mtime: float
    link: str
    owner: str
    group: str

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory; old archives mark one by a slash alone."""
        return self.kind == tarfile.DIRTYPE or (self.is_file and self.name.endswith("/"))

    @property
    def is_file(self) -> bool:
        """Whether it has content."""
        return self.kind in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)


def header(entry: Entry, *, uid: int, gid: int) -> bytes:
    """Return the blocks that stand in front of an entry's content."""
    info = tarfile.TarInfo(entry.name)
    info.type, info.mode, info.size = entry.kind, entry.mode & 0o7777, entry.size
    info.mtime, info.linkname = int(entry.mtime), entry.link
    info.uid, info.gid, info.uname, info.gname = uid, gid, entry.owner, entry.group
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def padding(size: int) -> bytes:
    """Return what fills the last block of content."""
    return bytes(-size % BLOCK_BYTES)


def is_header(block: bytes) -> bool:
    """Whether a block is an entry's header."""
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


class Reader:
    """The entries of an archive in their order.

    Args:
        source: the archive, unpacked.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = 0
        self._padding = 0

    async def next(self) -> Entry | None:
        """Return the next entry, None at the end; what is left of the one before is skipped.

        Raises:
            ArchiveError: there is no entry where one must be.
        """
        name = link = ""
        empty = 0
        while True:
            await self._skip()
            block = await self._read(BLOCK_BYTES)
            if not block:
                return None
            if len(block) != BLOCK_BYTES:
                raise ArchiveError("tar: short header")
            if not block[0]:
                empty += 1
                if empty > 1:
                    return None
                continue
            empty = 0
            try:
                info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            except tarfile.TarError:
                raise ArchiveError("tar: bad header") from None
            if info.size < 0:
                raise ArchiveError("tar: bad header")
            self._left, self._padding = info.size, -info.size % BLOCK_BYTES
            match info.type:
                case tarfile.GNUTYPE_LONGNAME:
                    name = decode((await self._text(info.size)).rstrip(b"\0"))
                case tarfile.GNUTYPE_LONGLINK:
                    link = decode((await self._text(info.size)).rstrip(b"\0"))
                case tarfile.XHDTYPE:
                    found = _extended(await self._text(info.size))
                    name, link = found.get("path", name), found.get("linkpath", link)
                case tarfile.GNUTYPE_SPARSE:
                    raise ArchiveError(f"tar: {name or info.name}: sparse files are not read here")
                case kind if kind in b"01234567\0":
                    return self._entry(info, block, name, link)
                case _:
                    continue

    def _entry(self, info: tarfile.TarInfo, block: bytes, name: str, link: str) -> Entry:
        # The library takes the slash from a directory's name.
        slash = "/" if info.isdir() or decode(block[:100].rstrip(b"\0")).endswith("/") else ""
        name = name or info.name.rstrip("/") + slash
        entry = Entry(
            name,
            info.type,
            info.mode & 0o7777,
            info.size,
            float(min(max(info.mtime, 0), LATEST_S)),
            link or info.linkname,
            info.uname,
            info.gname,
        )
        if not entry.is_file or entry.link:
            self._left = self._padding = 0
        return entry

    async def content(self) -> bytes:
        """Return the next bytes of the entry; b"" at its end. Raises ArchiveError."""
        if not self._left:
            return b""
        data = await self._source.read(min(self._left, PIECE_BYTES))
        if not data:
            raise ArchiveError("tar: EOF")
        self._left -= len(data)
        return data

    async def _text(self, size: int) -> bytes:
        if size > MOST_NAME_BYTES:
            raise ArchiveError("tar: bad header")
        found = await self._read(size)
        self._left -= len(found)
        return found

    async def _skip(self) -> None:
        """Go to the block behind the entry; an archive may end before its padding does."""
        while await self.content():
            pass
        await self._read(self._padding)
        self._padding = 0

    async def _read(self, size: int) -> bytes:
        found = b""
        while len(found) < size and (data := await self._source.read(size - len(found))):
            found += data
        return found


def _extended(data: bytes) -> dict[str, str]:
    """Return the records of a POSIX extended header, `LENGTH NAME=VALUE\\n` each."""
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        digits = data[at : at + 8].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        if length < 4 or at + length > len(data):
            raise ArchiveError("tar: bad header")
        name, _, value = data[at + len(digits) + 1 : at + length - 1].partition(b"=")
        found[decode(name)] = decode(value.partition(b"\0")[0])
        at += length
    return found
