"""Pictures that rest as images: what a terminal that draws them shows, pixel by pixel."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.console.seats.image_terminal import CELL, ImageTerminal
from tests.console.seats.still_stage import frame
from tests.staged import StagedApp

COLUMNS, ROWS = 80, 24
MEMORY = Path("/dev/shm")


class Stage(StagedApp):
    """The app of `still_stage` before a terminal that draws images and answers what it is asked."""

    def __init__(self, pictures: str, terminal: ImageTerminal, **environ: str) -> None:
        self.terminal = terminal
        super().__init__(
            "tests.console.seats.still_stage",
            pictures,
            write=self._drawn,
            size=(ROWS, COLUMNS, COLUMNS * CELL[0], ROWS * CELL[1]),
            **environ,
        )
        self.answer()

    def type(self, text: bytes) -> None:
        """Press keys, or answer."""
        os.write(self.master, text)

    def _drawn(self, text: bytes) -> None:
        self.terminal.feed(text)
        if self.terminal.answers:
            os.write(self.master, self.terminal.answers)
            self.terminal.answers = b""


Open = Callable[..., Stage]


@pytest.fixture
def opened() -> Iterator[Open]:
    stages: list[Stage] = []

    def open_one(pictures: str, terminal: ImageTerminal | None = None, **environ: str) -> Stage:
        stages.append(Stage(pictures, terminal or ImageTerminal(COLUMNS, ROWS), **environ))
        return stages[-1]

    yield open_one
    for stage in stages:
        stage.close()


def place_of(answer: dict[str, Any]) -> set[tuple[int, int]]:
    x, y, wide, high = answer["place"]
    return {(row, column) for row in range(y, y + high) for column in range(x, x + wide)}


def show(stage: Stage, order: str = "f") -> dict[str, Any]:
    """Have a picture shown and wait until its image covers every cell of it."""
    answer = stage.do(order)
    blue = answer["number"] * 50
    stage.until(
        lambda: (
            stage.terminal.image_cells().keys() == place_of(answer)
            and all(is_near(cell[..., 2], blue) for cell in stage.terminal.image_cells().values())
        ),
        f"image {answer['number']}",
    )
    return answer


def is_near(blue: Any, wanted: int) -> bool:
    return bool(abs(blue.astype(int).mean() - wanted) < 26)


def drawn(stage: Stage, answer: dict[str, Any]) -> np.ndarray:
    """Put the image on the terminal together."""
    x, y, wide, high = answer["place"]
    cells = stage.terminal.image_cells()
    lines = [[cells[row, column] for column in range(x, x + wide)] for row in range(y, y + high)]
    return np.concatenate([np.concatenate(line, axis=1) for line in lines], axis=0)


def wanted(answer: dict[str, Any]) -> np.ndarray:
    _, _, wide, high = answer["place"]
    picture = frame(answer["number"], wide * CELL[0], high * CELL[1])
    shape = (picture.height_px, picture.width_px, 3)
    return np.frombuffer(picture.rgb, dtype=np.uint8).reshape(shape)


def left_in_memory(stage: Stage) -> list[Path]:
    return [*MEMORY.glob(f"switchboard-{stage.process.pid}-*")]


# --- kitty's protocol ----------


def test_a_resting_picture_is_the_picture_pixel_by_pixel_by_kittys_protocol(opened: Open) -> None:
    stage = opened("auto")
    answer = show(stage)
    assert (drawn(stage, answer) == wanted(answer)).all()
    assert stage.terminal.asked[:2] == ["DA1", "kitty q"]
    # Another picture takes its place.
    answer = show(stage)
    assert (drawn(stage, answer) == wanted(answer)).all()
    assert len(stage.terminal.images) == 1
    assert left_in_memory(stage) == []


def test_no_image_is_left_where_something_lies_over_a_picture_or_it_is_gone(opened: Open) -> None:
    stage = opened("kitty")
    answer = show(stage)
    for order, undo, text in (
        ("o", "o", "an overlay"),
        ("m", "c", "a dialog"),
        ("h", "h", ""),
        ("z", "?", "the other program"),
    ):
        ghosts: list[str] = []

        def is_gone(order: str = order, text: str = text, ghosts: list[str] = ghosts) -> bool:
            shown = any(text in line for line in stage.terminal.lines)
            if shown and text and stage.terminal.image_cells():
                ghosts.append(order)
            return shown and not stage.terminal.image_cells()

        os.write(stage._tell, order.encode())
        stage.until(is_gone, "the image to go")
        assert ghosts == []
        # The other program holds the app up until it is told to end.
        os.write(stage._tell, undo.encode())
        stage.answer()
        stage.answer()
        # It comes back by itself.
        stage.until(lambda: stage.terminal.image_cells().keys() == place_of(answer), "the image")


def test_an_image_moves_with_its_picture(opened: Open) -> None:
    stage = opened("kitty")
    before = show(stage)
    stage.do("w")
    after = stage.do("?")
    assert after["place"] != before["place"]
    stage.until(lambda: stage.terminal.image_cells().keys() == place_of(after), "the image")
    assert (drawn(stage, after) == wanted(after)).all()


def test_numbers_of_elements_stay_readable_over_an_image(opened: Open) -> None:
    stage = opened("kitty")
    answer = show(stage)
    x, y, wide, high = answer["place"]
    marked = {(y + int(0.55 * high), x + int(0.2 * wide))}
    stage.do("e")
    stage.until(
        lambda: stage.terminal.image_cells().keys() == place_of(answer) - marked,
        "the image around the number",
    )
    [(row, column)] = marked
    assert stage.terminal.screen.buffer[row][column].data == "7"
    cells, whole = stage.terminal.image_cells(), wanted(answer)
    for (row, column), cell in cells.items():
        top, left = (row - y) * CELL[1], (column - x) * CELL[0]
        assert (cell == whole[top : top + CELL[1], left : left + CELL[0]]).all()


def test_nothing_is_left_on_the_terminal_or_in_memory_at_the_end(opened: Open) -> None:
    stage = opened("kitty")
    show(stage)
    os.write(stage._tell, b"q")
    stage.until(lambda: stage.process.poll() is not None, "the end")
    stage.until(lambda: not stage.terminal.images, "the image to be deleted")
    assert stage.terminal.places == {}
    assert left_in_memory(stage) == []


# --- where there are none ----------


def test_a_terminal_that_does_not_read_our_memory_gets_cells(opened: Open) -> None:
    stage = opened("kitty", ImageTerminal(COLUMNS, ROWS, reads_memory=False))
    stage.until(lambda: "kitty q" in stage.terminal.asked, "the question")
    stage.do("f")
    stage.until(lambda: not left_in_memory(stage), "the memory to be let go")
    assert stage.do("?")["drawn_as"] == "cells"
    assert stage.terminal.asked == ["DA1", "kitty q"]


def test_within_tmux_nothing_is_asked(opened: Open) -> None:
    stage = opened("kitty", TMUX="/tmp/tmux,1,0")
    stage.do("f")
    assert stage.terminal.asked == []
    assert stage.terminal.images == {}


def test_answers_are_no_keys_and_keys_beside_them_are(opened: Open) -> None:
    stage = opened("kitty", ImageTerminal(COLUMNS, ROWS, attributes="62;4;22;28;42;" + "9;" * 20))
    show(stage)
    stage.type(b"a\x1b[?62;22c\x1b_Gi=1;OK\x1b\\b\x1b")
    pressed: list[str] = []
    stage.until(lambda: pressed.extend(stage.do("?")["pressed"]) or "escape" in pressed, "the keys")
    assert pressed[-3:] == ["a", "b", "escape"]
    assert set(pressed) == {"a", "b", "escape"}


# --- sixel ----------


def sixel_terminal() -> ImageTerminal:
    return ImageTerminal(COLUMNS, ROWS, attributes="62;4;22")


def test_a_resting_picture_is_near_the_picture_by_sixel_where_that_is_wanted(opened: Open) -> None:
    stage = opened("sixel", sixel_terminal())
    answer = show(stage)
    assert stage.terminal.asked == ["XTSMGRAPHICS", "DA1"]
    shown, whole = drawn(stage, answer).astype(int), wanted(answer).astype(int)
    # A dot is one of the two colours around it, 51 apart, and many together are the colour.
    assert np.abs(shown - whole).max() <= 51
    squares = (shown - whole)[: 16 * 18, : 8 * 24].reshape(18, 16, 24, 8, 3).mean(axis=(1, 3))
    assert np.abs(squares).max() < 12
    # Text aside leaves it where it is.
    sent = stage.terminal.sixel
    stage.do("a")
    stage.until(lambda: "aside 1" in stage.terminal.lines[0], "the text")
    assert stage.terminal.sixel is sent and sent.keys() == place_of(answer)
    # And it is drawn anew once a dialog has been over it.
    stage.do("m")
    stage.until(lambda: not stage.terminal.sixel, "the image to go")
    stage.do("c")
    stage.until(lambda: stage.terminal.sixel.keys() == place_of(answer), "the image")


def test_numbers_are_readable_where_a_terminal_paints_what_an_image_leaves_out(
    opened: Open,
) -> None:
    stage = opened("sixel", ImageTerminal(COLUMNS, ROWS, attributes="62;4", paints_all=True))
    answer = show(stage)
    x, y, wide, high = answer["place"]
    marked = {(y + int(0.55 * high), x + int(0.2 * wide))}
    stage.do("e")
    stage.until(lambda: stage.terminal.sixel.keys() == place_of(answer) - marked, "the number")
    [(row, column)] = marked
    assert stage.terminal.screen.buffer[row][column].data == "7"


def test_an_overlay_has_no_part_of_a_sixel_image_beside_it(opened: Open) -> None:
    stage = opened("sixel", sixel_terminal())
    show(stage)
    stage.do("o")
    stage.until(
        lambda: (
            not stage.terminal.sixel and any("an overlay" in line for line in stage.terminal.lines)
        ),
        "cells around the overlay",
    )


def test_no_sixel_is_sent_to_a_terminal_that_does_not_say_it_draws_it(opened: Open) -> None:
    stage = opened("sixel")
    stage.until(lambda: "DA1" in stage.terminal.asked, "the question")
    stage.do("f")
    # Its answer has been read before this key.
    stage.type(b"k")
    stage.until(lambda: "k" in stage.do("?")["pressed"], "the key")
    assert stage.do("?")["drawn_as"] == "cells"
    assert stage.terminal.sixel == {}
