"""Open a data directory: its lock, two database connections, and the writer that owns it.

`SqliteStore` uses them. Invariants: a failed opening leaves no lock, thread or open file; an
unwritable directory is not written to.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from agent.errors import StoreError, StoreGoneError, UnwritableError
from agent.store.database.database import (
    Database,
    metadata_of,
    open_for_reading,
    open_for_writing,
    open_unwritable,
)
from agent.store.database.identity import (
    DATABASE_NAME,
    DatabaseMetadata,
    check_agrees,
    check_may_begin,
    mark_all,
)
from agent.store.database.lock import LOCK_NAME, DirectoryLock, make_directory
from agent.store.database.sqlite_errors import from_os_error
from agent.store.embedded.writer import Writer


@dataclass(frozen=True, slots=True)
class Opening:
    """What one opening of a data directory holds until it is closed."""

    lock: DirectoryLock
    writing: Database
    reading: Database  # The same as `writing` where nothing can be written.
    writer: Writer
    file: "OpenedFile"
    standing: DatabaseMetadata  # What the database said of itself when it was opened.

    async def give_up(self) -> None:
        """Close both connections and release the directory. Raises StoreError."""
        try:
            if self.reading is not self.writing:
                await self.reading.close()
        finally:
            try:
                # Last: closing the last connection folds the write-ahead log into the file.
                await self.writing.close()
            finally:
                self.lock.release()


@dataclass(frozen=True)
class OpenedFile:
    """The identity of the opened database file, to detect a replaced one."""

    path: Path
    device: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Record the current file. Raises StoreError."""
        try:
            found = path.stat()
        except OSError as error:
            raise from_os_error(error, path) from error
        return cls(path, found.st_dev, found.st_ino)

    def check(self) -> None:
        """Raise StoreGoneError if the file is gone, truncated to nothing or replaced."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            state = "was deleted"
        except OSError:
            return  # What cannot be looked at now is no proof of anything.
        else:
            if (found.st_dev, found.st_ino) != (self.device, self.inode):
                state = "was replaced by another file"
            elif found.st_size == 0:
                state = "was emptied"
            else:
                return
        raise StoreGoneError(
            f"{self.path} {state} while it was in use; further data would be lost.",
            "Restore it from a backup, then start again; see `switchboard store check`.",
        )


async def open_directory(directory: Path, *, clock_ms: Callable[[], int]) -> Opening:
    """Own a directory, creating it if it does not exist.

    Raises:
        StoreError: see `SqliteStore.open`.
        ConfigError: other users of the computer may write it.
    """
    make_directory(directory)
    lock = DirectoryLock.take(directory)
    opened: list[Database] = []
    try:
        path = directory / DATABASE_NAME
        check_may_begin(directory, path)
        writing, standing = await open_for_writing(
            path, now_ms=clock_ms(), check=partial(check_agrees, directory)
        )
        opened.append(writing)
        reading = await open_for_reading(path)
        opened.append(reading)
        writer = Writer(writing, epoch=standing.epoch, clock_ms=clock_ms)
        await writer.start()
        mark_all(directory, standing)
    except BaseException:
        for database in opened:
            with suppress(StoreError):
                await database.close()
        lock.release()
        raise
    return Opening(lock, writing, reading, writer, OpenedFile.of(path), standing)


async def open_as_it_is(
    directory: Path, error: UnwritableError, *, clock_ms: Callable[[], int]
) -> Opening:
    """Open an unwritable directory for reading; its writer refuses with the error.

    Raises:
        UnwritableError: the same error, if the stored data cannot be read either.
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
    writer = Writer(reading, epoch=0, clock_ms=clock_ms)
    standing = await metadata_of(reading)
    file = OpenedFile.of(directory / DATABASE_NAME)
    opening = Opening(lock, reading, reading, writer, file, standing)
    try:
        await opening.writer.start(refusal=error)
    except BaseException:
        await opening.give_up()
        raise
    return opening
