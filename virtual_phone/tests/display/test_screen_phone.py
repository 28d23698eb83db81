"""The phone as its seam shows it: input, windows, dumps, frames, snapshots and files."""

import asyncio
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.hand import NOON, Hand, new_phone
from virtual_phone.errors import PhoneError
from virtual_phone.input import keycodes
from virtual_phone.phone import Phone
from virtual_phone.state import persistence
from virtual_phone.state.records import (
    NotIdleError,
    NullRootError,
    StartStatus,
    UnknownActivityError,
)


@pytest.fixture
async def phone(tmp_path: Path) -> AsyncIterator[Phone]:
    made = new_phone(tmp_path)
    made.settings.put("global", "transition_animation_scale", "0")
    yield made
    made.close()


RECORDED = Path(__file__).parent.parent / "data" / "compose_chat.xml"


async def test_a_dump_has_the_attributes_of_a_real_one_in_their_order(phone: Phone) -> None:
    recorded = RECORDED.read_text("utf-8")
    order = [list(n.attrib) for n in ElementTree.fromstring(recorded).iter("node")]
    assert len(order[0]) > 15 and all(names == order[0] for names in order)
    phone.activities.launch("com.android.settings")
    xml = phone.windows.dump()
    head = recorded[: recorded.index("<node")]
    assert xml.startswith(head)
    for node in ElementTree.fromstring(xml).iter("node"):
        assert [name for name in node.attrib if name != "NAF"] == order[0]


async def test_bounds_of_a_dump_stay_inside_the_screen(phone: Phone) -> None:
    phone.activities.launch("com.android.settings")
    for box in re.findall(r'bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', phone.windows.dump()):
        left, top, right, bottom = map(int, box)
        assert 0 <= left < right <= 1080 and 0 <= top < bottom <= 2400


async def test_a_row_is_clickable_and_its_texts_are_not(phone: Phone) -> None:
    phone.activities.launch("com.android.settings")
    root = ElementTree.fromstring(phone.windows.dump())
    titles = [n for n in root.iter("node") if n.get("resource-id") == "android:id/title"]
    assert titles and all(n.get("clickable") == "false" for n in titles)
    assert any(
        n.get("clickable") == "true" and any(t in list(n.iter("node")) for t in titles)
        for n in root.iter("node")
    )


async def test_the_keyboard_is_a_window_but_not_in_the_dump(phone: Phone) -> None:
    hand = Hand(phone)
    phone.activities.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    assert phone.focus.keyboard_shown
    assert "InputMethod" in [w.title for w in phone.windows.all()]
    assert "inputmethod" not in phone.windows.dump()


async def test_soft_keys_type_by_tap_with_shift_and_backspace(phone: Phone) -> None:
    hand = Hand(phone)
    phone.activities.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    for key in ("key shift", "key H", "key o", "key o", "key backspace", "key ?123", "key 7"):
        await hand.tap(key)
    assert hand.view("title").text == "Ho7"


async def test_back_hides_the_keyboard_first_then_leaves_the_page(phone: Phone) -> None:
    hand = Hand(phone)
    phone.activities.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    phone.keys.press(keycodes.BACK)
    assert not phone.focus.keyboard_shown
    assert phone.windows.focused_app == "com.android.notes/.NoteEditActivity"
    phone.keys.press(keycodes.BACK)
    assert phone.windows.focused_app == "com.android.notes/.NotesListActivity"
    phone.keys.press(keycodes.BACK)
    assert phone.windows.focused_app.startswith("com.android.launcher3/")


async def test_home_and_a_launcher_icon_lead_out_and_back(phone: Phone) -> None:
    hand = Hand(phone)
    phone.activities.launch("com.android.settings")
    phone.keys.press(keycodes.HOME)
    await hand.tap("Settings")
    assert phone.windows.focused_app == "com.android.settings/.Settings"


async def test_content_moves_as_far_as_the_finger(phone: Phone) -> None:
    hand = Hand(phone)
    phone.activities.launch("com.android.settings")
    before = hand.view("Display").rect.top
    await phone.gestures.swipe(540, 1500, 540, 1200, 60)
    assert before - hand.view("Display").rect.top == 300


async def test_scrolling_stops_at_both_ends(phone: Phone) -> None:
    phone.activities.launch("com.android.settings")
    for _ in range(4):
        await phone.gestures.swipe(540, 2000, 540, 300, 30)
    bottom = phone.compositor.screenshot().tobytes()
    await phone.gestures.swipe(540, 2000, 540, 300, 30)
    assert phone.compositor.screenshot().tobytes() == bottom
    assert "About phone" in Hand(phone).words()


