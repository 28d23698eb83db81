"""The `sync:` service: push, pull, list and stat, in both versions.

Not a file system: `userland.files` decides what a path is and what may be done. Invariant: a
failed push leaves no half file under its name for longer than the transfer, and what a peer sends
after an error is read and dropped up to DONE, as adbd does, so the stream stays usable.

Formats: packages/modules/adb, SYNC.TXT and file_sync_protocol.h (ids of four letters, u32/u64 LE).
"""

import asyncio
import contextlib
import errno
import os
import stat as modes
import struct
from typing import BinaryIO

from virtual_phone.adbd.compression import CompressionError, Deflater, SyncFlag, deflater, inflater
from virtual_phone.adbd.stream import Stream
from virtual_phone.shell.call import decode, encode
from virtual_phone.userland.file_stat import FileStat
from virtual_phone.userland.userland import Userland

MAX_PATH_BYTES = 1024
MAX_DATA_BYTES = 64 * 1024
_REQUEST = struct.Struct("<4sI")
_STAT_V1 = struct.Struct("<4sIII")
_STAT_V2 = struct.Struct("<4sIQQIIIIQqqq")
_DENT_V1 = struct.Struct("<4sIIII")
_DENT_V2 = struct.Struct("<4sIQQIIIIQqqqI")


