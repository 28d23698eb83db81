"""Which stream serves whoever looks, and when another one is opened."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.frames.subscribers import Reader, Readers
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.stream_fit import RATES_HZ, SIDES_PX, SPARE_S, StreamFit, options_for

OPTIONS = SessionOptions(scid=7)


def readers(*asked: tuple[int, int, float]) -> Readers:
    every = Readers("phone")
    every.all = [Reader.checked(*one) for one in asked]
    return every


@given(
    st.lists(
        st.tuples(st.integers(1, 4096), st.integers(1, 4096), st.floats(0.1, 60.0)), min_size=1
    ),
    st.integers(1, 60),
    st.integers(1, 2400),
)
def test_a_stream_is_no_smaller_and_no_slower_than_anybody_asked_for_and_not_a_step_more(
    asked: list[tuple[int, int, float]], most_fps: int, least_side_px: int
) -> None:
    options = options_for(OPTIONS, readers(*asked), most_fps, least_side_px)
    longest = max(least_side_px, *(max(one[:2]) for one in asked))
    fastest = min(max(one[2] for one in asked), most_fps)
    assert options.max_size_px == 0 or options.max_size_px >= longest
    assert options.max_fps >= fastest * 0.99
    smaller = [side for side in SIDES_PX if not options.max_size_px or side < options.max_size_px]
    assert not any(side >= longest for side in smaller)
    assert not any(fastest <= rate < options.max_fps for rate in RATES_HZ)


def test_a_tile_of_the_wall_is_a_small_slow_stream_beside_the_one_that_is_looked_at() -> None:
    tile = options_for(OPTIONS, readers((26, 52, 10.0)), 60)
    large = options_for(OPTIONS, readers((26, 52, 10.0), (450, 1000, 30.0)), 60)
    assert (tile.max_size_px, tile.max_fps) == (240, 10)
    assert (large.max_size_px, large.max_fps) == (1080, 30)
    assert tile.bit_rate * 6 < large.bit_rate


LARGE = replace(OPTIONS, max_size_px=1080, max_fps=30)


@pytest.mark.parametrize(
    "needed", [replace(LARGE, max_size_px=0), replace(LARGE, max_fps=60)], ids=["larger", "faster"]
)
def test_what_is_too_little_is_changed_at_once(needed: SessionOptions) -> None:
    assert StreamFit(LARGE).is_over(needed, 0.0)


@pytest.mark.parametrize(
    "needed", [replace(LARGE, max_size_px=240), replace(LARGE, max_fps=10)], ids=["large", "fast"]
)
def test_what_is_too_much_is_changed_once_nobody_has_needed_it_for_a_while(
    needed: SessionOptions,
) -> None:
    fit = StreamFit(LARGE)
    assert not fit.is_over(needed, 100.0)
    assert not fit.is_over(needed, 99.0 + SPARE_S)
    assert not fit.is_over(LARGE, 99.5 + SPARE_S), "somebody looks again"
    assert not fit.is_over(needed, 101.0 + SPARE_S)
    assert fit.is_over(needed, 101.0 + 2 * SPARE_S)


def test_a_display_that_was_created_for_its_stream_is_kept() -> None:
    fit = StreamFit(replace(LARGE, new_display=(1080, 2400, 420)))
    slower = replace(LARGE, new_display=(1080, 2400, 420), max_fps=5)
    assert not any(fit.is_over(slower, at * SPARE_S) for at in range(5))
