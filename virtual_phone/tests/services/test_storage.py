"""Shared storage: apps, the shell and adb see the same files."""

import io
from pathlib import Path

import pytest
from PIL import Image

from support.connected import Connected
from support.hand import Hand, new_phone
from virtual_phone.errors import PhoneError
from virtual_phone.state.storage import SharedStorage


@pytest.fixture
def red_picture(tmp_path: Path) -> Path:
    path = tmp_path / "sunset.png"
    Image.new("RGB", (300, 200), (200, 20, 20)).save(path)
    return path


async def test_a_pushed_picture_is_in_files_and_photos_and_deleting_it_there_deletes_the_file(
    connected: Connected, red_picture: Path
) -> None:
    hand = Hand(connected.phone)
    await hand.open("com.android.gallery3d")
    await connected("push", str(red_picture), "/sdcard/Pictures/")
    assert hand.see("photo Pictures/sunset.png") is not None
    await hand.open("com.android.documentsui")
    await hand.tap("Pictures")
    await hand.tap("sunset.png")
    assert connected.phone.windows.focused_app == "com.android.gallery3d/.app.PhotoActivity"
    middle = hand.view("photo").clip
    pixel = connected.phone.compositor.screenshot().getpixel(
        ((middle.left + middle.right) // 2, (middle.top + middle.bottom) // 2)
    )
    assert pixel == (200, 20, 20, 255)
    await hand.tap("Delete")
    await hand.tap_last("Delete")
    assert (await connected.shell("ls /sdcard/Pictures")).text == "whiteboard.jpg\n"


async def test_what_the_camera_takes_is_a_jpeg_that_adb_pulls(
    connected: Connected, tmp_path: Path
) -> None:
    hand = Hand(connected.phone)
    before = set((await connected.shell("ls /sdcard/DCIM/Camera")).text.split())
    connected.phone.permissions.grant("com.android.camera2", "android.permission.CAMERA")
    await hand.open("com.android.camera2")
    await hand.tap("Shutter")
    after = set((await connected.shell("ls /sdcard/DCIM/Camera")).text.split())
    (name,) = after - before
    await connected("pull", f"/sdcard/DCIM/Camera/{name}", str(tmp_path / name))
    assert Image.open(tmp_path / name).format == "JPEG"


async def test_files_renames_and_makes_folders_that_the_shell_sees(connected: Connected) -> None:
    hand = Hand(connected.phone)
    await connected.shell("echo hello > /sdcard/Download/note.txt")
    await hand.open("com.android.documentsui")
    await hand.tap("Download")
    await hand.tap("More options for note.txt")
    await hand.tap("Rename")
    await hand.tap("android:id/text1")
    connected.phone.keys.press(29, meta=0x1000)
    connected.phone.keys.type_text("kept.txt")
    await hand.tap("OK")
    assert (await connected.shell("cat /sdcard/Download/kept.txt")).text == "hello\n"
    await hand.tap("kept.txt")
    assert hand.view("file_text").text == "hello\n"


async def test_a_new_phone_s_files_are_what_their_names_say(connected: Connected) -> None:
    pdf = await connected("exec-out", "cat '/sdcard/Documents/CV 2026.pdf'")
    assert pdf.out.startswith(b"%PDF-1.4") and pdf.out.endswith(b"%%EOF\n")
    png = await connected("exec-out", "cat /sdcard/Download/map-lake-district.png")
    assert Image.open(io.BytesIO(png.out)).size == (640, 480)


async def test_a_file_that_is_no_picture_is_shown_as_an_empty_place(connected: Connected) -> None:
    await connected.shell("echo garbage > /sdcard/Pictures/a.png")
    hand = Hand(connected.phone)
    await hand.open("com.android.gallery3d")
    await hand.tap("photo Pictures/a.png")
    connected.phone.compositor.screenshot()
    assert connected.phone.windows.focused_app == "com.android.gallery3d/.app.PhotoActivity"


def test_a_link_leads_no_app_out_of_the_storage(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    storage = SharedStorage(tmp_path / "sdcard", list, lambda: None)
    storage.furnish()
    (tmp_path / "sdcard" / "door").symlink_to(outside)
    (tmp_path / "sdcard" / "file.txt").symlink_to(outside / "secret.txt")
    assert "door" not in [file.name for file in storage.inside()]
    assert storage.inside("door") == []
    for path in ("door/secret.txt", "file.txt", "../outside/secret.txt", "/etc/passwd"):
        with pytest.raises(PhoneError):
            storage.open_path(path)
        with pytest.raises(PhoneError):
            storage.write(path if path != "/etc/passwd" else "../x", b"x", 0)
    with pytest.raises(PhoneError):
        storage.delete("door/secret.txt")
    with pytest.raises(PhoneError):
        storage.delete("")
    assert (outside / "secret.txt").read_text() == "secret"


def test_two_phones_with_one_seed_have_the_same_files(tmp_path: Path) -> None:
    one, two = new_phone(tmp_path / "1", seed=5), new_phone(tmp_path / "2", seed=5)
    other = new_phone(tmp_path / "3", seed=6)
    files = [[(f.path, f.size, f.modified) for f in p.storage.walk()] for p in (one, two, other)]
    assert files[0] == files[1] != files[2]