class SyncService:
    """One `sync:` stream."""

    def __init__(self, userland: Userland, stream: Stream) -> None:
        self._files = userland.files
        self._stream = stream
        self._out = bytearray()

    async def serve(self) -> None:
        """Answer requests until QUIT or the end of the stream."""
        self._stream.accept()
        while True:
            try:
                kind, length = _REQUEST.unpack(await self._stream.read_exactly(_REQUEST.size))
            except EOFError:
                return
            if kind == b"QUIT":
                return
            if length > MAX_PATH_BYTES:
                await self._fail("path too long")
                return
            path = decode(await self._stream.read_exactly(length))
            if not await self._answer(kind, path):
                return

    async def _answer(self, kind: bytes, path: str) -> bool:
        """Answer one request; False when the stream cannot go on."""
        match kind:
            case b"STAT":
                await self._stat_v1(path)
            case b"STA2" | b"LST2":
                await self._stat_v2(kind, path)
            case b"LIST" | b"LIS2":
                await self._list(path, version=2 if kind == b"LIS2" else 1)
            case b"SEND":
                name, _, mode = path.rpartition(",")
                if not name:
                    name, mode = path, ""
                await self._receive(name, _number(mode), 0)
            case b"SND2":
                _, mode, flags = struct.unpack("<4sII", await self._stream.read_exactly(12))
                return await self._receive_as_asked(path, mode, flags)
            case b"RECV":
                await self._send(path, deflater(0))
            case b"RCV2":
                _, flags = struct.unpack("<4sI", await self._stream.read_exactly(8))
                return await self._send_as_asked(path, flags)
            case _:
                await self._fail(f"unknown command {kind!r}")
                return False
        return True

    async def _fail(self, message: str) -> None:
        text = encode(message)
        await self._stream.write(_REQUEST.pack(b"FAIL", len(text)) + text)

    # --- stat and list ---

    async def _stat_v1(self, path: str) -> None:
        try:
            found = self._files.stat(path, follow=False)
        except OSError:
            await self._stream.write(_STAT_V1.pack(b"STAT", 0, 0, 0))
            return
        await self._stream.write(
            _STAT_V1.pack(b"STAT", found.mode, _u32(found.size), _u32(int(found.mtime)))
        )

    async def _stat_v2(self, kind: bytes, path: str) -> None:
        try:
            found = self._files.stat(path, follow=kind == b"STA2")
        except OSError as error:
            answer = _STAT_V2.pack(kind, _wire_errno(error), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        else:
            answer = _STAT_V2.pack(kind, 0, *_v2_fields(found))
        await self._stream.write(answer)

    async def _list(self, path: str, *, version: int) -> None:
        out = bytearray()
        names: list[str] = []
        with contextlib.suppress(OSError):
            names = [".", "..", *self._files.listdir(path)]
        for name in names:
            try:
                found = self._files.stat(f"{path.rstrip('/')}/{name}", follow=False)
            except OSError:
                continue
            raw = encode(name)
            if version == 2:
                out += _DENT_V2.pack(b"DNT2", 0, *_v2_fields(found), len(raw)) + raw
            else:
                out += _DENT_V1.pack(
                    b"DENT", found.mode, _u32(found.size), _u32(int(found.mtime)), len(raw)
                )
                out += raw
        if version == 2:
            out += _DENT_V2.pack(b"DONE", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        else:
            out += _DENT_V1.pack(b"DONE", 0, 0, 0, 0)
        await self._stream.write(bytes(out))

    # --- pull ---

    async def _send_as_asked(self, path: str, flags: int) -> bool:
        try:
            packing = deflater(flags)
        except CompressionError as error:
            await self._fail(error.message)
            return False
        await self._send(path, packing)
        return True

    async def _send(self, path: str, packing: Deflater) -> None:
        try:
            found = self._files.stat(path)
            if not found.is_file and not found.is_dir:
                raise OSError(errno.EINVAL, "not a regular file", path)
            file = self._files.open_read(path)
        except OSError as error:
            await self._fail(f"open failed: {error.strerror}")
            return
        with file:
            while chunk := file.read(MAX_DATA_BYTES * 8):
                await self._stream.write(_data_messages(packing.pack(chunk)))
        await self._stream.write(_data_messages(packing.finish()) + _REQUEST.pack(b"DONE", 0))

    # --- push ---

    async def _receive_as_asked(self, path: str, mode: int, flags: int) -> bool:
        try:
            await self._receive(path, mode, flags)
        except CompressionError as error:
            await self._fail(error.message)
            return False
        return True

    async def _receive(self, path: str, mode: int, flags: int) -> None:
        """Take a file; raise CompressionError, with no file left, when it cannot be unpacked."""
        if modes.S_ISLNK(mode):
            await self._receive_link(path)
            return
        unpacking = inflater(flags)
        dry_run = bool(flags & SyncFlag.DRY_RUN)
        failure: OSError | None = None
        file: BinaryIO | None = None
        if not dry_run:
            try:
                file = self._create(path, mode)
            except OSError as error:
                failure = error
        try:
            while True:
                kind, length = _REQUEST.unpack(await self._stream.read_exactly(_REQUEST.size))
                if kind == b"DONE":
                    break
                if kind != b"DATA" or length > MAX_DATA_BYTES:
                    await self._fail("oversize data message" if kind == b"DATA" else "invalid data")
                    raise EOFError("the peer broke the sync protocol")
                data = await self._stream.read_exactly(length)
                if file is None or failure is not None:
                    continue
                try:
                    for piece in unpacking.pieces(data):
                        self._files.check_room(len(piece))
                        _write_all(file, piece)
                        await asyncio.sleep(0)
                except OSError as error:
                    failure = error
                    self._drop(path)
            if file is not None and failure is None and not unpacking.finished:
                raise CompressionError("decompress failed")
        except CompressionError:
            self._drop(path)
            raise
        finally:
            if file is not None:
                file.close()
        if failure is None and not dry_run:
            try:
                self._files.set_times(path, float(length))
                self._files.chmod(path, mode & 0o777)
            except OSError as error:
                failure = error
        if failure is not None:
            action = "couldn't create file" if file is None else "write failed"
            await self._fail(f"{action}: {failure.strerror}")
        else:
            await self._stream.write(_REQUEST.pack(b"OKAY", 0))

    def _create(self, path: str, mode: int) -> BinaryIO:
        parent = path.rstrip("/").rpartition("/")[0] or "/"
        if not self._files.exists(parent):
            self._make_directories(parent)
        with contextlib.suppress(OSError):
            if self._files.stat(path, follow=False).is_link:
                self._files.unlink(path)
        return self._files.open_write(path, mode=(mode & 0o777) | 0o200)

    def _make_directories(self, path: str) -> None:
        at = ""
        for part in path.strip("/").split("/"):
            at += "/" + part
            if not self._files.exists(at):
                self._files.mkdir(at, mode=0o771)

    def _drop(self, path: str) -> None:
        with contextlib.suppress(OSError):
            self._files.unlink(path)

    async def _receive_link(self, path: str) -> None:
        target = bytearray()
        while True:
            kind, length = _REQUEST.unpack(await self._stream.read_exactly(_REQUEST.size))
            if kind == b"DONE":
                break
            if kind != b"DATA" or len(target) + length > os.pathconf("/", "PC_PATH_MAX"):
                await self._fail("invalid data")
                raise EOFError("the peer broke the sync protocol")
            target += await self._stream.read_exactly(length)
        try:
            parent = path.rpartition("/")[0] or "/"
            if not self._files.exists(parent):
                self._make_directories(parent)
            self._drop(path)
            self._files.symlink(decode(bytes(target).rstrip(b"\0")), path)
        except OSError as error:
            await self._fail(f"couldn't create symlink: {error.strerror}")
            return
        with contextlib.suppress(OSError):
            self._files.set_times(path, float(length), follow=False)
        await self._stream.write(_REQUEST.pack(b"OKAY", 0))


def _data_messages(data: bytes) -> bytes:
    view = memoryview(data)
    out = bytearray()
    for start in range(0, len(data), MAX_DATA_BYTES):
        piece = view[start : start + MAX_DATA_BYTES]
        out += _REQUEST.pack(b"DATA", len(piece))
        out += piece
    return bytes(out)


def _write_all(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _number(text: str) -> int:
    """Return the mode of an old SEND request: decimal, 0644 for a plain file when missing."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0o100644


def _u32(value: int) -> int:
    return min(max(value, 0), 0xFFFFFFFF)


def _wire_errno(error: OSError) -> int:
    """Return the errno; the numbers that ADB names are Linux's."""
    return error.errno or errno.EIO


def _v2_fields(found: FileStat) -> tuple[int, ...]:
    return (
        found.device,
        found.inode & 0xFFFFFFFFFFFFFFFF,
        found.mode,
        found.links,
        found.uid,
        found.gid,
        max(found.size, 0),
        int(found.atime),
        int(found.mtime),
        int(found.ctime),
    )
