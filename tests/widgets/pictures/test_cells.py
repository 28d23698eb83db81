"""Pictures as cells: what a terminal shows is the picture, and nothing but colours is sent."""

import re

import numpy as np
import pyte
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style

from widgets.cells.cell_text import changed_text, row_texts
from widgets.cells.cells import BLANK, HALF, HOLE, LETTERS, Cells
from widgets.cells.colour_codes import codes
from widgets.cells.frame_strip import Drawn
from widgets.cells.rgb565 import fit, pack, rgb_of, settle, to_565

_SGR = re.compile(r"\x1b\[[0-9;]*m")
_SENT = re.compile(r"(\x1b\[[0-9;]*[mHC]|[ ▀0-9(●)])*")
TRUE = codes(True)


def picture(rows: int, columns: int, seed: int, colours: int = 65_536) -> np.ndarray:
    return np.random.default_rng(seed).integers(
        0, colours, size=(rows * 2, columns), dtype=np.uint16
    )


def hexed(color: int) -> str:
    return "".join(f"{channel:02x}" for channel in rgb_of(color))


def assert_shows(screen: pyte.Screen, cells: Cells, x: int = 0, y: int = 0) -> None:
    """Compare what a terminal has with cells; a space has no ink to compare."""
    for row in range(cells.rows):
        for column in range(cells.columns):
            shown = screen.buffer[y + row][x + column]
            glyph = int(cells.glyph[row, column])
            assert shown.data == LETTERS[glyph], (row, column)
            if glyph == HOLE:
                assert (shown.fg, shown.bg) == ("default", "default")
                continue
            assert shown.bg == hexed(int(cells.paper[row, column])), (row, column)
            if glyph != BLANK:
                assert shown.fg == hexed(int(cells.ink[row, column])), (row, column)


def terminal(columns: int, rows: int) -> tuple[pyte.Screen, pyte.Stream]:
    screen = pyte.Screen(columns, rows)
    return screen, pyte.Stream(screen)


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
    cells = Cells.of_pixels(pixels)
    screen, stream = terminal(columns, rows)
    for row, text in enumerate(row_texts(cells, TRUE)):
        stream.feed(f"\x1b[{row + 1};1H" + text)
        assert _SENT.fullmatch(text)
    assert_shows(screen, cells)
    for row in range(rows):
        for column in range(columns):
            upper, lower = int(pixels[2 * row, column]), int(pixels[2 * row + 1, column])
            shown = screen.buffer[row][column]
            assert shown.bg == hexed(lower)
            assert (shown.fg if shown.data == "▀" else shown.bg) == hexed(upper)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    colours=st.sampled_from([2, 4, 65_536]),
    steps=st.integers(1, 4),
    share=st.sampled_from([0.02, 0.3, 1.0]),
    x=st.integers(0, 3),
    y=st.integers(0, 3),
)
def test_changes_upon_changes_show_the_last_picture(
    seed: int, colours: int, steps: int, share: float, x: int, y: int
) -> None:
    rows, columns = 7, 33
    dice = np.random.default_rng(seed)
    screen, stream = terminal(columns + x, rows + y)
    cells = Cells(rows, columns)
    for _ in range(steps):
        after = cells.copy()
        corner = (int(dice.integers(0, 3)), int(dice.integers(0, 9)))
        pixels = picture(4, 20, int(dice.integers(1 << 30)), colours)
        after.paste(Cells.of_pixels(pixels), *corner)
        gone = dice.random((rows, columns)) > share
        for one, other in ((after.ink, cells.ink), (after.paper, cells.paper)):
            one[gone] = other[gone]
        after.glyph[gone] = cells.glyph[gone]
        after.mark(int(dice.integers(rows)), int(dice.integers(columns)), "42", ink=7, paper=9)
        text = changed_text(after, after.differs(cells), TRUE, x=x, y=y)
        assert _SENT.fullmatch(text)
        stream.feed(text)
        cells = after
    assert_shows(screen, cells, x, y)


def test_rows_wider_than_the_longest_run_are_whole() -> None:
    cells = Cells.of_pixels(np.zeros((4, 1_200), dtype=np.uint16))
    assert [len(_SGR.sub("", text)) for text in row_texts(cells, TRUE)] == [1_200, 1_200]
    far = np.zeros((2, 1_200), dtype=bool)
    far[:, 3] = far[:, 1_190] = True
    screen, stream = terminal(1_200, 2)
    stream.feed(changed_text(cells, far, TRUE, x=0, y=0))
    drawn = {
        (row, at) for row in (0, 1) for at, one in screen.buffer[row].items() if one.bg != "default"
    }
    assert drawn == {(0, 3), (0, 1_190), (1, 3), (1, 1_190)}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), column=st.integers(-3, 20), row=st.integers(-1, 5))
def test_the_fast_text_and_the_slow_segments_show_the_same(
    seed: int, column: int, row: int
) -> None:
    cells = Cells.of_pixels(picture(4, 18, seed, 3))
    cells.mark(row, column, "42", ink=1, paper=2)
    cells.glyph[2, 3:6] = HOLE
    drawn = Drawn(cells, Style(), truecolor=True)
    console = Console(color_system="truecolor", force_terminal=True)
    for line in range(4):
        slow = "".join(segment.text for segment in drawn.segments(line))
        assert _SGR.sub("", drawn.text(line, console)) == slow
        assert len(slow) == 18
        fast, spelled = terminal(18, 1)[0], terminal(18, 1)[0]
        pyte.Stream(fast).feed(drawn.text(line, console))
        coloured = "".join(
            (segment.style or Style()).render(segment.text, color_system=console._color_system)
            for segment in drawn.segments(line)
        )
        pyte.Stream(spelled).feed(coloured)
        for at in range(18):
            one, other = fast.buffer[0][at], spelled.buffer[0][at]
            assert (one.data, one.bg) == (other.data, other.bg)
            assert one.data == " " or one.fg == other.fg


