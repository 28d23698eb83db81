"""The phone as its seam shows it: input, windows, dumps, frames, snapshots and files."""

from __future__ import annotations

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


RECORDED = Path(__file__).parent.parent / "data" / "compose_chat_dump.xml"


async def test_a_dump_has_the_attributes_of_a_real_one_in_their_order(phone: Phone) -> None:
    recorded = RECORDED.read_text("utf-8")
    order = [list(n.attrib) for n in ElementTree.fromstring(recorded).iter("node")]
    assert len(order[0]) > 15 and all(names == order[0] for names in order)
    phone.launch("com.android.settings")
    xml = phone.dump_hierarchy()
    head = recorded[: recorded.index("<node")]
    assert xml.startswith(head)
    for node in ElementTree.fromstring(xml).iter("node"):
        assert [name for name in node.attrib if name != "NAF"] == order[0]


async def test_bounds_of_a_dump_stay_inside_the_screen(phone: Phone) -> None:
    phone.launch("com.android.settings")
    for box in re.findall(r'bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', phone.dump_hierarchy()):
        left, top, right, bottom = map(int, box)
        assert 0 <= left < right <= 1080 and 0 <= top < bottom <= 2400


async def test_a_row_is_clickable_and_its_texts_are_not(phone: Phone) -> None:
    phone.launch("com.android.settings")
    root = ElementTree.fromstring(phone.dump_hierarchy())
    titles = [n for n in root.iter("node") if n.get("resource-id") == "android:id/title"]
    assert titles and all(n.get("clickable") == "false" for n in titles)
    assert any(
        n.get("clickable") == "true" and any(t in list(n.iter("node")) for t in titles)
        for n in root.iter("node")
    )


async def test_the_keyboard_is_a_window_but_not_in_the_dump(phone: Phone) -> None:
    hand = Hand(phone)
    phone.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    assert phone.keyboard_shown
    assert "InputMethod" in [w.title for w in phone.windows()]
    assert "inputmethod" not in phone.dump_hierarchy()


async def test_soft_keys_type_by_tap_with_shift_and_backspace(phone: Phone) -> None:
    hand = Hand(phone)
    phone.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    for key in ("key shift", "key H", "key o", "key o", "key backspace", "key ?123", "key 7"):
        await hand.tap(key)
    assert hand.view("title").text == "Ho7"


async def test_back_hides_the_keyboard_first_then_leaves_the_page(phone: Phone) -> None:
    hand = Hand(phone)
    phone.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    await phone.key(keycodes.BACK)
    assert not phone.keyboard_shown
    assert phone.focused_app == "com.android.notes/.NoteEditActivity"
    await phone.key(keycodes.BACK)
    assert phone.focused_app == "com.android.notes/.NotesListActivity"
    await phone.key(keycodes.BACK)
    assert phone.focused_app.startswith("com.android.launcher3/")


async def test_home_and_a_launcher_icon_lead_out_and_back(phone: Phone) -> None:
    hand = Hand(phone)
    phone.launch("com.android.settings")
    await phone.key(keycodes.HOME)
    await hand.tap("Settings")
    assert phone.focused_app == "com.android.settings/.Settings"


async def test_content_moves_as_far_as_the_finger(phone: Phone) -> None:
    hand = Hand(phone)
    phone.launch("com.android.settings")
    before = hand.view("Display").rect.top
    await phone.swipe(540, 1500, 540, 1200, 60)
    assert before - hand.view("Display").rect.top == 300


async def test_scrolling_stops_at_both_ends(phone: Phone) -> None:
    phone.launch("com.android.settings")
    for _ in range(4):
        await phone.swipe(540, 2000, 540, 300, 30)
    bottom = phone.screenshot().tobytes()
    await phone.swipe(540, 2000, 540, 300, 30)
    assert phone.screenshot().tobytes() == bottom
    assert "About phone" in Hand(phone).words()


