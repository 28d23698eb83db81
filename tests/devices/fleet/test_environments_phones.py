"""Phones of an environment beside a console: looked at there, driven here, and never both."""

from pathlib import Path

import pytest

from agent.config import load_settings
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.entries import RealEntry
from agent.devices.pool.pool import PhonePool
from agent.devices.pool.pool_setup import ENVIRONMENT
from agent.episodes.adb_phones import PooledPhones
from agent.episodes.episode import Episode
from agent.episodes.phones import EpisodePhones
from agent.errors import DeviceError, DeviceLostError
from agent.exercises.suite import EXERCISES
from agent.records import Point
from agent.settings import PoolSettings
from console.core.device_setup import EVERYTHING, Phones, make_fleet
from virtual_phone.server.serve import PhoneHost

PATIENCE_S = 30.0


async def test_a_console_looks_at_an_environments_phones_and_never_drives_them(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    settings = load_settings(
        overrides={"data_dir": str(tmp_path), "adb.server": [str(adb_address)]}, environ={}
    )
    phones = Phones(settings)
    async with EpisodePhones(PoolSettings(virtual=1), tmp_path / ENVIRONMENT) as served:
        episode = Episode(served.source, EXERCISES, looks="tree")
        await episode.reset(task="dark-theme")
        fleet = await make_fleet(settings, EVERYTHING, phones, is_owner=True)
        assert isinstance(fleet, AdbFleet)
        try:
            await fleet.start()
            device = await fleet.wait_for(episode.serial, timeout_s=PATIENCE_S)
            [info] = [one for one in fleet.devices() if one.serial == episode.serial]
            assert info.driver == "elsewhere: environment"
            assert (await device.capture()).frame.width_px == 1080
            with pytest.raises(DeviceLostError, match="environment"):
                await device.tap(Point(x=0.5, y=0.5))
            with pytest.raises(DeviceLostError, match="read-only here"):
                async with fleet.lease(info.serial, "s-1"):
                    pass
            seen = await episode.step("press_button", {"button": "HOME"})
            assert not seen.error
        finally:
            await fleet.close()
            await phones.close()
        await episode.close()


async def test_an_environment_takes_no_phone_that_a_session_holds(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    client = AdbClient(adb_address)
    async with PhoneHost(tmp_path / "phones", count=2) as host:
        for serial in host.serials:
            await client.connect(serial)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        pool = PhonePool([RealEntry(adb_address, serial) for serial in host.serials])
        source = PooledPhones(pool)
        try:
            await pool.open_async()
            held, free = host.serials
            await fleet.wait_for(held, timeout_s=PATIENCE_S)
            async with fleet.lease(held, "s-1"):
                taken = await source.take(PATIENCE_S)
                assert taken.serial == free
                with pytest.raises(DeviceError, match="driven by others"):
                    await source.take(0.1)
                with pytest.raises(DeviceLostError, match=r"driven by environment@"):
                    async with fleet.lease(free, "s-2"):
                        pass
            await source.put(taken)
            again = await source.take(PATIENCE_S)
            await source.put(again)
        finally:
            await pool.close_async()
            await fleet.close()
            for serial in host.serials:
                await client.disconnect(serial)
