"""Set a damaged database aside, when the operator says so and never otherwise.

Not a repair. Invariant: nothing is deleted; blobs stay where they are, since they are named by what
they hold.
"""

from __future__ import annotations

import time
from pathlib import Path

from agent.errors import UsageError
from agent.store.failures import from_os_error
from agent.store.lock import DirectoryLock
from agent.store.search import SEARCH_NAME
from agent.store.sqlite import DATABASE_NAME


def quarantine(directory: Path) -> Path:
    """Move the database and its companions into a new directory beside them; return that.

    Raises:
        StoreError: another process owns the directory, or it cannot be written.
        UsageError: there is no database.
    """
    lock = DirectoryLock.take(directory)
    try:
        files = [
            path
            for name in (DATABASE_NAME, SEARCH_NAME)
            for ending in ("", "-wal", "-shm")
            if (path := directory / f"{name}{ending}").exists()
        ]
        if not files:
            raise UsageError(f"There is no database in {directory}.")
        aside = directory / f"quarantine-{time.strftime('%Y%m%dT%H%M%S')}-{time.time_ns() % 10**9}"
        try:
            aside.mkdir(mode=0o700)
            for path in files:
                path.rename(aside / path.name)
        except OSError as error:
            raise from_os_error(error, aside) from error
        return aside
    finally:
        lock.release()