async def test_system_swipes_go_home_back_and_open_the_shade(phone: Phone) -> None:
    phone.launch("com.android.settings")
    await phone.swipe(540, 5, 540, 900, 30)
    assert phone.shade == "notifications"
    focused = phone.focused_window
    assert focused is not None and focused.title == "NotificationShade"
    await phone.key(keycodes.BACK)
    await phone.swipe(2, 1000, 500, 1000, 30)
    assert phone.focused_app.startswith("com.android.launcher3/")
    phone.launch("com.android.settings")
    await phone.swipe(540, 2395, 540, 1500, 30)
    assert phone.focused_app.startswith("com.android.launcher3/")


async def test_a_tap_takes_real_time_and_not_much(phone: Phone) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    await phone.tap(540, 1000)
    assert 0.04 <= loop.time() - start < 5


async def test_starting_again_says_what_became_of_it(phone: Phone) -> None:
    assert phone.start_activity(component="com.android.notes/.NotesListActivity").status is (
        StartStatus.STARTED
    )
    again = phone.start_activity(component="com.android.notes/com.android.notes.NotesListActivity")
    assert again.status is StartStatus.DELIVERED_TO_TOP
    await phone.key(keycodes.HOME)
    assert phone.launch("com.android.notes").status is StartStatus.BROUGHT_TO_FRONT


async def test_an_unknown_activity_is_an_error_that_names_it(phone: Phone) -> None:
    with pytest.raises(UnknownActivityError, match=r"com\.nowhere"):
        phone.start_activity(component="com.nowhere/.Main")
    with pytest.raises(UnknownActivityError):
        phone.launch("com.nowhere")
    with pytest.raises(UnknownActivityError):
        phone.start_activity(component="nonsense")


async def test_an_animation_makes_a_dump_fail_until_it_is_over(
    phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone.settings.put("global", "transition_animation_scale", "1.0")
    with monkeypatch.context() as slow:
        slow.setattr("virtual_phone.core.TRANSITION_S", 60.0)
        phone.launch("com.android.settings")
        with pytest.raises(NotIdleError):
            phone.dump_hierarchy()
        phone.restore(phone.snapshot())
    phone.launch("com.android.settings")
    assert await phone.wait_idle()
    assert "Settings" in phone.dump_hierarchy()


async def test_a_dark_screen_has_no_tree_and_a_black_frame(phone: Phone) -> None:
    await phone.key(keycodes.POWER)
    with pytest.raises(NullRootError):
        phone.dump_hierarchy()
    assert phone.screenshot().convert("L").getextrema() == (0, 0)
    await phone.key(keycodes.WAKEUP)
    assert phone.locked
    await phone.swipe(540, 1800, 540, 900, 30)
    assert not phone.locked


async def test_an_idle_phone_makes_no_new_frame(phone: Phone) -> None:
    frame = phone.screenshot()
    version = phone.frame_version
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.15):
            await phone.wait_frame(version)
    assert phone.screenshot() is frame


async def test_the_minute_of_the_clock_makes_a_new_frame(tmp_path: Path) -> None:
    now = [NOON]
    phone = Phone(tmp_path, clock=lambda: now[0])
    version = phone.frame_version
    now[0] += 59
    assert phone.frame_version == version
    now[0] += 1
    assert phone.frame_version == version + 1


async def test_a_change_wakes_whoever_waits_for_a_frame(phone: Phone) -> None:
    version = phone.frame_version
    waiting = asyncio.create_task(phone.wait_frame(version))
    await asyncio.sleep(0)
    phone.settings.put("global", "bluetooth_on", "1")
    assert await asyncio.wait_for(waiting, 30) > version


async def test_a_small_render_shows_the_same_screen(phone: Phone) -> None:
    phone.launch("com.android.settings")
    small = phone.render(328, 728)
    whole = phone.screenshot().convert("RGB").resize((328, 728))
    difference = [abs(a - b) for a, b in zip(small.tobytes(), whole.tobytes(), strict=True)]
    assert sum(difference) / len(difference) < 6