async def test_system_swipes_go_home_back_and_open_the_shade(phone: Phone) -> None:
    phone.activities.launch("com.android.settings")
    await phone.gestures.swipe(540, 5, 540, 900, 30)
    assert phone.shade.shown == "notifications"
    focused = phone.windows.focused
    assert focused is not None and focused.title == "NotificationShade"
    phone.keys.press(keycodes.BACK)
    await phone.gestures.swipe(2, 1000, 500, 1000, 30)
    assert phone.windows.focused_app.startswith("com.android.launcher3/")
    phone.activities.launch("com.android.settings")
    await phone.gestures.swipe(540, 2395, 540, 1500, 30)
    assert phone.windows.focused_app.startswith("com.android.launcher3/")


async def test_a_tap_takes_real_time_and_not_much(phone: Phone) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    await phone.gestures.tap(540, 1000)
    assert 0.04 <= loop.time() - start < 5


async def test_starting_again_says_what_became_of_it(phone: Phone) -> None:
    assert phone.activities.start(component="com.android.notes/.NotesListActivity").status is (
        StartStatus.STARTED
    )
    again = phone.activities.start(
        component="com.android.notes/com.android.notes.NotesListActivity"
    )
    assert again.status is StartStatus.DELIVERED_TO_TOP
    phone.keys.press(keycodes.HOME)
    assert phone.activities.launch("com.android.notes").status is StartStatus.BROUGHT_TO_FRONT


async def test_an_unknown_activity_is_an_error_that_names_it(phone: Phone) -> None:
    with pytest.raises(UnknownActivityError, match=r"com\.nowhere"):
        phone.activities.start(component="com.nowhere/.Main")
    with pytest.raises(UnknownActivityError):
        phone.activities.launch("com.nowhere")
    with pytest.raises(UnknownActivityError):
        phone.activities.start(component="nonsense")


async def test_an_animation_makes_a_dump_fail_until_it_is_over(
    phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone.settings.put("global", "transition_animation_scale", "1.0")
    with monkeypatch.context() as slow:
        slow.setattr("virtual_phone.display.animations.TRANSITION_S", 60.0)
        phone.activities.launch("com.android.settings")
        with pytest.raises(NotIdleError):
            phone.windows.dump()
        phone.restore(phone.snapshot())
    phone.activities.launch("com.android.settings")
    assert await phone.animations.wait_idle()
    assert "Settings" in phone.windows.dump()


async def test_a_dark_screen_has_no_tree_and_a_black_frame(phone: Phone) -> None:
    phone.keys.press(keycodes.POWER)
    with pytest.raises(NullRootError):
        phone.windows.dump()
    assert phone.compositor.screenshot().convert("L").getextrema() == (0, 0)
    phone.keys.press(keycodes.WAKEUP)
    assert phone.power.locked
    await phone.gestures.swipe(540, 1800, 540, 900, 30)
    assert not phone.power.locked


async def test_an_idle_phone_makes_no_new_frame(phone: Phone) -> None:
    frame = phone.compositor.screenshot()
    version = phone.compositor.version
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.15):
            await phone.compositor.wait_newer(version)
    assert phone.compositor.screenshot() is frame


async def test_the_minute_of_the_clock_makes_a_new_frame(tmp_path: Path) -> None:
    now = [NOON]
    phone = Phone(tmp_path, clock=lambda: now[0])
    version = phone.compositor.version
    now[0] += 59
    assert phone.compositor.version == version
    now[0] += 1
    assert phone.compositor.version == version + 1


async def test_a_change_wakes_whoever_waits_for_a_frame(phone: Phone) -> None:
    version = phone.compositor.version
    waiting = asyncio.create_task(phone.compositor.wait_newer(version))
    await asyncio.sleep(0)
    phone.settings.put("global", "bluetooth_on", "1")
    assert await asyncio.wait_for(waiting, 30) > version


async def test_a_small_render_shows_the_same_screen(phone: Phone) -> None:
    phone.activities.launch("com.android.settings")
    small = phone.compositor.paint(phone.compositor.scene(), 328, 728)
    whole = phone.compositor.screenshot().convert("RGB").resize((328, 728))
    difference = [abs(a - b) for a, b in zip(small.tobytes(), whole.tobytes(), strict=True)]
    assert sum(difference) / len(difference) < 6


async def test_rotation_lays_the_screen_out_wide(phone: Phone) -> None:
    phone.settings.put("system", "user_rotation", "1")
    assert (phone.displays.width, phone.displays.height) == (2400, 1080)
    assert phone.compositor.screenshot().size == (2400, 1080)
    assert '<hierarchy rotation="1">' in phone.windows.dump()


async def test_size_and_density_can_be_overridden_within_reason(phone: Phone) -> None:
    phone.displays.resize(width=720, height=1600, density=320)
    assert phone.compositor.screenshot().size == (720, 1600)
    with pytest.raises(PhoneError, match="cannot be 5x"):
        phone.displays.resize(width=5)


async def test_snapshot_and_restore_bring_everything_back(phone: Phone) -> None:
    hand = Hand(phone)
    phone.activities.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    phone.keys.type_text("before")
    taken, seen = phone.snapshot(), phone.compositor.screenshot().tobytes()
    phone.keys.type_text(" and after")
    phone.reset()
    assert phone.windows.focused_app.startswith("com.android.launcher3/")
    phone.restore(taken)
    assert phone.compositor.screenshot().tobytes() == seen
    assert phone.snapshot() == taken


