"""What a phone has that work may need, on a real adb server and as text."""

from agent.devices.adb_device import AdbDevice
from agent.devices.protocols import Device
from agent.devices.shell.capabilities import (
    Capabilities,
    capabilities_command,
    is_package,
    read_capabilities,
)


async def test_a_phone_says_its_level_language_packages_and_the_versions_asked_for(
    device: Device,
) -> None:
    assert isinstance(device, AdbDevice)
    seen = await device.capabilities(["com.android.settings", "com.example.not.there"])
    assert seen.sdk >= 21
    assert seen.locale == "en-US"
    assert "com.android.settings" in seen.packages
    assert set(seen.versions) == {"com.android.settings"}
    assert seen.versions["com.android.settings"]


def test_what_is_not_there_is_left_out() -> None:
    assert read_capabilities("") == Capabilities()
    denied = "@switchboard-capability sdk\nsh: getprop: denied\n@switchboard-capability packages\n"
    assert read_capabilities(denied) == Capabilities()


def test_an_app_that_was_updated_has_the_newer_version() -> None:
    said = (
        "@switchboard-capability packages\npackage:com.x\n"
        "@switchboard-capability com.x\n    versionName=3.2\n    versionName=1.0\n"
    )
    assert read_capabilities(said).versions == {"com.x": "3.2"}


def test_a_name_that_is_no_package_never_reaches_the_shell() -> None:
    assert not is_package("com.x; reboot")
    assert "reboot" not in capabilities_command(["com.x; reboot", "$(reboot).x"])
