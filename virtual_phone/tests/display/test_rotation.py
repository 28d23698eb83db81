"""The screen follows a hand while it rotates by itself, and the setting while it is locked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.connected import Connected
from support.hand import new_phone
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.ui.bind import walk


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Phone]:
    made = new_phone(tmp_path)
    yield made
    made.close()


def put(phone: Phone, key: str, value: str) -> None:
    phone.settings.put("system", key, value)


def test_a_locked_screen_follows_the_setting_and_no_hand(phone: Phone) -> None:
    phone.rotation.turn(1)
    assert phone.rotation.quarters == 0
    put(phone, "user_rotation", "3")
    assert phone.rotation.quarters == 3 and phone.displays.width > phone.displays.height


def test_a_free_screen_follows_a_hand_and_no_setting(phone: Phone) -> None:
    put(phone, "accelerometer_rotation", "1")
    put(phone, "user_rotation", "1")
    assert phone.rotation.quarters == 0
    phone.rotation.turn(3)
    assert phone.rotation.quarters == 3 and phone.displays.width > phone.displays.height
    phone.rotation.turn(2)
    assert phone.rotation.quarters == 3, "upside down turns no phone's screen"
    put(phone, "accelerometer_rotation", "0")
    assert phone.rotation.quarters == 1


def test_a_phone_that_lies_flat_stays_as_it_was_when_it_is_freed(phone: Phone) -> None:
    put(phone, "user_rotation", "1")
    put(phone, "accelerometer_rotation", "1")
    assert phone.rotation.quarters == 1
    put(phone, "accelerometer_rotation", "0")
    phone.rotation.turn(0)
    put(phone, "accelerometer_rotation", "1")
    assert phone.rotation.quarters == 0, "a hand that holds it is felt"


async def test_a_switch_keeps_the_screen_as_it_is_seen(phone: Phone) -> None:
    put(phone, "accelerometer_rotation", "1")
    phone.rotation.turn(1)
    phone.activities.start(
        component="com.android.settings/.SubSettings", extras={"page": "display"}
    )
    await phone.animations.wait_idle()
    page = phone.compositor.scene().surfaces[0].page
    switch = next(
        v
        for v in walk(phone.compositor.scene().surfaces[0].root)
        if v.key == "row Auto-rotate screen"
    )
    assert switch.on_click is not None
    switch.on_click()
    assert phone.settings.get("system", "accelerometer_rotation") == "0"
    phone.rotation.turn(0)
    assert phone.rotation.quarters == 1 and page is phone.compositor.scene().surfaces[0].page


def test_how_it_is_held_is_in_a_snapshot(phone: Phone) -> None:
    put(phone, "accelerometer_rotation", "1")
    phone.rotation.turn(1)
    kept = phone.snapshot()
    phone.rotation.turn(0)
    phone.restore(kept)
    assert phone.rotation.quarters == 1 and phone.snapshot() == kept
    with pytest.raises(PhoneError, match="quarter turns"):
        phone.rotation.turn(4)


async def test_window_manager_locks_and_frees_what_the_host_turns(connected: Connected) -> None:
    await connected.shell("wm user-rotation free")
    connected.host.turn(connected.serial, 90)
    assert "SurfaceOrientation: 1" in (await connected.shell("dumpsys input")).text
    await connected.shell("wm user-rotation lock")
    connected.host.turn(connected.serial, 0)
    assert (await connected.shell("wm user-rotation")).text == "lock 1\n"
    with pytest.raises(PhoneError, match="45 degrees"):
        connected.host.turn(connected.serial, 45)
