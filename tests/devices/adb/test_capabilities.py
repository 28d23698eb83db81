"""What a phone has that work may need, on a real adb server and as text."""

from agent.devices.adb_device import AdbDevice
from agent.devices.facts.fact import Known, Unknown
from agent.devices.protocols import Device
from agent.devices.shell.capabilities import capabilities_command, is_package, read_capabilities

DENIED = (
    "@switchboard-capability sdk\nsh: getprop: denied\n@switchboard-capability locale\n\n-\n\n"
    "@switchboard-capability packages\njava.lang.SecurityException: no access to user 150\n"
)


async def test_a_phone_says_its_level_language_packages_and_the_versions_asked_for(
    device: Device,
) -> None:
    assert isinstance(device, AdbDevice)
    seen = await device.capabilities(["com.android.settings", "com.example.not.there"])
    assert isinstance(seen.sdk, Known)
    assert isinstance(seen.locale, Known)
    assert isinstance(seen.packages, Known)
    assert seen.sdk.value >= 21
    assert seen.locale.value == "en-US"
    assert "com.android.settings" in seen.packages.value
    assert set(seen.versions) == {"com.android.settings"}
    assert isinstance(seen.versions["com.android.settings"], Known)


def test_what_a_phone_does_not_say_is_unknown_with_its_answer() -> None:
    for said in (read_capabilities(""), read_capabilities(DENIED)):
        assert isinstance(said.sdk, Unknown)
        assert isinstance(said.locale, Unknown)
        assert isinstance(said.packages, Unknown)
    assert "denied" in said.sdk.reason
    assert "SecurityException" in said.packages.reason


def test_an_app_that_was_updated_has_the_newer_version() -> None:
    said = (
        "@switchboard-capability packages\npackage:com.x\n"
        "@switchboard-capability com.x\n    versionName=3.2\n    versionName=1.0\n"
    )
    version = read_capabilities(said).versions["com.x"]
    assert isinstance(version, Known)
    assert version.value == "3.2"


def test_a_name_that_is_no_package_never_reaches_the_shell() -> None:
    assert not is_package("com.x; reboot")
    assert "reboot" not in capabilities_command(["com.x; reboot", "$(reboot).x"])
