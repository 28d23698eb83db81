"""What a fast swipe throws glides on as on Android, ends where it must, and can be held."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hand import new_phone
from virtual_phone.input import fling
from virtual_phone.phone import Phone
from virtual_phone.state.records import NotIdleError
from virtual_phone.timing import SimulatedTiming
from virtual_phone.ui.bind import walk

SCALE = 420 / 160


@pytest.fixture
async def phone(tmp_path: Path) -> AsyncIterator[Phone]:
    made = await settings_list(tmp_path)
    yield made
    made.close()


async def settings_list(home: Path) -> Phone:
    made = new_phone(home)
    made.settings.put("global", "transition_animation_scale", "0")
    made.displays.resize(height=1200)
    made.activities.launch("com.android.settings")
    await made.animations.wait_idle()
    return made


def scrolled(phone: Phone) -> int:
    return max(v.scroll_y for v in walk(phone.compositor.scene().surfaces[0].root) if v.scrolls)


async def still(phone: Phone) -> int:
    assert await phone.animations.wait_idle(30)
    return scrolled(phone)


def test_a_glide_is_as_long_as_androids() -> None:
    # OverScroller at 420 dpi: 0.015 * 9.80665 * 39.37 * 420 * 0.84 = 2043 px/s2.
    far, length_s = fling.glide_of(-4000, SCALE)
    assert far == pytest.approx(-1060, abs=5)
    assert length_s == pytest.approx(0.757, abs=0.005)
    assert fling.glide_of(49 * SCALE, SCALE) == (0, 0.0)
    assert fling.glide_of(10**9, SCALE) == fling.glide_of(8000 * SCALE, SCALE)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_glide_never_turns_back_and_grows_slower(one: float, other: float) -> None:
    first, second = sorted((one, other))
    assert 0 <= fling.part_glided(first) <= fling.part_glided(second) <= 1
    assert fling.part_glided(first) >= first - 1e-4


def test_a_finger_that_rests_before_it_is_lifted_throws_nothing() -> None:
    timing = SimulatedTiming()
    trail = fling.Trail(1000, timing)
    for _ in range(20):
        timing.advance(0.01)
        trail.add(1000 - timing.monotonic() * 2000)
    assert trail.speed() == pytest.approx(-2000)
    timing.advance(0.05)
    assert trail.speed() == 0


async def test_a_swipe_glides_on_to_the_same_place_every_time(tmp_path: Path) -> None:
    ends = set()
    for name in ("one", "other"):
        phone = await settings_list(tmp_path / name)
        await phone.gestures.swipe(540, 900, 540, 700, 150)
        assert phone.touch.gliding
        with pytest.raises(NotIdleError):
            phone.windows.dump()
        ends.add(await still(phone))
        version = phone.compositor.version
        assert "<node" in phone.windows.dump() and phone.compositor.version == version
        phone.close()
    (end,) = ends
    assert end == 200 + -fling.glide_of(-200 / 0.15, SCALE)[0]


async def test_a_glide_ends_at_the_end_of_the_list(phone: Phone) -> None:
    await phone.gestures.swipe(540, 900, 540, 300, 20)
    end = await still(phone)
    assert end == max(v.scroll_range for v in walk(phone.compositor.scene().surfaces[0].root))
    await phone.gestures.swipe(540, 900, 540, 300, 20)
    assert not phone.touch.gliding


async def test_a_finger_on_what_glides_holds_it_and_presses_nothing(phone: Phone) -> None:
    before = phone.windows.focused_app
    await phone.gestures.swipe(540, 900, 540, 500, 100)
    version = phone.compositor.version
    async with asyncio.timeout(30):
        await phone.compositor.wait_newer(version)
    await phone.gestures.tap(540, 700)
    assert phone.animations.idle and phone.windows.focused_app == before
    held = scrolled(phone)
    assert held < 400 - fling.glide_of(-4000, SCALE)[0]


async def test_what_glides_stops_when_another_page_comes(phone: Phone) -> None:
    await phone.gestures.swipe(540, 900, 540, 500, 100)
    phone.activities.launch("com.android.notes")
    assert not phone.touch.gliding
