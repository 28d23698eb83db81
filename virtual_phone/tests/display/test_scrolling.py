"""Scrolling moves a scene instead of building it anew; nobody can tell but by the time it takes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import ImageChops, ImageStat

from virtual_phone.display import scene_builder
from virtual_phone.display.frame_cache import KeptPicture
from virtual_phone.display.scene import Scene
from virtual_phone.phone import Phone
from virtual_phone.ui.bind import walk

PACKAGES = ("com.android.settings", "com.android.mms", "com.android.contacts", "com.android.shop")


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Phone]:
    made = Phone(tmp_path)
    yield made
    made.close()


async def open_list(phone: Phone, package: str) -> bool:
    """Open an app; say whether its first page scrolls."""
    if package not in phone.packages:
        return False
    phone.activities.launch(package)
    await phone.animations.wait_idle()
    return any(
        v.scrolls and v.scroll_range > 100 for v in walk(phone.compositor.scene().surfaces[0].root)
    )


@pytest.mark.parametrize("package", PACKAGES)
async def test_a_scrolled_scene_is_the_one_that_would_be_built(phone: Phone, package: str) -> None:
    if not await open_list(phone, package):
        return
    phone.touch.down(0, 540, 1700)
    for y in (1690, 1650, 1500, 1320):
        phone.touch.move(0, 540, y)
        phone.compositor.scene()
    moved, built = phone.compositor.scene(), scene_builder.build_scene(phone, 0)
    assert moved is not built
    assert [(v.key, v.rect, v.clip) for s in moved.surfaces for v in walk(s.root)] == [
        (v.key, v.rect, v.clip) for s in built.surfaces for v in walk(s.root)
    ]
    pictures = [phone.compositor.paint(scene) for scene in (moved, built)]
    assert pictures[0].tobytes() == pictures[1].tobytes()
    # At the size of a video edges may stand a pixel apart, as they are rounded once.
    small = [phone.compositor.paint(scene, 328, 720) for scene in (moved, built)]
    difference = ImageStat.Stat(ImageChops.difference(*small)).mean
    assert max(difference) < 6
    phone.touch.up(0, 540, 1320)
    assert [v.rect for v in walk(phone.compositor.scene().surfaces[0].root)] == [
        v.rect for v in walk(built.surfaces[0].root)
    ]


@pytest.mark.parametrize("package", PACKAGES)
async def test_a_picture_kept_while_scrolling_is_the_one_that_would_be_drawn(
    phone: Phone, package: str
) -> None:
    if not await open_list(phone, package):
        return
    kept = KeptPicture(phone)
    kept.show(phone.compositor.scene_to_draw(), 328, 720)
    phone.touch.down(0, 540, 1700)
    for y in (1690, 1650, 1500, 1320):
        phone.touch.move(0, 540, y)
        scene = phone.compositor.scene_to_draw()
        picture = kept.show(scene, 328, 720)
        assert picture.tobytes() == phone.compositor.paint(scene, 328, 720).tobytes()
    # At full size there is no image of the content: what has moved is drawn at its new place.
    picture, drawn = (
        phone.compositor.paint(phone.compositor.scene_to_draw()),
        phone.compositor.paint(phone.compositor.scene()),
    )
    assert picture.tobytes() == drawn.tobytes()
    phone.touch.up(0, 540, 1320)


async def test_scrolling_builds_no_scene(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await open_list(phone, "com.android.settings")
    phone.touch.down(0, 540, 1700)
    phone.touch.move(0, 540, 1600)
    before = phone.compositor.scene()
    built: list[int] = []
    original = scene_builder.build_scene

    def counted(of: Phone, display: int) -> Scene:
        built.append(display)
        return original(of, display)

    monkeypatch.setattr(scene_builder, "build_scene", counted)
    version = phone.compositor.version
    for y in range(1590, 1400, -10):
        phone.touch.move(0, 540, y)
        phone.compositor.scene()
    assert not built
    assert phone.compositor.version > version and phone.compositor.scene() is not before


async def test_a_change_while_a_finger_scrolls_is_shown(phone: Phone) -> None:
    assert await open_list(phone, "com.android.settings")
    phone.touch.down(0, 540, 1700)
    phone.touch.move(0, 540, 1600)
    light = phone.compositor.scene().theme
    phone.settings.put("secure", "ui_night_mode", "2")
    phone.touch.move(0, 540, 1500)
    assert phone.compositor.scene().theme is not light


@pytest.mark.parametrize(("width", "height"), [(112, 240), (328, 720), (488, 1080), (720, 1600)])
async def test_a_video_of_another_shape_shows_the_screen_down_to_its_lower_edge(
    phone: Phone, width: int, height: int
) -> None:
    scene = phone.compositor.scene_to_draw()
    shown = KeptPicture(phone).show(scene, width, height)
    whole = phone.compositor.paint(scene).resize((width, height))
    lower = (0, height * 9 // 10, width, height)
    difference = ImageStat.Stat(ImageChops.difference(shown.crop(lower), whole.crop(lower)))
    assert shown.size == (width, height) and max(difference.mean) < 8
