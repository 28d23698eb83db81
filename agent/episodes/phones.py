"""The phones of episodes over adb: a pool; virtual phones get an adb server of their own.

Invariant: what is started here ends here, the adb server last.
"""

from pathlib import Path
from types import TracebackType
from typing import Self

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.server import AdbServer
from agent.devices.pool.allocation import PoolStats
from agent.devices.pool.pool_setup import make_pool
from agent.episodes.adb_phones import PooledPhones
from agent.settings import PoolSettings

_OPERATORS = ServerAddress()


class EpisodePhones:
    """Some phones, from `__aenter__` to `__aexit__`.

    Args:
        wanted: which.
        folder: where virtual ones live; nobody else's.
        adb: the adb program; empty: the one that is found.
        server: the operator's adb server, which emulators and real phones hang on.
    """

    def __init__(
        self,
        wanted: PoolSettings,
        folder: Path,
        *,
        adb: str = "",
        server: ServerAddress = _OPERATORS,
    ) -> None:
        self._own = AdbServer(folder / "adb", adb_setting=adb)
        self._is_virtual = wanted.virtual > 0
        self.pool = make_pool(wanted, folder, own=self._own, server=server)
        self.source = PooledPhones(self.pool)
        """Where episodes get these phones."""

    def stats(self) -> PoolStats:
        """Return how many phones are free, and how many are taken."""
        return self.pool.stats()

    async def __aenter__(self) -> Self:
        """Start them. Raises AdbError, DeviceError."""
        if self._is_virtual:
            await self._own.start()
        try:
            await self.pool.open_async()
        except BaseException:
            await self._own.stop()
            raise
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        try:
            await self.pool.close_async()
        finally:
            await self._own.stop()
