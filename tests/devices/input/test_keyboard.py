"""Text that no key writes: it arrives exactly, and the phone gets its own keyboard back."""

import asyncio

import pytest

from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.input.borrowed_keyboard import NOTE
from agent.devices.input.input_methods import ADB_KEYBOARD as BORROWED
from agent.devices.protocols import Device
from agent.errors import TextEntryError
from agent.records import UiNode
from tests.devices.conftest import ScriptedPhone, scripted_device

OWN = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = BORROWED.id


async def shell(adb: AdbClient, serial: str, command: str) -> ShellResult:
    features = await adb.features(serial, timeout_s=30)
    return await adb.shell(serial, command, features=features, timeout_s=30)


async def current(adb: AdbClient, serial: str) -> str:
    return (await shell(adb, serial, "settings get secure default_input_method")).text.strip()


@pytest.fixture
async def search(device: Device, adb: AdbClient) -> Device:
    """Return a phone whose settings search has the focus, empty."""
    for _ in range(5):
        # Whatever another test left of the phone: asleep, turned, with something in front.
        await shell(
            adb,
            device.serial,
            "input keyevent WAKEUP; wm dismiss-keyguard; cmd statusbar collapse;"
            " am force-stop com.android.settings; input keyevent HOME",
        )
        await device.launch("com.android.settings")
        if (field := await _search_field(device)) is not None:
            await device.tap(field.bounds.center)
            return device
    nodes = (await device.tree()).nodes
    raise AssertionError(f"no search field among {[(n.package, n.text) for n in nodes][:40]}")


async def _search_field(device: Device) -> UiNode | None:
    """Look for the field until it is there; an app that had no process shows a splash first."""
    try:
        async with asyncio.timeout(30):
            while True:
                for node in (await device.tree()).nodes:
                    if "search" in node.resource_id.lower():
                        return node
    except TimeoutError:
        return None


@pytest.mark.parametrize(
    "text", ["世界 🌍", "naïve – café", "مرحبا", "👩🏽‍💻🏴󠁧󠁢󠁳󠁣󠁴󠁿", "e\u0301 1\u20e3", "$HOME `id` 世 %s"]
)
async def test_every_unicode_string_arrives_exactly(
    search: Device, adb: AdbClient, text: str
) -> None:
    await search.type_text(text)
    assert text in [node.text for node in (await search.tree()).nodes]
    assert await current(adb, search.serial) == OWN


async def test_a_keyboard_left_by_a_crash_is_put_back_at_the_next_typing(
    search: Device, adb: AdbClient
) -> None:
    await shell(
        adb,
        search.serial,
        f"echo {OWN} > {NOTE}; ime enable {ADB_KEYBOARD}; ime set {ADB_KEYBOARD}",
    )
    await search.type_text("plain")
    assert await current(adb, search.serial) == OWN
    left = await shell(adb, search.serial, f"ls {NOTE}")
    assert left.exit_code != 0


async def test_the_keyboard_is_given_back_when_the_phone_does_not_take_the_text() -> None:
    phone = ScriptedPhone(
        {
            "settings get": (f"{OWN}\n".encode(), 0),
            "ime list": (f"{OWN}\n{ADB_KEYBOARD}\n".encode(), 0),
            "dumpsys input_method": (f"  mCurId={ADB_KEYBOARD} mHave=true\n".encode(), 0),
            "am broadcast": (b"Broadcasting: Intent\n", 0),
        }
    )
    async with scripted_device(phone) as device:
        with pytest.raises(TextEntryError):
            await device.type_text("世界")
    assert phone.commands[-1] == f"ime set '{OWN}' && rm -f {NOTE}"
