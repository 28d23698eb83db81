"""What a phone plays and reports is told alike by every command that tells it."""

import pytest

from support.connected import Connected


async def test_volumes_are_one_truth_with_the_keys(connected: Connected) -> None:
    said = (await connected.shell("media volume --stream 3 --set 4 --get")).text
    assert said.splitlines() == [
        "[V] will control stream=3 (STREAM_MUSIC)",
        "[V] will set volume to index=4",
        "[V] will get volume",
        "[V] Connecting to AudioService",
        "[V] volume is 4 in range [0..15]",
    ]
    await connected.shell("input keyevent VOLUME_UP")
    said = (await connected.shell("cmd media_session volume --stream 3 --get")).text
    assert "volume is 5 in range" in said
    assert "invalid volume index 99" in (await connected.shell("media volume --set 99")).text
    assert connected.phone.settings.get("system", "volume_music") == "5"


@pytest.mark.parametrize(
    ("change", "ask", "before", "after"),
    [
        (
            "cmd location set-location-enabled false",
            "cmd location is-location-enabled",
            "true",
            "false",
        ),
        (
            "am start -a android.intent.action.DIAL -d tel:5550101; am start -n "
            "com.android.dialer/.InCallActivity",
            "dumpsys telephony.registry | grep -m1 mCallState",
            "mCallState=0",
            "mCallState=2",
        ),
        ("input keyevent 26", "dumpsys deviceidle get screen", "true", "false"),
    ],
)
async def test_a_dump_tells_what_was_changed(
    connected: Connected, change: str, ask: str, before: str, after: str
) -> None:
    assert (await connected.shell(ask)).text.strip() == before
    await connected.shell(change)
    assert (await connected.shell(ask)).text.strip() == after


async def test_a_bug_report_is_refused_and_a_locale_is_told(connected: Connected) -> None:
    said = await connected.shell("bugreportz")
    assert said.text.startswith("FAIL:") and said.status == 1
    assert (await connected.shell("settings get system system_locales")).text == "en-US\n"
