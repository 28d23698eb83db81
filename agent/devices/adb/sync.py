"""Files over adb's sync service: push, pull and stat.

Not a file manager. Invariants: a push is complete or an error; a pull never gives part of a file.
The packets are those of AOSP `file_sync_protocol.h`, version 1, which every Android speaks: four
letters, a little-endian length, data of at most 64 KiB.
"""

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from agent.devices.adb.client import AdbClient
from agent.devices.adb.stream import OUTPUT_LIMIT_BYTES, AdbStream
from agent.errors import DeviceError

CHUNK_BYTES = 64 * 1024
REGULAR_FILE = 0o100000
_PATH_LIMIT_BYTES = 1024


@dataclass(frozen=True, slots=True)
class RemoteStat:
    """What a phone says of one path; mode 0 means that there is nothing."""

    mode: int
    size_bytes: int
    modified_s: int

    @property
    def exists(self) -> bool:
        """Whether there is anything at the path."""
        return self.mode != 0


async def push(
    client: AdbClient,
    serial: str,
    data: bytes,
    path: str,
    *,
    permissions: int = 0o644,
    timeout_s: float = 60.0,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write a file on the phone. Raises DeviceError with the phone's reason when it refuses.

    `progress` is told how many bytes were sent so far.
    """
    async with client.open(serial, "sync:", timeout_s=timeout_s) as stream:
        target = b"%s,%d" % (_checked(path), REGULAR_FILE | permissions)
        stream.writer.write(_packet(b"SEND", target))
        view = memoryview(data)
        for start in range(0, len(view), CHUNK_BYTES):
            chunk = view[start : start + CHUNK_BYTES]
            stream.writer.write(struct.pack("<4sI", b"DATA", len(chunk)))
            stream.writer.write(chunk)
            await stream.writer.drain()
            if progress is not None:
                progress(start + len(chunk))
        stream.writer.write(struct.pack("<4sI", b"DONE", int(time.time())))
        await stream.writer.drain()
        letters, length = await _head(stream)
        if letters != b"OKAY":
            raise await _failure(stream, letters, length, f"{serial} did not take {path}")
        stream.writer.write(_packet(b"QUIT", b""))
        await stream.writer.drain()


async def pull(
    client: AdbClient,
    serial: str,
    path: str,
    *,
    timeout_s: float = 60.0,
    limit: int = OUTPUT_LIMIT_BYTES,
    progress: Callable[[int], None] | None = None,
) -> bytes:
    """Read a file of the phone. Raises DeviceError when there is none or it is too large.

    `progress` is told how many bytes came so far.
    """
    async with client.open(serial, "sync:", timeout_s=timeout_s) as stream:
        stream.writer.write(_packet(b"RECV", _checked(path)))
        await stream.writer.drain()
        kept = bytearray()
        while True:
            letters, length = await _head(stream)
            if letters == b"DONE":
                return bytes(kept)
            if letters != b"DATA":
                raise await _failure(stream, letters, length, f"{serial} did not give {path}")
            if len(kept) + length > limit:
                raise stream.too_much(limit)
            kept += await stream.exactly(length)
            if progress is not None:
                progress(len(kept))


async def stat(client: AdbClient, serial: str, path: str, *, timeout_s: float = 5.0) -> RemoteStat:
    """Return what is at a path of the phone; sizes are modulo 2³², as version 1 sends them."""
    async with client.open(serial, "sync:", timeout_s=timeout_s) as stream:
        stream.writer.write(_packet(b"STAT", _checked(path)))
        await stream.writer.drain()
        letters, mode, size, modified = struct.unpack("<4sIII", await stream.exactly(16))
        if letters != b"STAT":
            raise DeviceError(f"{serial} answered stat with {letters!r}.", "Restart the phone.")
        return RemoteStat(mode, size, modified)


def _packet(letters: bytes, data: bytes) -> bytes:
    return struct.pack("<4sI", letters, len(data)) + data


def _checked(path: str) -> bytes:
    encoded = path.encode("utf-8", "surrogateescape")
    if not path.startswith("/") or b"\0" in encoded or len(encoded) > _PATH_LIMIT_BYTES:
        raise DeviceError(
            f"{path!r} is not a path on a phone.", "Give an absolute path of at most 1024 bytes."
        )
    return encoded


async def _head(stream: AdbStream) -> tuple[bytes, int]:
    letters, length = struct.unpack("<4sI", await stream.exactly(8))
    return letters, length


async def _failure(stream: AdbStream, letters: bytes, length: int, what: str) -> DeviceError:
    if letters != b"FAIL":
        return DeviceError(f"{what}: it answered {letters!r}.", "Restart the phone.")
    reason = await stream.exactly(min(length, CHUNK_BYTES))
    return DeviceError(
        f"{what}: {reason.decode('utf-8', 'replace')}.",
        "Check the path and the space on the phone.",
    )
