"""What tells that a phone booted or an app was updated, on a real adb server and as text."""

from __future__ import annotations

from agent.devices.adb import AdbDevice
from agent.devices.device import Device
from agent.devices.versions import PhoneVersions, read_versions


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
