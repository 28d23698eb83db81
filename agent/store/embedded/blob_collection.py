"""Put, read and collect blobs with their rows, while other tasks put more.

Files are in `agent.store.embedded.blobs`, references in `agent.store.changes.blob_refs`.
Invariants: a row never exists without its file; a blob put since the store was opened is not
dropped before an event could name it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from agent.protocol import Event
from agent.store.changes.blob_refs import digests_of
from agent.store.changes.write_requests import ForgetBlobs, RecordBlob, Request, Result
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.rwlock import Gate
from agent.store.queries.reader import Reader
from agent.store.store import Collected

_COLLECTED_AT_ONCE = 64  # How many blobs are dropped before those who store some get their turn.
_REMEMBERED = 1024


class Blobs:
    """The blobs of one open store."""

    def __init__(
        self,
        files: BlobFiles,
        reader: Reader,
        write: Callable[[Request], Awaitable[Result]],
        write_soon: Callable[[Request], None],
    ) -> None:
        self._files = files
        self._reader = reader
        self._write = write
        self._write_soon = write_soon
        self._gate = Gate()
        self._unnamed: set[str] = set()
        """Put by this opening, and named by no event yet."""
        self._recorded: dict[str, str] = {}
        """The media types of blobs that have a row, or get it with the next commit; newest last."""

    def prepare(self) -> None:
        """Create the directories, and remove a crash's partial files. Raises StoreError."""
        self._files.prepare()

    def on_commit(self, events: tuple[Event, ...]) -> None:
        """Record which blobs have been named."""
        if self._unnamed:
            for event in events:
                self._unnamed.difference_update(digests_of(event.msg))

    async def put(self, data: bytes, media_type: str) -> str:
        """Store bytes durably; returns their digest. Raises StoreError."""
        async with self._gate.shared():
            digest = await asyncio.to_thread(self._files.put, data)
            self._unnamed.add(digest)
            if digest not in self._recorded:
                # Before an event names it, nobody can ask for its row: no commit for that alone.
                self._write_soon(RecordBlob(digest, media_type, len(data)))
                self._recorded[digest] = media_type
                for oldest in list(self._recorded)[: len(self._recorded) - _REMEMBERED]:
                    del self._recorded[oldest]
        return digest

    async def read(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError, UsageError."""
        return await asyncio.to_thread(self._files.get, digest)

    async def sessions_of(self, digest: str) -> tuple[str, ...]:
        """List the ids of sessions whose events name a blob. Raises StoreError."""
        return await self._reader.blob_sessions(digest)

    async def size_bytes(self) -> int:
        """Return the size of all blobs in bytes. Raises StoreError."""
        return await self._reader.blob_bytes()

    async def collect(self) -> Collected:
        """Drop the blobs that no event names. Raises StoreError.

        The row goes before the file: a crash between the two leaves an unknown file, which `sweep`
        drops, and never a row without its file.
        """
        # What waits for the next commit is a row from here on.
        await self._write(ForgetBlobs(()))
        dropped = size_bytes = 0
        last = ""
        while page := await self._reader.unnamed_blobs(after=last, limit=_COLLECTED_AT_ONCE):
            last = page[-1][0]
            async with self._gate.exclusive():
                sizes = {d: size for d, size in page if d not in self._unnamed}
                await self._write(ForgetBlobs(tuple(sizes)))
                gone = [d for d in sizes if not await self._reader.blob_type(d)]
                for digest in gone:
                    self._recorded.pop(digest, None)
                await asyncio.to_thread(self._files.drop, gone)
            dropped += len(gone)
            size_bytes += sum(sizes[d] for d in gone)
        return Collected(blobs=dropped, size_bytes=size_bytes)

    async def sweep(self) -> int:
        """Drop the files without a row; returns how many. Raises StoreError."""
        swept = 0
        for digest in await asyncio.to_thread(lambda: sorted(self._files.digests())):
            async with self._gate.exclusive():
                if digest not in self._unnamed and not await self._reader.blob_type(digest):
                    await asyncio.to_thread(self._files.drop, (digest,))
                    swept += 1
        return swept
