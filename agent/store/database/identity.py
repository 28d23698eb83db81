"""Check that the parts of a data directory belong to one store: database, blobs, audit.

A mark beside each part names the store; the one beside the database also records its newest event.
Invariants: a missing database is never taken for a new one while other parts exist; nothing starts
over another store's parts, or over a database older than its mark, without the operator's command;
stores from before there were marks get them automatically.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from secrets import token_hex

import msgspec

from agent.errors import StoreError, StoreGoneError
from agent.store.database.sqlite_errors import from_os_error
from agent.text import counted

DATABASE_NAME = "switchboard.db"
MARK_NAME = "store.json"
SEARCH_NAME = "search.db"
_RESET = "Restore it from a backup, or start with an empty store: switchboard store reset"
_ADOPT = "Restore what belongs together from a backup, or take it as it is: switchboard store adopt"


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """The mark beside a part of a store."""

    store: str = ""  # The identity; empty: the next start may make an empty store.
    epoch: int = 0
    events: int = 0  # The newest event that the database is known to have had.
    is_fleet: bool = False  # Whether the store is in a fleet's database.


class DatabaseMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """A database's metadata."""

    store: str
    epoch: int
    events: int
    is_fleet: bool = False


def new_identity() -> str:
    return token_hex(8)


def parts_of(directory: Path) -> dict[str, Path]:
    """Return the directories of a store's parts, by name."""
    return {"database": directory, "blobs": directory / "blobs", "audit": directory / "audit"}


def check_has_no_database(directory: Path) -> None:
    """Refuse a data directory with a store of its own where the settings name a fleet's database.

    Raises StoreError.
    """
    if (directory / DATABASE_NAME).exists():
        raise StoreError(
            f"{directory} has a store of its own, but --fleet or store.dsn names a database: "
            "only one of the two can be used.",
            "To work on the directory's store, leave out --fleet and unset store.dsn; to work on "
            "the database, name another directory (--data-dir), or copy the store into it, if it "
            "is empty: switchboard daemon stop --force, then switchboard store migrate",
        )


def read_mark(part: Path) -> Mark | None:
    """Read the mark beside a part; None if there is no readable one."""
    try:
        return msgspec.json.decode((part / MARK_NAME).read_bytes(), type=Mark)
    except (OSError, msgspec.MsgspecError):
        return None


def write_mark(part: Path, mark: Mark) -> None:
    """Write the mark beside a part, durably; nothing if the part does not exist.

    Raises StoreError.
    """
    path = part / MARK_NAME
    new = path.with_suffix(".new")
    try:
        if not part.is_dir():
            return
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(mark))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise from_os_error(error, path) from error


def check_may_begin(directory: Path, database: Path) -> None:
    """Refuse to create a new database beside another one's remains.

    Raises StoreGoneError: the database is missing or empty, and other parts of it exist.
    """
    # A log that is left without its database says nothing of it: SQLite deletes such a one.
    if _size(database):
        return
    mark = read_mark(directory)
    if mark is not None and mark.is_fleet:
        raise StoreGoneError(
            f"{directory} belongs to store {mark.store} in a fleet's database. "
            "Nothing was changed.",
            "Name the database by --fleet or store.dsn, or choose another data directory "
            "(--data-dir).",
        )
    if mark is not None and not mark.store:
        return
    left = remains(directory)
    if left:
        state = "is empty" if database.exists() else "is gone"
        raise StoreGoneError(
            f"{database} {state}, and what belongs to it is still there: {', '.join(left)}. "
            "Nothing was changed.",
            _RESET,
        )


def remains(directory: Path) -> tuple[str, ...]:
    """List what a store has left in a directory beside its database."""
    blobs, audit = directory / "blobs", directory / "audit"
    found = {
        "a write-ahead log": bool(_size(directory / f"{DATABASE_NAME}-wal")),
        "blobs": any(path.is_file() for path in blobs.glob("??/*")),
        "an audit": any(audit.glob("audit-*.jsonl")),
        "a search index": bool(_size(directory / SEARCH_NAME)),
    }
    left = [name for name, is_there in found.items() if is_there]
    mark = read_mark(directory)
    if mark is not None and mark.store and mark.events:
        left.append(f"the mark of a store with {counted(mark.events, 'event')}")
    elif not left and any(m and m.store for m in map(read_mark, parts_of(directory).values())):
        left.append("the mark of a store")
    return tuple(left)


def disagreements(directory: Path, standing: DatabaseMetadata) -> tuple[str, ...]:
    """Describe which parts do not belong to the database, or are newer than it."""
    wrong: list[str] = []
    own = read_mark(directory)
    may_be_none = own is not None and not own.store
    for name, part in parts_of(directory).items():
        mark = read_mark(part)
        if mark is None or not mark.store or (may_be_none and not standing.store):
            continue
        if mark.store != standing.store:
            what = "The mark beside the database" if name == "database" else f"The {name} directory"
            named = standing.store or "a database without a name"
            wrong.append(f"{what} belongs to another store ({mark.store}, not {named}).")
        elif name == "database":
            reached = max(mark.events, indexed_until(directory))
            if reached > standing.events or mark.epoch > standing.epoch:
                wrong.append(
                    f"The database ends at event {standing.events}, and had {reached}: it is an "
                    "older copy, or its newest part (the -wal file) was removed."
                )
    return tuple(wrong)


def indexed_until(directory: Path) -> int:
    """Return the last event in the search index; 0 if it cannot be read."""
    path = directory / SEARCH_NAME
    if not _size(path):
        return 0
    # What was closed in order is read without a file being made beside it.
    how = "mode=ro" if _size(path.with_name(f"{path.name}-wal")) else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as index:
            [(event_id,)] = index.execute("SELECT event_id FROM mark").fetchall()
    except (sqlite3.Error, ValueError):
        return 0
    return event_id if isinstance(event_id, int) else 0


def check_agrees(directory: Path, standing: DatabaseMetadata) -> None:
    """Refuse a database that does not match its marks. Raises StoreGoneError."""
    wrong = disagreements(directory, standing)
    if wrong:
        raise StoreGoneError(f"{' '.join(wrong)} Nothing was changed.", _ADOPT)


def mark_all(directory: Path, standing: DatabaseMetadata) -> None:
    """Write the store's mark beside every part. Raises StoreError."""
    for name, part in parts_of(directory).items():
        mark = Mark(store=standing.store)
        if name == "database":
            mark = Mark(
                store=standing.store,
                epoch=standing.epoch,
                events=standing.events,
                is_fleet=standing.is_fleet,
            )
        before = read_mark(part)
        if before != mark:
            write_mark(part, mark)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
