"""A house for exercises: virtual phones, their adb server and a core, in one process.

Everything is the real thing, as `switchboard run` builds it; the phones are in this process so that
a starting state can be written into them and the true state read. Invariant: what is started here
ends with it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.scrcpy.link import ScrcpySettings
from agent.mcp.servers import McpServers
from agent.models.choice import model_for
from agent.models.model import Model
from agent.models.reviewers.reviewer_choice import reviewing_for
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifier_choice import verifying_for
from agent.records import DeviceState, Session
from agent.runtime.runtime import Runtime
from agent.settings import Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from virtual_phone.server.serve import PhoneHost

ONLINE_BOUND_S = 30.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class House:
    """What stands while the exercises run."""

    core: Runtime
    host: PhoneHost
    serials: tuple[str, ...]


@asynccontextmanager
async def house(
    folder: Path,
    settings: Settings,
    *,
    phones: int,
    profile: str | None = None,
    models: Callable[[Session], Model] | None = None,
    reviewers: Callable[[Model, Session], Reviewing] | None = None,
) -> AsyncIterator[House]:
    """Build it.

    Args:
        folder: empty or made by an earlier run; everything is kept below it.
        settings: the settings in force; their data directory is the core's.
        phones: how many virtual phones.
        profile: what kind; what they were by default.
        models: makes a session's model; as the settings say by default.
        reviewers: says who reads acts; as the settings say by default.
    """
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(
            PhoneHost(folder / "phones", count=phones, profile=profile)
        )
        server = AdbServer(folder / "adb", adb_setting=settings.adb.path)
        stack.push_async_callback(server.stop)
        address = await server.start()
        client = AdbClient(address)
        for serial in host.serials:
            await client.connect(serial)
        store = await stack.enter_async_context(SqliteStore.open(settings.data_dir))
        core = await Runtime.spawn(
            settings,
            store=store,
            fleet=AdbFleet([address], scrcpy=ScrcpySettings(control=settings.scrcpy.control)),
            models=models or (lambda session: model_for(session, settings)),
            verifiers=lambda model, session: verifying_for(model, settings, session),
            reviewers=reviewers or (lambda model, session: reviewing_for(model, settings, session)),
            task=lambda: RegularTask(
                without=frozenset(settings.loop.without),
                servers=McpServers(settings.mcp.servers, settings.data_dir),
            ),
            wake_jobs=False,
        )
        stack.push_async_callback(core.close)
        await _all_online(core, host.serials)
        yield House(core, host, tuple(host.serials))


async def _all_online(core: Runtime, serials: list[str]) -> None:
    async with asyncio.timeout(ONLINE_BOUND_S):
        while True:
            devices = (await core.overview()).devices
            online = {d.serial for d in devices if d.state is DeviceState.ONLINE}
            if online.issuperset(serials):
                return
            await asyncio.sleep(_LOOK_S)
