"""What the store keeps beside the log: sessions, questions and jobs."""

import stat

from agent.store.embedded.sqlite_store import SqliteStore
from tests.store.conftest import session_draft


async def test_what_the_store_writes_is_private(store: SqliteStore) -> None:
    await store.append(session_draft("s1"))
    await store.blobs.put(b"secret", "text/plain")
    for path in [store.directory, *store.directory.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
