"""Pictures as cells: what a terminal shows is the picture, and nothing but colours is sent."""

from __future__ import annotations

import re

import numpy as np
import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.half_blocks import Grid, fit, pack, rgb_of, settle, to_565

_SGR = re.compile(r"\x1b\[[0-9;]*m")


def picture(rows: int, columns: int, seed: int, colours: int = 65_536) -> np.ndarray:
    return np.random.default_rng(seed).integers(
        0, colours, size=(rows * 2, columns), dtype=np.uint16
    )


def hexed(color: int) -> str:
    return "".join(f"{channel:02x}" for channel in rgb_of(color))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 12),
    columns=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    colours=st.sampled_from([1, 2, 3, 65_536]),
)
def test_a_terminal_shows_exactly_the_picture(
    rows: int, columns: int, seed: int, colours: int
) -> None:
    pixels = picture(rows, columns, seed, colours)
    grid = Grid(pixels)
    screen = pyte.Screen(columns, rows)
    stream = pyte.Stream(screen)
    for row in range(rows):
        stream.feed(f"\x1b[{row + 1};1H" + grid.text(row))
    for row in range(rows):
        for column in range(columns):
            cell = screen.buffer[row][column]
            assert cell.data == "▀"
            assert cell.fg == hexed(int(pixels[2 * row, column]))
            assert cell.bg == hexed(int(pixels[2 * row + 1, column]))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), column=st.integers(-3, 20), row=st.integers(-1, 5))
def test_the_fast_text_and_the_slow_runs_show_the_same(seed: int, column: int, row: int) -> None:
    grid = Grid(picture(4, 18, seed, 3))
    grid.mark(row, column, "42", ink=1, paper=2)
    for line in range(4):
        slow = "".join(text for text, _, _ in grid.runs(line))
        assert _SGR.sub("", grid.text(line)) == slow
        assert len(slow) == 18


def test_colours_survive_packing_as_far_as_565_goes() -> None:
    for red, green, blue in ((0, 0, 0), (255, 255, 255), (200, 100, 50)):
        back = rgb_of(pack(red, green, blue))
        assert all(abs(a - b) < 8 for a, b in zip(back, (red, green, blue), strict=True))
    rgb = np.array([[[200, 100, 50]]], dtype=np.uint8)
    assert int(to_565(rgb)[0, 0]) == pack(200, 100, 50)


def test_a_picture_of_another_size_is_sampled_to_fit() -> None:
    assert fit(picture(50, 40, 1), 7, 9).shape == (14, 9)
    same = picture(7, 9, 1)
    assert fit(same, 7, 9) is same


def test_noise_of_one_step_keeps_the_old_cells() -> None:
    old = np.full((2, 3), pack(100, 100, 100), dtype=np.uint16)
    noisy = old + 1
    assert (settle(old, noisy) == old).all()
    bright = np.full((2, 3), pack(200, 100, 100), dtype=np.uint16)
    assert (settle(old, bright) == bright).all()


def test_only_rows_that_look_different_are_named() -> None:
    one, other = Grid(picture(5, 8, 1)), Grid(picture(5, 8, 1))
    assert one.changed_rows(other) == []
    other.mark(3, 2, "7", ink=1, paper=2)
    assert one.changed_rows(other) == [3]
    one.mark(3, 2, "8", ink=1, paper=2)
    assert one.changed_rows(other) == [3]


def test_terminals_of_256_colours_get_their_own_numbers() -> None:
    text = Grid(np.array([[pack(255, 0, 0)], [0]], dtype=np.uint16)).text(0, truecolor=False)
    assert "38;5;196" in text
    assert "38;2" not in text
