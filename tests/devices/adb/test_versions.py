"""What tells that a phone booted or an app was updated, on a real adb server and as text."""

import re

from agent.devices.adb_device import AdbDevice
from agent.devices.protocols import Device
from agent.devices.shell.versions import PhoneVersions, read_versions


async def test_a_phone_says_which_boot_it_is_in_and_which_versions_its_apps_have(
    device: Device,
) -> None:
    assert isinstance(device, AdbDevice)
    seen = await device.versions()
    assert len(seen.boot_id) == 36
    assert seen.packages["com.android.settings"] > 0
    assert await device.versions() == seen


def test_what_is_not_there_is_left_out() -> None:
    assert read_versions("") == PhoneVersions()
    old = "0c9b3a40-2b0c-4f1a-9a51-2f1f6a1f3b11\npackage:com.example.old\n"
    assert read_versions(old) == PhoneVersions(boot_id="0c9b3a40-2b0c-4f1a-9a51-2f1f6a1f3b11")
    denied = "cat: /proc/sys/kernel/random/boot_id: Permission denied\npackage:a.b versionCode:7\n"
    assert read_versions(denied) == PhoneVersions(packages={"a.b": 7})


async def test_a_phone_says_its_date_time_zone_and_language_in_one_line(device: AdbDevice) -> None:
    said = await device.local_time()
    assert re.fullmatch(r"\w+day \d{4}-\d\d-\d\d \d\d:\d\d \+0000, UTC, en-US", said)
