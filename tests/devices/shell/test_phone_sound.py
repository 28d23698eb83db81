"""The media volume is read from what the phone's own command prints."""

import pytest

from agent.devices.shell.phone_sound import read_level


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        # As VolumeCtrl.java of AOSP prints it.
        (
            "[V] will get volume\r\n[V] will control stream=3 (STREAM_MUSIC)\r\n"
            "[V] Connecting to AudioService\r\n[V] volume is 9 in range [0..15]\r\n",
            (9, 15),
        ),
        ("volume is 0 in range [0..25]\n", (0, 25)),
        ("/system/bin/sh: media: inaccessible or not found\n", None),
        ("Error: Could not access system services\n", None),
        ("", None),
    ],
)
def test_a_level_is_read_with_its_highest_one(
    printed: str, expected: tuple[int, int] | None
) -> None:
    assert read_level(printed) == expected