async def test_a_bad_snapshot_changes_nothing(phone: Phone) -> None:
    before = phone.snapshot()
    for bad in (b"", b"{}", b"[1]", b'{"format": 99, "displays": []}', b"\xff\xfe", before[:-9]):
        with pytest.raises(PhoneError):
            phone.restore(bad)
    assert phone.snapshot() == before


async def test_the_state_survives_a_restart(tmp_path: Path) -> None:
    first = new_phone(tmp_path)
    first.settings.put("global", "bluetooth_on", "1")
    first.activities.launch("com.android.notes")
    first.close()
    second = new_phone(tmp_path)
    assert second.state()["bluetooth"] is True
    assert second.windows.focused_app == "com.android.notes/.NotesListActivity"


async def test_a_damaged_state_file_is_set_aside_and_said(tmp_path: Path) -> None:
    (tmp_path / "phone.json").write_bytes(b'{"format": 1, "tasks": [')
    phone = new_phone(tmp_path)
    assert (tmp_path / "phone.json.corrupt-1").read_bytes().startswith(b'{"format"')
    assert "corrupt-1" in phone.messages[0]
    assert phone.windows.focused_app.startswith("com.android.launcher3/")


async def test_a_directory_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    phone = Phone(tmp_path / "fine")
    phone.home = blocked / "phone"
    with pytest.raises(PhoneError, match="could not be saved"):
        phone.save()


async def test_two_phones_of_one_seed_are_alike_and_of_two_seeds_are_not(tmp_path: Path) -> None:
    one, two = new_phone(tmp_path / "1", seed=3), new_phone(tmp_path / "2", seed=3)
    other = new_phone(tmp_path / "3", seed=4)
    assert one.state() == two.state()
    assert one.state()["apps"] != other.state()["apps"]


async def test_an_app_that_fails_shows_the_crash_dialog_and_the_phone_lives(phone: Phone) -> None:
    def fail() -> None:
        raise ValueError("a bug in an app")

    phone.activities.launch("com.android.notes")
    surface = phone.compositor.scene().focused()
    phone.run(fail, surface)
    assert "Notes keeps stopping" in Hand(phone).words()
    await Hand(phone).tap("Close app")
    assert phone.windows.focused_app.startswith("com.android.launcher3/")


async def test_a_permission_is_asked_once(phone: Phone) -> None:
    done: list[str] = []
    camera = "android.permission.CAMERA"
    phone.prompts.require_permission("com.android.notes", camera, lambda: done.append("first"))
    assert not done
    focused = phone.windows.focused
    assert focused is not None and "GrantPermissionsActivity" in focused.title
    await Hand(phone).tap("While using the app")
    phone.prompts.require_permission("com.android.notes", camera, lambda: done.append("second"))
    assert done == ["first", "second"]


async def test_a_second_display_has_a_stack_of_its_own(phone: Phone) -> None:
    display = phone.displays.add(800, 1280, 240)
    phone.activities.start(component="com.android.notes/.NotesListActivity", display=display)
    assert phone.windows.focused_app.startswith("com.android.launcher3/")
    assert phone.compositor.screenshot(display).size == (800, 1280)
    assert "com.android.notes" in phone.windows.dump(display=display)
    phone.displays.remove(display)
    with pytest.raises(PhoneError):
        phone.compositor.screenshot(display)


async def test_a_transition_makes_frames_until_the_activity_stands(
    phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("virtual_phone.display.animations.TRANSITION_S", 60.0)
    phone.settings.put("global", "transition_animation_scale", "1.0")
    phone.activities.launch("com.android.settings")
    coming_in = phone.compositor.screenshot().tobytes()
    version = phone.compositor.version
    for _ in range(3):
        newer = await asyncio.wait_for(phone.compositor.wait_newer(version), 30)
        assert newer > version
        version = newer
    assert not phone.animations.idle
    phone.restore(phone.snapshot())
    assert phone.animations.idle
    assert phone.compositor.screenshot().tobytes() != coming_in


async def test_changes_are_on_disk_soon_after_without_being_asked(tmp_path: Path) -> None:
    phone = new_phone(tmp_path)
    phone.settings.put("global", "bluetooth_on", "1")
    async with asyncio.timeout(30):
        while b'"bluetooth_on":"1"' not in (persistence.read_state(tmp_path) or b""):
            await asyncio.sleep(0.02)
    assert new_phone(tmp_path).state()["bluetooth"] is True
    phone.close()


def test_an_older_state_never_replaces_a_newer_one(tmp_path: Path) -> None:
    file = persistence.StateFile()
    older, newer = file.next(), file.next()
    file.write(tmp_path, b"newer", newer)
    file.write(tmp_path, b"older", older)
    assert persistence.read_state(tmp_path) == b"newer"
