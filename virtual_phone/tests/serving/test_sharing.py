"""Thousands of phones: what they share, how they go back, and that a seed decides everything."""

import asyncio
import gc
import time
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from support.connected import Connected
from support.hand import NOON, Hand, new_phone
from virtual_phone.apps import all_apps
from virtual_phone.phone import Phone
from virtual_phone.state import checkpoint
from virtual_phone.state.profiles import profile_names, profile_of

SHARED_LIMIT_BYTES = 24_000
"""What a phone that changed nothing may cost; the states of its apps alone are larger."""


def test_a_phone_costs_only_what_it_changed(tmp_path: Path) -> None:
    count = 40
    warm = new_phone(tmp_path / "warm")
    states = sum(len(msgspec.json.encode(warm.app_data.of(app))) for app in all_apps().values())
    gc.collect()
    tracemalloc.start()
    try:
        phones = [new_phone(tmp_path / str(i)) for i in range(count)]
        gc.collect()
        unchanged, _ = tracemalloc.get_traced_memory()
        for phone in phones:
            phone.app_data.of_package("com.android.notes")
        gc.collect()
        changed, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert unchanged / count < SHARED_LIMIT_BYTES
    assert 0 < (changed - unchanged) / count < states


def test_phones_that_share_their_first_state_do_not_see_each_other_s_changes(
    tmp_path: Path,
) -> None:
    one, two = new_phone(tmp_path / "1"), new_phone(tmp_path / "2")
    before = two.state()["notes"]
    one.app_data.of_package("com.android.notes").notes.clear()  # type: ignore[union-attr]
    assert one.state()["notes"] == []
    assert two.state()["notes"] == before != []
    one.reset()
    assert one.state()["notes"] == before


async def test_going_back_costs_less_than_a_picture_of_the_screen(connected: Connected) -> None:
    phone = connected.phone
    await connected.shell(
        "echo one > /sdcard/Download/a; ln -s a /data/local/tmp/door; "
        "chmod 640 /sdcard/Download/a; touch -d @1600000000 /sdcard/Download/a"
    )
    looked = "ls -lR /sdcard /data/local/tmp; cat /sdcard/Download/a"
    before = (await connected.shell(looked)).text
    state = phone.state()
    kept = checkpoint.take(phone)
    await connected.shell(
        "rm /sdcard/Download/a /data/local/tmp/door; rm -r /sdcard/DCIM; mkdir "
        "/sdcard/new; echo two > /sdcard/new/f; settings put global x 1; "
        "echo longer > /sdcard/Documents/Budget.csv"
    )
    going_back_s: list[float] = []
    drawing_s: list[float] = []
    for _ in range(5):
        await connected.shell(
            "rm /sdcard/Documents/Budget.csv; am start -n com.android.notes/.NotesListActivity"
        )
        start = time.thread_time()
        phone.compositor.screenshot()
        drawing_s.append(time.thread_time() - start)
        start = time.thread_time()
        checkpoint.go_back(phone, kept)
        going_back_s.append(time.thread_time() - start)
    assert (await connected.shell(looked)).text == before
    now = phone.state()
    assert {k: v for k, v in now.items() if k != "time"} == {
        k: v for k, v in state.items() if k != "time"
    }
    # A ratio of work, and the best and the worst of five: the machine may be busy, and differs.
    assert min(going_back_s) < max(drawing_s)


async def test_one_seed_and_the_same_inputs_give_the_same_state_and_the_same_frames(
    tmp_path: Path,
) -> None:
    async def story(home: Path) -> tuple[bytes, list[bytes]]:
        phone = new_phone(home, seed=11)
        phone.settings.put("global", "transition_animation_scale", "0")
        hand = Hand(phone)
        frames = [phone.compositor.screenshot().tobytes()]
        await hand.open("com.android.notes")
        await hand.tap("New note")
        await hand.tap("Title")
        phone.keys.type_text("Same")
        frames.append(phone.compositor.screenshot().tobytes())
        await hand.open("com.android.gallery3d")
        frames.append(phone.compositor.screenshot().tobytes())
        saved = phone.snapshot()
        phone.close()
        return saved, frames

    one, two = await asyncio.gather(story(tmp_path / "1"), story(tmp_path / "2"))
    assert one[0] == two[0]
    assert one[1] == two[1]


@pytest.mark.parametrize("kind", profile_names())
async def test_every_kind_of_phone_says_its_size_and_lays_its_apps_out_in_it(
    tmp_path: Path, kind: str
) -> None:
    phone = Phone(tmp_path, name="kind", clock=lambda: NOON, profile=kind)
    posture = profile_of(kind).screens[0]
    phone.activities.launch("com.android.settings")
    assert phone.compositor.screenshot().size == (posture.width, posture.height)
    assert phone.properties["ro.product.model"] == profile_of(kind).model
    assert phone.properties["ro.sf.lcd_density"] == str(posture.density)
    phone.save()
    assert Phone(tmp_path, name="kind").form_factor.profile.name == kind


def test_unfolding_shows_more_and_keeps_what_was_typed(tmp_path: Path) -> None:
    phone = Phone(tmp_path, name="fold", clock=lambda: NOON, profile="foldable")
    phone.activities.start(component="com.android.notes/.NoteEditActivity")
    hand = Hand(phone)
    field = hand.view("title")
    phone.focus.view(phone.compositor.scene().surface_of(_page(phone)), field, keyboard=True)  # type: ignore[arg-type]
    phone.keys.type_text("Trip")
    narrow = hand.view("title").rect.width
    phone.form_factor.fold(1)
    assert phone.compositor.screenshot().size == (1840, 2208)
    assert hand.view("title").text == "Trip"
    assert hand.view("title").rect.width > narrow
    phone.settings.put("system", "user_rotation", "1")
    assert phone.compositor.screenshot().size == (2208, 1840)
    assert hand.view("title").text == "Trip"


def _page(phone: Phone):  # type: ignore[no-untyped-def]
    top = phone.tasks.top()
    assert top is not None
    return top[1]


async def test_the_shell_folds_and_unfolds_where_the_device_can(connected: Connected) -> None:
    assert (
        "identifier=0, name='DEFAULT'"
        in (await connected.shell("cmd device_state print-states")).text
    )
    said = await connected.shell("cmd device_state state 1")
    assert (said.status, b"Requested state: 1 is not supported" in said.err) == (255, True)
    assert (await connected.shell("wm size")).text == "Physical size: 1080x2400\n"
