"""What farm clients set for apps, and read back: app operations, idling, data, buckets, locks."""

import pytest

from support.connected import Connected

APP = "com.android.browser"


async def test_an_app_operation_is_read_back_until_it_is_reset(connected: Connected) -> None:
    assert (await connected.shell(f"appops get {APP}")).text == "No operations.\n"
    await connected.shell(f"appops set {APP} android:mock_location allow")
    assert (await connected.shell(f"cmd appops get --user 0 {APP}")).text == (
        "MOCK_LOCATION: allow\n"
    )
    assert (await connected.shell("appops query-op MOCK_LOCATION allow")).text == f"{APP}\n"
    await connected.shell("appops reset")
    assert (await connected.shell(f"appops get {APP}")).text == "No operations.\n"


async def test_a_package_is_let_run_while_the_phone_idles(connected: Connected) -> None:
    said = await connected.shell(f"dumpsys deviceidle whitelist +{APP} +no.such")
    assert said.text == f"Added: {APP}\nUnknown package: no.such\n"
    uid = connected.phone.processes.uid_of(APP)
    assert f"user,{APP},{uid}\n" in (await connected.shell("cmd deviceidle whitelist")).text
    await connected.shell(f"cmd deviceidle whitelist -{APP}")
    assert APP not in (await connected.shell("dumpsys deviceidle whitelist")).text


async def test_the_phone_idles_when_it_is_told_to(connected: Connected) -> None:
    assert (await connected.shell("dumpsys deviceidle force-idle")).status == 0
    assert (await connected.shell("cmd deviceidle get deep")).text == "IDLE\n"
    assert "mForceIdle=true" in (await connected.shell("dumpsys deviceidle")).text
    await connected.shell("dumpsys deviceidle unforce")
    assert (await connected.shell("cmd deviceidle get deep")).text == "ACTIVE\n"


async def test_policies_are_part_of_what_a_phone_saves(connected: Connected) -> None:
    await connected.shell(
        f"am set-standby-bucket {APP} rare; cmd netpolicy set restrict-background true"
    )
    kept = connected.phone.snapshot()
    connected.phone.reset()
    assert (await connected.shell(f"am get-standby-bucket {APP}")).text == "10\n"
    connected.phone.restore(kept)
    assert (await connected.shell(f"am get-standby-bucket {APP}")).text == "40\n"
    said = (await connected.shell("cmd netpolicy get restrict-background")).text
    assert said == "Restrict background status: enabled\n"


async def test_mobile_data_is_switched_by_the_phone_service(connected: Connected) -> None:
    await connected.shell("cmd phone data disable")
    assert (await connected.shell("settings get global mobile_data")).text == "0\n"
    await connected.shell("svc data enable")
    assert (await connected.shell("settings get global mobile_data")).text == "1\n"


async def test_the_lock_screen_can_be_disabled(connected: Connected) -> None:
    assert (await connected.shell("locksettings get-disabled")).text == "false\n"
    await connected.shell("locksettings set-disabled true")
    await connected.shell("input keyevent 26; input keyevent 26")
    assert not connected.phone.power.locked


async def test_idling_is_disabled_by_kind_and_read_back(connected: Connected) -> None:
    lines = [
        ("cmd deviceidle enabled", "1\n"),
        ("cmd deviceidle disable deep", "Deep idle mode disabled\n"),
        ("cmd deviceidle disable", "Light idle mode disabled\n"),
        ("cmd deviceidle enabled light", "0\n"),
        ("cmd deviceidle force-idle", "Unable to go deep idle; not enabled\n"),
        ("dumpsys deviceidle | grep Enabled", "  mLightEnabled=false  mDeepEnabled=false\n"),
        ("dumpsys deviceidle enable", "Deep idle mode enabled\nLight idle mode enabled\n"),
        ("cmd deviceidle enable x", "Unknown idle mode: x\n"),
        ("cmd deviceidle force-idle", "Now forced in to deep idle mode\n"),
    ]
    for line, text in lines:
        assert (await connected.shell(line)).text == text, line


async def test_services_tell_of_networks_users_and_trust_what_the_phone_has(
    connected: Connected,
) -> None:
    shell = connected.shell
    wifi = (await shell("dumpsys wifi")).text
    assert wifi.startswith("Wi-Fi is enabled\n") and 'mWifiInfo SSID: "Linewire Home", ' in wifi
    assert "Active default network: 100\n" in (await shell("dumpsys connectivity")).text
    await shell("svc wifi disable")
    wifi = (await shell("dumpsys wifi")).text
    assert wifi.startswith("Wi-Fi is disabled\n") and "state: DISCONNECTED/DISCONNECTED" in wifi
    assert "Transports: CELLULAR" in (await shell("dumpsys connectivity")).text
    await shell("cmd connectivity airplane-mode enable")
    assert "Active default network: none\n" in (await shell("dumpsys connectivity")).text
    assert "  UserInfo{0:Owner:4c13} serialNo=0" in (await shell("dumpsys user")).text
    locked = "input keyevent 26; dumpsys trust; dumpsys window policy; input keyevent 26"
    said = (await shell(locked)).text
    assert "(current): " in said and "deviceLocked=0" in said and "mIsShowing=true" in said
    said = (await shell(f"locksettings set-pin 1234; input keyevent 82; {locked}")).text
    assert "deviceLocked=1" in said


@pytest.mark.parametrize(
    "line",
    [
        "appops get no.such",
        f"appops set {APP} NO_SUCH allow",
        f"appops set {APP} CAMERA maybe",
        "cmd deviceidle whitelist x",
        f"am set-standby-bucket {APP} soon",
        "cmd appops",
        "cmd netpolicy",
        "cmd phone",
        "locksettings nothing",
        "run-as com.android.notes ls",
        "run-as com.nope ls",
        "am set-standby-bucket",
    ],
)
async def test_what_cannot_be_done_is_said(connected: Connected, line: str) -> None:
    said = await connected.shell(line)
    assert said.status != 0
    assert said.out + said.err


async def test_ps_says_what_its_options_are(connected: Connected) -> None:
    assert "\n-A\tAll" in (await connected.shell("ps --help")).text
