"""`gzip`, `gunzip` and `zcat`; and gzip as a source and a sink, for `tar`.

Behaviour and words are those of toybox's gzip.c on zlib, as Android builds it: data that is not
compressed passes through a decompression unchanged. Invariant: however small the input, what is
unpacked is handed on in pieces of at most 64 KiB.
"""

from __future__ import annotations

import asyncio
import zlib

from virtual_phone.commands.options import Options, options
from virtual_phone.server.pipes import Sink, Source
from virtual_phone.shell.call import Call, CommandError, command

PIECE_BYTES = 64 * 1024
MAGIC = b"\x1f\x8b"
SUFFIX = ".gz"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_LEVELS = "123456789"


class GzipError(CommandError):
    """Compressed data is damaged, or ends too early."""


class Inflated:
    """What a gzip stream holds; several streams one behind the other are one.

    Args:
        source: the compressed bytes.
        name: how the stream is called in an error, as zlib calls a descriptor.
    """

    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self._name = name
        self._waiting = b""
        self._plain = False
        self._unpacker: zlib._Decompress | None = None
        self._is_first = True

    async def read(self, limit: int = PIECE_BYTES) -> bytes:
        """Return some bytes, b"" at the end; raise GzipError."""
        while True:
            if self._plain:
                found, self._waiting = self._waiting[:limit], self._waiting[limit:]
                return found or await self._source.read(limit)
            if self._unpacker is None and not await self._begin():
                return b""
            if self._unpacker is None:
                continue
            found = self._inflate(min(limit, PIECE_BYTES))
            if self._unpacker.eof:
                self._waiting, self._unpacker = self._unpacker.unused_data, None
            elif not found and not self._waiting:
                self._waiting = await self._source.read()
                if not self._waiting:
                    raise GzipError(f"gzread: {self._name}: unexpected end of file")
            if found:
                await asyncio.sleep(0)
                return found

    async def _begin(self) -> bool:
        """Look at what a stream begins with; False when there is none any more."""
        while len(self._waiting) < len(MAGIC) and (more := await self._source.read()):
            self._waiting += more
        is_first, self._is_first = self._is_first, False
        if self._waiting.startswith(MAGIC):
            self._unpacker = zlib.decompressobj(_GZIP_WINDOW)
            return True
        # What is no gzip is copied at the beginning, and left behind a stream.
        self._plain = is_first
        return is_first and bool(self._waiting)

    def _inflate(self, limit: int) -> bytes:
        assert self._unpacker is not None
        try:
            found = self._unpacker.decompress(self._waiting, limit)
        except zlib.error as error:
            reason = str(error).rpartition(": ")[2]
            raise GzipError(f"gzread: {self._name}: {reason}") from error
        self._waiting = self._unpacker.unconsumed_tail
        return found


class Deflating:
    """Compress what is written; `end` writes what is left."""

    def __init__(self, sink: Sink, level: int = 6) -> None:
        self._sink = sink
        self._packer = zlib.compressobj(level, zlib.DEFLATED, _GZIP_WINDOW)

    async def write(self, data: bytes) -> None:
        """Take some bytes."""
        await self._sink.write(self._packer.compress(data))
        await asyncio.sleep(0)

    async def end(self) -> None:
        """Write the rest."""
        await self._sink.write(self._packer.flush())


@command("gzip", "gunzip", "zcat")
async def gzip(call: Call) -> int:
    """Compress or unpack files in their place, or stdin to stdout."""
    found = options(call, f"cdfk{_LEVELS}")
    unpacks = call.name != "gzip" or "d" in found
    to_stdout = call.name == "zcat" or "c" in found
    status = 0
    for path in found.operands or ["-"]:
        try:
            if path == "-" or to_stdout:
                await _through(call, call.open_source(path), call.stdout, path, unpacks, found)
            else:
                await _in_place(call, path, unpacks, found)
        except BrokenPipeError:
            raise
        except OSError as error:
            status = await call.fail(f"{error.filename or path}: {error.strerror}")
        except GzipError as error:
            status = await call.fail(error.message)
    return status


async def _through(
    call: Call, source: Source, sink: Sink, path: str, unpacks: bool, found: Options
) -> None:
    del call
    if unpacks:
        unpacked = Inflated(source, f"<fd:{0 if path == '-' else 3}>")
        while data := await unpacked.read():
            await sink.write(data)
        return
    level = next((int(one) for one in _LEVELS if one in found), 6)
    packed = Deflating(sink, level)
    while data := await source.read():
        await packed.write(data)
    await packed.end()


async def _in_place(call: Call, path: str, unpacks: bool, found: Options) -> None:
    """Make the other file with the same mode and times, and remove this one."""
    before = call.files.stat(path, call.cwd)
    source = call.open_source(path)
    if unpacks and (not path.endswith(SUFFIX) or path == SUFFIX):
        raise GzipError(f"no .gz: {path}")
    target = path.removesuffix(SUFFIX) if unpacks else path + SUFFIX
    if "f" not in found and call.files.exists(target, call.cwd, follow=False):
        raise GzipError(f"{target}: File exists")
    try:
        await _through(call, source, call.open_sink(target), path, unpacks, found)
    except GzipError:
        call.close()
        call.files.unlink(target, call.cwd)
        raise
    call.close()
    call.files.chmod(target, before.mode, call.cwd)
    call.files.set_times(target, before.mtime, call.cwd)
    if "k" not in found:
        call.files.unlink(path, call.cwd)