def test_holes_are_drawn_in_the_style_of_what_lies_under() -> None:
    cells = Cells(1, 3)
    cells.paste(Cells.of_pixels(np.full((2, 1), pack(255, 0, 0), dtype=np.uint16)), 0, 1)
    drawn = Drawn(cells, Style(bgcolor="#102030"), truecolor=True)
    screen, stream = terminal(3, 1)
    stream.feed(drawn.text(0, Console(color_system="truecolor", force_terminal=True)))
    assert [screen.buffer[0][at].bg for at in range(3)] == ["102030", "ff0000", "102030"]


def test_a_colour_that_the_terminal_has_is_not_set_again() -> None:
    red, blue = pack(255, 0, 0), pack(0, 0, 255)
    one_colour = Cells.of_pixels(np.full((2, 40), red, dtype=np.uint16))
    assert row_texts(one_colour, TRUE)[0].count("\x1b[") == 2
    stripes = np.full((2, 40), red, dtype=np.uint16)
    stripes[0, ::2] = blue
    text = row_texts(Cells.of_pixels(stripes), TRUE)[0]
    assert text.count("\x1b[") == 2, "ink and paper stay; only the glyphs alternate"


def test_colours_survive_packing_as_far_as_565_goes() -> None:
    for red, green, blue in ((0, 0, 0), (255, 255, 255), (200, 100, 50)):
        back = rgb_of(pack(red, green, blue))
        assert all(abs(a - b) < 8 for a, b in zip(back, (red, green, blue), strict=True))
    rgb = np.array([[[200, 100, 50]]], dtype=np.uint8)
    assert int(to_565(rgb)[0, 0]) == pack(200, 100, 50)


def test_a_picture_of_another_size_is_sampled_to_fit() -> None:
    assert fit(picture(50, 40, 1), 14, 9).shape == (14, 9)
    same = picture(7, 9, 1)
    assert fit(same, 14, 9) is same


def test_noise_of_one_step_keeps_the_old_cells() -> None:
    old = np.full((2, 3), pack(100, 100, 100), dtype=np.uint16)
    noisy = old + 1
    assert (settle(old, noisy) == old).all()
    bright = np.full((2, 3), pack(200, 100, 100), dtype=np.uint16)
    assert (settle(old, bright) == bright).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.05, 1.0]))
def test_only_pixels_of_which_no_channel_is_two_steps_away_are_held(
    seed: int, share: float
) -> None:
    dice = np.random.default_rng(seed)
    depths = (32, 64, 32)
    before = [dice.integers(0, depth, 600) for depth in depths]
    steps = dice.integers(-2, 3, (3, 600)) * (dice.random(600) < share)
    after = [
        np.clip(one + step, 0, depth - 1)
        for one, step, depth in zip(before, steps, depths, strict=True)
    ]
    old, new = (
        (one[0] << 11 | one[1] << 5 | one[2]).astype(np.uint16).reshape(20, 30)
        for one in (before, after)
    )
    near = np.all([abs(one - other) <= 1 for one, other in zip(before, after, strict=True)], axis=0)
    assert (settle(old, new) == np.where(near.reshape(20, 30), old, new)).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.1, 0.6, 1.0]))
def test_holes_among_changes_have_the_style_of_the_ground(seed: int, share: float) -> None:
    dice = np.random.default_rng(seed)
    before, after = (Cells.of_pixels(picture(6, 20, int(dice.integers(1 << 30)), 3)) for _ in "ab")
    for cells in (before, after):
        holes = dice.random((6, 20)) < 0.4
        cells.glyph[holes] = HOLE
    # Longer than any one record of a cell.
    ground = "\x1b[1;3;4;9m\x1b[38;2;250;251;252m\x1b[48;2;101;102;103m"
    screen, stream = terminal(20, 6)
    for row, text in enumerate(row_texts(before, TRUE, hole=ground)):
        stream.feed(f"\x1b[{row + 1};1H" + text)
    changed = after.differs(before) & (dice.random((6, 20)) < share)
    stream.feed(changed_text(after, changed, TRUE, x=0, y=0, hole=ground))
    for row in range(6):
        for column in range(20):
            cells = after if changed[row, column] else before
            shown = screen.buffer[row][column]
            if cells.glyph[row, column] == HOLE:
                assert (shown.data, shown.bg, shown.bold) == (" ", "656667", True)
            else:
                assert shown.bg == hexed(int(cells.paper[row, column]))
                assert cells.glyph[row, column] != HALF or shown.fg == hexed(
                    int(cells.ink[row, column])
                )


def test_only_cells_that_look_different_differ() -> None:
    one, other = Cells.of_pixels(picture(5, 8, 1)), Cells.of_pixels(picture(5, 8, 1))
    assert not one.differs(other).any()
    other.mark(3, 2, "7", ink=1, paper=2)
    assert one.differs(other).nonzero() == ([3], [2])
    one.mark(3, 2, "8", ink=1, paper=2)
    assert one.differs(other).nonzero() == ([3], [2])
    assert HALF != HOLE


def test_terminals_of_256_colours_get_their_own_numbers() -> None:
    cells = Cells.of_pixels(np.array([[pack(255, 0, 0)], [0]], dtype=np.uint16))
    [text] = row_texts(cells, codes(False))
    assert "38;5;196" in text
    assert "48;5;16m" in text
    assert "38;2" not in text