async def test_rotation_lays_the_screen_out_wide(phone: Phone) -> None:
    phone.settings.put("system", "user_rotation", "1")
    assert (phone.width, phone.height) == (2400, 1080)
    assert phone.screenshot().size == (2400, 1080)
    assert '<hierarchy rotation="1">' in phone.dump_hierarchy()


async def test_size_and_density_can_be_overridden_within_reason(phone: Phone) -> None:
    phone.set_display(width=720, height=1600, density=320)
    assert phone.screenshot().size == (720, 1600)
    with pytest.raises(PhoneError, match="cannot be 5x"):
        phone.set_display(width=5)


async def test_snapshot_and_restore_bring_everything_back(phone: Phone) -> None:
    hand = Hand(phone)
    phone.launch("com.android.notes")
    await hand.tap("New note")
    await hand.tap("Title")
    await phone.type_text("before")
    taken, seen = phone.snapshot(), phone.screenshot().tobytes()
    await phone.type_text(" and after")
    phone.reset()
    assert phone.focused_app.startswith("com.android.launcher3/")
    phone.restore(taken)
    assert phone.screenshot().tobytes() == seen
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
    first.launch("com.android.notes")
    first.close()
    second = new_phone(tmp_path)
    assert second.state()["bluetooth"] is True
    assert second.focused_app == "com.android.notes/.NotesListActivity"


async def test_a_damaged_state_file_is_set_aside_and_said(tmp_path: Path) -> None:
    (tmp_path / "phone.json").write_bytes(b'{"format": 1, "tasks": [')
    phone = new_phone(tmp_path)
    assert (tmp_path / "phone.json.corrupt-1").read_bytes().startswith(b'{"format"')
    assert "corrupt-1" in phone.messages[0]
    assert phone.focused_app.startswith("com.android.launcher3/")


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

    phone.launch("com.android.notes")
    surface = phone.scene().focused()
    phone.run(fail, surface)
    assert "Notes keeps stopping" in Hand(phone).words()
    await Hand(phone).tap("Close app")
    assert phone.focused_app.startswith("com.android.launcher3/")


async def test_a_permission_is_asked_once(phone: Phone) -> None:
    done: list[str] = []
    camera = "android.permission.CAMERA"
    phone.prompts.require_permission("com.android.notes", camera, lambda: done.append("first"))
    assert not done
    focused = phone.focused_window
    assert focused is not None and "GrantPermissionsActivity" in focused.title
    await Hand(phone).tap("While using the app")
    phone.prompts.require_permission("com.android.notes", camera, lambda: done.append("second"))
    assert done == ["first", "second"]


async def test_a_second_display_has_a_stack_of_its_own(phone: Phone) -> None:
    display = phone.add_display(800, 1280, 240)
    phone.start_activity(component="com.android.notes/.NotesListActivity", display=display)
    assert phone.focused_app.startswith("com.android.launcher3/")
    assert phone.screenshot(display).size == (800, 1280)
    assert "com.android.notes" in phone.dump_hierarchy(display=display)
    phone.remove_display(display)
    with pytest.raises(PhoneError):
        phone.screenshot(display)


async def test_a_transition_makes_frames_until_the_activity_stands(
    phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("virtual_phone.core.TRANSITION_S", 60.0)
    phone.settings.put("global", "transition_animation_scale", "1.0")
    phone.launch("com.android.settings")
    coming_in = phone.screenshot().tobytes()
    version = phone.frame_version
    for _ in range(3):
        newer = await asyncio.wait_for(phone.wait_frame(version), 30)
        assert newer > version
        version = newer
    assert not phone.idle
    phone.restore(phone.snapshot())
    assert phone.idle
    assert phone.screenshot().tobytes() != coming_in


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
