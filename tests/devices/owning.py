"""The owner of a data directory as the console makes it: its store, its fleet and its core."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from agent.devices.fleet.fleet import AdbFleet
from agent.models.pilot import Pilot
from agent.runtime.runtime import Runtime
from agent.settings import AdbSettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from console.core.device_setup import CONNECTED, Phones, make_fleet


@asynccontextmanager
async def owned_core(directory: Path, server: str) -> AsyncIterator[AdbFleet]:
    """Run a core on the phones of one adb server, and give its fleet."""
    settings = Settings(
        data_dir=directory, config_file=directory / "config.toml", adb=AdbSettings(server=(server,))
    )
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(directory))
        fleet = await make_fleet(settings, CONNECTED, Phones(settings), is_owner=True)
        assert isinstance(fleet, AdbFleet)
        core = await Runtime.spawn(
            settings, store=store, fleet=fleet, models=lambda session: Pilot(), task=RegularTask
        )
        stack.push_async_callback(core.close)
        yield fleet
