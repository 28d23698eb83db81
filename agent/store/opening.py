"""Open a data directory: its lock, its database twice, and the writer that owns it.

Not the store, which is what works with them. Invariants: what could not be opened whole leaves no
lock, no thread and no open file; where nothing can be written, nothing is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.errors import StoreError, UnwritableError
from agent.store.database import Database, open_for_reading, open_for_writing, open_unwritable
from agent.store.failures import from_os_error
from agent.store.lock import LOCK_NAME, DirectoryLock
from agent.store.writer import Writer

DATABASE_NAME = "switchboard.db"


@dataclass(frozen=True, slots=True)
class Opening:
    """What one opening of a data directory holds until it is given up."""

    lock: DirectoryLock
    writing: Database
    reading: Database
    """The same as `writing` where nothing can be written."""
    writer: Writer

    async def give_up(self) -> None:
        """Close both connections and let the directory go. Raises StoreError."""
        try:
            if self.reading is not self.writing:
                await self.reading.close()
        finally:
            try:
                # Last: closing the last connection folds the write-ahead log into the file.
                await self.writing.close()
            finally:
                self.lock.release()


async def open_directory(directory: Path, *, clock_ms: Callable[[], int]) -> Opening:
    """Own a directory, making it when it is not there.

    Raises:
        StoreError: see `SqliteStore.open`.
    """
    _make(directory)
    lock = DirectoryLock.take(directory)
    opened: list[Database] = []
    try:
        path = directory / DATABASE_NAME
        writing, epoch = await open_for_writing(path, now_ms=clock_ms())
        opened.append(writing)
        reading = await open_for_reading(path)
        opened.append(reading)
        writer = Writer(writing, epoch=epoch, clock_ms=clock_ms)
        await writer.start()
    except BaseException:
        for database in opened:
            with suppress(StoreError):
                await database.close()
        lock.release()
        raise
    return Opening(lock, writing, reading, writer)


async def open_as_it_is(
    directory: Path, error: UnwritableError, *, clock_ms: Callable[[], int]
) -> Opening:
    """Open a directory that cannot be written, for reading; its writer refuses with the error.

    Raises:
        UnwritableError: the same, when what is stored cannot be read either.
        StoreError: another process owns the directory.
    """
    if not (directory / LOCK_NAME).exists():
        # Nothing was ever stored there, and nothing can be.
        raise error
    lock = DirectoryLock.share(directory)
    try:
        reading = await open_unwritable(directory / DATABASE_NAME)
    except StoreError as unreadable:
        lock.release()
        raise error from unreadable
    opening = Opening(lock, reading, reading, Writer(reading, epoch=0, clock_ms=clock_ms))
    try:
        await opening.writer.start(refusal=error)
    except BaseException:
        await opening.give_up()
        raise
    return opening


def _make(directory: Path) -> None:
    """Make the directory with mode 0700; one that is there keeps the mode it was given."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise from_os_error(error, directory) from error
