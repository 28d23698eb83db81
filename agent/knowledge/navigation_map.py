"""Keep which presses are known to do no more than open another page, by app and version.

A file of its own beside the store: it can be thrown away, and then presses are read again. No
session, phone or word of a screen is in it. Invariants: a press is known after it navigated in
`PROOFS` turns and never had an effect; one effect in a version of an app ends that for good;
another version of the app begins with nothing.
"""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from agent.safety.navigation.known_presses import KnownPresses
from agent.safety.navigation.press_key import Navigated, PressKey

FILE = "navigation.sqlite3"
PROOFS = 3
_KEPT_MS = 180 * 86_400_000
"""How long a press is kept that nobody makes."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS press (
    package TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    turns INTEGER NOT NULL,
    has_effect INTEGER NOT NULL CHECK (has_effect IN (0, 1)),
    seen_ms INTEGER NOT NULL,
    PRIMARY KEY (package, version, digest)
) STRICT, WITHOUT ROWID
"""
_ADD = """
INSERT INTO press VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO UPDATE SET
    turns = turns + ?4, has_effect = max(has_effect, ?5), seen_ms = max(seen_ms, ?6)
"""
_log = logging.getLogger(__name__)


class AppPresses(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one version of an app."""

    package: str
    version: int
    known: int
    """Presses that are not read any more."""
    learning: int
    """Presses that navigated, in fewer turns than it takes."""
    with_effect: int
    """Presses that had an effect once, and are always read."""


class NavigationMap:
    """The file; it is made when something is learned. A file that cannot be read knows nothing."""

    def __init__(self, directory: Path, clock_ms: Callable[[], int]) -> None:
        self._path = directory / FILE
        self._clock_ms = clock_ms

    async def known(self, versions: Mapping[str, int]) -> KnownPresses:
        """Return what is known of the apps of a phone.

        Args:
            versions: the version code of each of its apps.
        """
        return await asyncio.to_thread(self._known, versions)

    async def learn(self, found: Iterable[Navigated]) -> None:
        """Take in what the presses of one turn came to; the same press counts once."""
        once: dict[PressKey, bool] = {}
        for one in found:
            once[one.key] = once.get(one.key, True) and one.only
        if once:
            await asyncio.to_thread(self._learn, once)

    async def apps(self) -> tuple[AppPresses, ...]:
        """List what is known, by app and version."""
        return await asyncio.to_thread(self._apps)

    async def forget(self, package: str = "") -> int:
        """Forget what is known of an app, or of all; returns how many presses that were."""
        return await asyncio.to_thread(self._forget, package)

    def _known(self, versions: Mapping[str, int]) -> KnownPresses:
        asked = "SELECT package, version, digest FROM press WHERE turns >= ? AND has_effect = 0"
        rows = self._read(asked, PROOFS)
        keys = frozenset(
            PressKey(package=package, version=version, digest=digest)
            for package, version, digest in rows
            if versions.get(package) == version
        )
        return KnownPresses(versions=versions, keys=keys)

    def _learn(self, once: Mapping[PressKey, bool]) -> None:
        now = self._clock_ms()
        try:
            with self._open() as file:
                file.execute(_SCHEMA)
                file.executemany(
                    _ADD,
                    [
                        (key.package, key.version, key.digest, int(only), int(not only), now)
                        for key, only in once.items()
                    ],
                )
                file.execute("DELETE FROM press WHERE seen_ms < ?", (now - _KEPT_MS,))
        except (OSError, sqlite3.Error) as error:
            _log.warning("Nothing is learned of presses: %s cannot be written: %s", FILE, error)

    def _apps(self) -> tuple[AppPresses, ...]:
        asked = """
            SELECT package, version, sum(turns >= ? AND has_effect = 0),
                sum(turns < ? AND has_effect = 0), sum(has_effect)
            FROM press GROUP BY package, version ORDER BY package, version
        """
        return tuple(
            AppPresses(
                package=package,
                version=version,
                known=known,
                learning=learning,
                with_effect=with_effect,
            )
            for package, version, known, learning, with_effect in self._read(asked, PROOFS, PROOFS)
        )

    def _forget(self, package: str) -> int:
        if not self._path.exists():
            return 0
        where = "WHERE package = ?" if package else "WHERE ? = ''"
        with self._open() as file:
            file.execute(_SCHEMA)
            return file.execute(f"DELETE FROM press {where}", (package,)).rowcount

    def _read(self, asked: str, *values: object) -> list[tuple[Any, ...]]:
        if not self._path.exists():
            return []
        try:
            with self._open() as file:
                file.execute(_SCHEMA)
                return file.execute(asked, values).fetchall()
        except (OSError, sqlite3.Error) as error:
            _log.warning("No press is known: %s cannot be read: %s", FILE, error)
            return []

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction. Raises OSError, sqlite3.Error."""
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(self._path, timeout=5.0)) as file, file:
            yield file
