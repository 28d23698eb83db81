"""A delegated app that nobody sees: a real core, a virtual phone, and a display of its own."""

import asyncio
import io
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from PIL import Image

from agent import protocol, records
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.models.pilot import Pilot
from agent.runtime.runtime import Runtime
from agent.settings import Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask

BOUND_S = 90.0
SETTINGS_APP = "com.android.settings"


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_a_hidden_target_does_its_work_on_a_display_of_its_own_and_the_main_one_stays(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        server = AdbServer(tmp_path / "adb")
        stack.push_async_callback(server.stop)
        phones = VirtualPhones(tmp_path / "phones", server, count=1)
        stack.push_async_callback(phones.stop)
        await phones.start()
        [serial] = phones.serials
        store = await stack.enter_async_context(SqliteStore.open(tmp_path / "data"))
        fleet = AdbFleet([server.address])
        core = await Runtime.spawn(
            Settings(data_dir=tmp_path / "data", config_file=tmp_path / "config.toml"),
            store=store,
            fleet=fleet,
            models=lambda session: Pilot(),
            task=RegularTask,
        )
        stack.push_async_callback(core.close)
        device, client = await fleet.device(serial), AdbClient(server.address)
        before = await device.foreground()
        target = protocol.Target(
            objective="turn on Bluetooth",
            serial=serial,
            package=SETTINGS_APP,
            presentation=records.TargetPresentation.DETACHED_HIDDEN,
        )
        reply = await core.request(
            protocol.SessionCreate(goal="Bluetooth, unseen", targets=(target,))
        )
        parent = await settled(core, reply.session_id)
        [child] = await store.children(parent.session_id)
        assert (parent.state, child.state) == (
            records.SessionState.COMPLETED,
            records.SessionState.COMPLETED,
        ), parent.latest_error or child.latest_error
        assert (child.presentation, child.target_runtime) == (
            records.TargetPresentation.DETACHED_HIDDEN,
            records.TargetRuntime.DETACHED_HIDDEN,
        )
        assert child.target_display > 0
        asked = "settings get global bluetooth_on"
        said = await client.shell(serial, asked, features=frozenset(), timeout_s=30.0)
        assert said.text.strip() == "1"
        assert await device.foreground() == before, "nobody saw it work"
        msgs = [event.msg for event in await store.session_events(child.session_id)]
        seen = [msg.observation for msg in msgs if isinstance(msg, protocol.ObservationRecorded)]
        assert {one.foreground.package for one in seen if one.foreground} == {SETTINGS_APP}
        assert sum(isinstance(msg, protocol.TaskComplete) for msg in msgs) == 1

        capture = protocol.TargetControl(
            session_id=child.session_id, action=records.TargetAction.CAPTURE
        )
        taken = (await core.request(capture)).target
        assert taken is not None and taken.status is records.TargetStatus.OK
        picture = Image.open(io.BytesIO(await store.blobs.read(taken.digest)))
        assert max(picture.size) <= 480
        attach = protocol.TargetControl(
            session_id=child.session_id, action=records.TargetAction.ATTACH
        )
        attached = (await core.request(attach)).target
        assert attached is not None and attached.runtime is records.TargetRuntime.ATTACHED
        assert (await device.foreground()).package == SETTINGS_APP


async def settled(core: Runtime, session_id: str) -> records.Session:
    async with asyncio.timeout(BOUND_S), core.events(after=0) as events:
        async for event in events:
            if event.session_id == session_id and isinstance(
                event.msg, protocol.SessionStateChanged
            ):
                session = await core.session(session_id)
                if session.state.is_terminal:
                    return session
    raise AssertionError("the core ended")
