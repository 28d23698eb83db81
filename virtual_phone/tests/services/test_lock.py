"""The lock screen's secret: set by `locksettings`, asked for by the screen, and never shown."""

import asyncio
import re
from pathlib import Path

import pytest

from support.connected import Connected
from support.hand import NOON, Hand, new_phone
from virtual_phone import lock
from virtual_phone.server.serve import PhoneHost
from virtual_phone.state.records import LockKind

LOCKED = "input keyevent 26; input keyevent 224"


def locked_phone(home: Path, kind: LockKind, secret: str) -> Hand:
    """Return a phone that was put to sleep with a secret, and woken."""
    hand = Hand(new_phone(home))
    lock.set_secret(hand.phone, kind, secret)
    hand.phone.power.sleep()
    hand.phone.power.wake()
    return hand


async def test_a_pin_is_set_verified_changed_and_cleared_by_the_shell(connected: Connected) -> None:
    steps = [
        ("verify", 0, "Lock credential verified successfully"),
        ("verify --old 1", 255, "Old password provided but user has no password"),
        ("set-pin 123", 255, "New credential doesn't satisfy admin policies"),
        ("set-pin 12a4", 255, "New credential doesn't satisfy admin policies"),
        ("set-pattern 1234", 255, "New credential doesn't satisfy admin policies"),
        ("set-pin 1234", 0, "Pin set to '1234'"),
        ("set-pin 5678", 255, "Old password '' didn't match"),
        ("verify --old 4321", 255, "Old password '4321' didn't match"),
        ("verify --old 1234 --user 0", 0, "Lock credential verified successfully"),
        ("set-disabled true", 0, "Lock screen disabled set to true"),
        ("get-disabled", 0, "false"),
        ("set-password --old 1234 'pass word'", 0, "Password set to 'pass word'"),
        ("clear --old 1234", 255, "Old password '1234' didn't match"),
        ("clear --old 'pass word'", 0, "Lock credential cleared"),
        ("get-disabled", 0, "true"),
    ]
    for words, status, text in steps:
        said = await connected.shell(f"locksettings {words}")
        assert (said.status, said.text) == (status, f"{text}\n"), words
    assert (await connected.shell("cmd lock_settings set-pin 1234")).text == "Pin set to '1234'\n"


async def test_a_locked_phone_opens_by_nothing_but_its_pin(connected: Connected) -> None:
    shell, phone = connected.shell, connected.phone
    await shell(f"locksettings set-pin 2468; {LOCKED}; wm dismiss-keyguard")
    assert phone.power.locked
    await shell("input swipe 540 2000 540 400 100; input keyevent 82")
    assert phone.power.locked
    seen = (await shell("uiautomator dump /dev/tty")).text
    assert 'resource-id="com.android.systemui:id/key5"' in seen and "Enter PIN" in seen
    assert "secure=true" in (await shell("dumpsys window policy")).text
    await shell("input text 1111; input keyevent 66")
    assert phone.power.locked
    assert "Wrong PIN" in (await shell("uiautomator dump /dev/tty")).text
    await shell("input text 2468")
    assert "2468" not in (await shell("uiautomator dump /dev/tty")).text
    await shell("input keyevent 66")
    assert not phone.power.locked
    await shell("reboot")
    async with asyncio.timeout(60):
        while not phone.power.locked:
            await asyncio.sleep(0.01)
    await connected.served.rebooted()


async def test_the_keys_of_the_page_take_the_pin(tmp_path: Path) -> None:
    hand = locked_phone(tmp_path, LockKind.PIN, "1305")
    await hand.phone.gestures.swipe(540, 2000, 540, 400, 100)
    await hand.phone.animations.wait_idle()
    for key in ("1", "3", "9", "Delete", "0", "5"):
        await hand.tap(key)
    assert hand.see("••••") and hand.phone.power.locked
    await hand.tap("Enter")
    assert not hand.phone.power.locked
    hand.phone.close()


async def test_a_password_comes_by_keys_and_back_gives_it_up(tmp_path: Path) -> None:
    hand = locked_phone(tmp_path, LockKind.PASSWORD, "open Sesame")
    phone = hand.phone
    lock.dismiss(phone)
    phone.keys.type_text("open")
    assert hand.see("Enter password") and hand.see("••••")
    phone.keys.press(4)
    assert hand.see("Swipe up to open") and phone.power.locked
    lock.dismiss(phone)
    phone.keys.type_text("open Sesame\n")
    assert not phone.power.locked
    phone.close()


async def test_every_fifth_wrong_secret_makes_a_pause(tmp_path: Path) -> None:
    hand = locked_phone(tmp_path, LockKind.PIN, "1234")
    phone, now = hand.phone, NOON
    phone.now = lambda: now  # type: ignore[method-assign]
    lock.dismiss(phone)
    for _ in range(lock.TRIES):
        phone.keys.type_text("0000\n")
    assert hand.see("Too many incorrect attempts. Try again in 30 seconds.")
    phone.keys.type_text("1234\n")
    assert phone.power.locked
    now += lock.PAUSE_S
    phone.keys.type_text("1234\n")
    assert not phone.power.locked
    phone.close()


@pytest.mark.parametrize("kind", [LockKind.PIN, LockKind.PASSWORD])
async def test_the_secret_outlives_the_process_and_is_not_told(
    tmp_path: Path, kind: LockKind
) -> None:
    async with PhoneHost(tmp_path) as host:
        phone = host.served(host.serials[0]).phone
        lock.set_secret(phone, kind, "4711")
        phone.power.sleep()
        phone.save()
        # The state holds times: four digits within a longer number are not the secret.
        assert not re.search(r"(?<!\d)4711(?!\d)", repr(phone.state()))
    async with PhoneHost(tmp_path) as host:
        phone = host.served(host.serials[0]).phone
        phone.power.wake()
        lock.dismiss(phone)
        assert phone.power.locked
        phone.keys.type_text("4711\n")
        assert not phone.power.locked
