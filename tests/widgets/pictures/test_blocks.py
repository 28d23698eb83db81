"""Sextants: what a terminal would show of them is the picture, and the right terminals get them."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.frames.glyphs import blocks_for
from widgets.cells.blocks import Blocks
from widgets.cells.cells import LETTERS, Cells
from widgets.cells.rgb565 import Pixels565, pack, rgb_of
from widgets.cells.sextants import sextant

# As Unicode names them, and the four that are older than sextants.
PATTERNS = {" ": 0, "▌": 0b010101, "▐": 0b101010, "█": 0b111111}
for code in range(0x1FB00, 0x1FB3C):
    name = unicodedata.name(chr(code)).removeprefix("BLOCK SEXTANT-")
    PATTERNS[chr(code)] = sum(1 << int(digit) - 1 for digit in name)


def shown(cells: Cells) -> np.ndarray:
    """Draw cells as a terminal draws them, from the names of the glyphs; RGB565."""
    picture = np.zeros((cells.rows * 3, cells.columns * 2), dtype=np.uint16)
    for row in range(cells.rows):
        for column in range(cells.columns):
            pattern = PATTERNS[LETTERS[int(cells.glyph[row, column])]]
            for bit in range(6):
                source = cells.ink if pattern >> bit & 1 else cells.paper
                picture[row * 3 + bit // 2, column * 2 + bit % 2] = source[row, column]
    return picture


def distance(one: Pixels565, other: Pixels565) -> float:
    def rgb(pixels: Pixels565) -> np.ndarray:
        return np.array([[rgb_of(int(p)) for p in row] for row in pixels], dtype=float)

    return float(((rgb(one) - rgb(other)) ** 2).mean())


def test_every_pattern_has_the_glyph_that_unicode_names_so() -> None:
    assert {sextant(pattern): pattern for pattern in range(64)} == PATTERNS


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 5), columns=st.integers(1, 9))
def test_cells_of_two_colours_are_shown_exactly(seed: int, rows: int, columns: int) -> None:
    dice = np.random.default_rng(seed)
    two = dice.integers(0, 65_536, (2, rows, columns), dtype=np.uint16)
    chosen = dice.integers(0, 2, (rows * 3, columns * 2), dtype=np.uint8)
    wide = two.repeat(3, axis=1).repeat(2, axis=2)
    pixels = np.where(chosen == 1, wide[0], wide[1])
    cells = Blocks.SEXTANT.cells(pixels)
    assert (cells.rows, cells.columns) == (rows, columns)
    assert (shown(cells) == pixels).all()


def test_sextants_come_closer_to_a_picture_than_half_blocks() -> None:
    down, across = np.mgrid[0:36, 0:48]
    is_disc = (down - 17) ** 2 + ((across - 23) * 1.0) ** 2 < 180
    pixels = np.where(is_disc, pack(240, 200, 80), pack(20, 30, 90)).astype(np.uint16)
    by_sextants = shown(Blocks.SEXTANT.cells(pixels))
    coarse = pixels[np.arange(24) * 36 // 24][:, ::2]
    half = Blocks.HALF.cells(coarse)
    two = np.stack((half.ink, half.paper), axis=1).reshape(24, 24)
    by_halves = two[np.arange(36) * 24 // 36].repeat(2, axis=1)
    assert distance(by_sextants, pixels) < 0.2 * distance(by_halves, pixels)


@pytest.mark.parametrize(
    ("wanted", "environ", "blocks"),
    [
        ("auto", {}, Blocks.HALF),
        ("auto", {"TERM": "xterm-256color"}, Blocks.HALF),
        ("auto", {"TERM": "xterm-kitty"}, Blocks.SEXTANT),
        ("auto", {"TERM": "foot-extra"}, Blocks.SEXTANT),
        ("auto", {"TERM_PROGRAM": "WezTerm"}, Blocks.SEXTANT),
        ("auto", {"TERM": "xterm-kitty", "TMUX": "/tmp/x,1,0"}, Blocks.HALF),
        ("sextant", {"TMUX": "/tmp/x,1,0"}, Blocks.SEXTANT),
        ("half", {"TERM": "xterm-kitty"}, Blocks.HALF),
    ],
)
def test_sextants_are_sent_where_they_are_known_or_wanted(
    wanted: str, environ: dict[str, str], blocks: Blocks
) -> None:
    assert blocks_for(wanted, environ) is blocks


@pytest.mark.parametrize("wanted", ["auto", "half", "sextant", "whole"])
def test_without_unicode_a_cell_is_one_colour_whatever_is_wanted(wanted: str) -> None:
    blocks = blocks_for(wanted, {"TERM": "xterm-kitty"}, unicode=False)
    pixels = np.arange(6 * 5, dtype=np.uint16).reshape(6, 5) * 99
    cells = blocks.cells(pixels)
    # No pixel is lost to a letter that ASCII does not have.
    assert (cells.columns * blocks.across, cells.rows * blocks.down) == (5, 6)
    assert (cells.paper == pixels).all()
    assert {LETTERS[number] for number in cells.glyph.ravel()} == {" "}
