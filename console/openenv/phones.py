"""The phones of a served environment: a pool on an adb server of our own, or emulators.

Invariant: what is started here ends here, the adb server last.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.server import AdbServer
from agent.devices.pool.pool_setup import make_pool
from agent.settings import PoolSettings
from console.openenv.variables import VIRTUAL, Variables


class ServedPhones:
    """Some phones, from `__aenter__` to `__aexit__`.

    Args:
        count: how many.
        folder: where they live.
        variables: which they are.
        adb_setting: the adb program of the settings.
        server: the operator's adb server, which emulators hang on.
    """

    def __init__(
        self,
        count: int,
        folder: Path,
        variables: Variables,
        *,
        adb_setting: str,
        server: ServerAddress,
    ) -> None:
        self._own = AdbServer(folder / "adb", adb_setting=variables.adb_path or adb_setting)
        self._is_virtual = variables.avd_name == VIRTUAL
        wanted = (
            PoolSettings(virtual=count)
            if self._is_virtual
            else PoolSettings(avds=(variables.avd_name,) * count)
        )
        self.pool = make_pool(wanted, folder, own=self._own, server=server)

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
        """End them."""
        try:
            await self.pool.close_async()
        finally:
            await self._own.stop()
