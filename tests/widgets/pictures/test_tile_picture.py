"""One picture of the wall: in proportion, still against noise, honest when it is gone."""

import numpy as np
from textual.geometry import Region

from agent.records import FrameSource, FrameStatus, LiveFrame
from widgets.cells.blocks import Blocks
from widgets.cells.cells import HOLE, LETTERS, Cells
from widgets.cells.rgb565 import dimmed, pack
from widgets.wall.tile_picture import STILL_S, TilePicture, size_px
from widgets.wall.wall_canvas import WallCanvas

BOX = Region(2, 1, 10, 11)


def frame(level: int, status: FrameStatus = FrameStatus.LIVE, *, empty: bool = False) -> LiveFrame:
    return LiveFrame(
        serial="p",
        width_px=10,
        height_px=22,
        rgb=b"" if empty else bytes([level]) * (10 * 22 * 3),
        captured_ms=1,
        source=FrameSource.SCRCPY,
        status=status,
    )


class Wall:
    """One phone's picture on a canvas."""

    def __init__(self) -> None:
        self.picture = TilePicture()
        self.canvas = WallCanvas(16, 14, Blocks.HALF)

    def draw(self, now_s: float, missing: str = "", *, exact: bool = False) -> Cells:
        TilePicture.fit_all([(self.picture, size_px(BOX.size, (10, 22)))], now_s)
        word = missing or self.picture.word
        is_held = self.canvas.put(BOX, self.picture.pixels, word, exact=exact)
        self.picture.note_drawn(is_held=is_held)
        return self.canvas.draw()


def words(cells: Cells) -> str:
    return "".join(LETTERS[glyph] for row in cells.glyph for glyph in row)


def test_sizes_keep_proportions_and_are_whole_cells() -> None:
    assert size_px((20, 22), (1080, 2400)) == (20, 44)
    assert size_px((20, 22), (2400, 1080)) in ((20, 8), (20, 10))
    assert size_px((12, 13), (0, 0))[1] % 2 == 0


def test_noise_is_left_out_until_the_picture_rests_and_then_it_is_exact() -> None:
    wall = Wall()
    assert wall.picture.take(frame(100))
    first = wall.draw(0.0)
    assert wall.picture.take(frame(104))
    held = wall.draw(1.0)
    assert (held.paper == first.paper).all()
    assert not wall.picture.may_rest(1.0 + STILL_S / 2)
    assert wall.picture.may_rest(1.1 + STILL_S)
    exact = wall.draw(1.2 + STILL_S, exact=True)
    assert exact.paper[3, 5] == pack(104, 104, 104)
    assert not wall.picture.may_rest(9.0)


def test_a_lost_phone_keeps_its_last_picture_dimmed_under_the_word() -> None:
    wall = Wall()
    wall.picture.take(frame(200))
    live = wall.draw(0.0)
    assert wall.picture.take(frame(0, FrameStatus.LOST, empty=True))
    lost = wall.draw(1.0)
    assert "lost" in words(lost)
    assert lost.paper[2, 4] == dimmed(live.paper)[2, 4] != live.paper[2, 4]
    assert not wall.picture.take(frame(0, FrameStatus.LOST, empty=True)), "said already"
    assert wall.picture.take(frame(200)), "back again"
    assert "lost" not in words(wall.draw(2.0))


def test_without_a_picture_a_word_stands_in_its_place() -> None:
    cells = Wall().draw(0.0, missing="offline")
    assert "offline" in words(cells)
    assert (cells.glyph[0] == HOLE).all()


def test_a_picture_that_turns_leaves_nothing_of_the_last_one() -> None:
    canvas = WallCanvas(16, 14, Blocks.HALF)
    canvas.put(BOX, np.full((22, 10), pack(9, 200, 9), dtype=np.uint16), "")
    whole = canvas.draw()
    assert (whole.glyph[1:12, 2:12] != HOLE).all()
    assert not canvas.put(BOX, np.full((6, 10), pack(9, 9, 200), dtype=np.uint16), "")
    turned = canvas.draw()
    assert (turned.glyph[4:] == HOLE).all()
    assert (turned.paper[1:4, 2:12] == pack(9, 9, 200)).all()
    assert (whole.paper[1:4, 2:12] == pack(9, 200, 9)).all(), "what was drawn is not changed"


def test_pictures_packed_together_are_those_packed_alone() -> None:
    dice = np.random.default_rng(3)
    pictures = [TilePicture() for _ in range(5)]
    alone = []
    for picture in pictures:
        rgb = dice.integers(0, 256, (22, 10, 3), dtype=np.uint8)
        alone.append([[pack(*pixel) for pixel in line] for line in rgb.tolist()])
        picture.take(
            LiveFrame(
                serial="p",
                width_px=10,
                height_px=22,
                rgb=rgb.tobytes(),
                captured_ms=1,
                source=FrameSource.SCRCPY,
                status=FrameStatus.LIVE,
            )
        )
    TilePicture.fit_all([(picture, (10, 22)) for picture in pictures], 0.0)
    for picture, pixels in zip(pictures, alone, strict=True):
        assert picture.pixels is not None
        assert picture.pixels.tolist() == pixels


def test_a_tile_that_is_larger_than_the_wall_is_cut_off() -> None:
    canvas = WallCanvas(6, 4, Blocks.HALF)
    canvas.put(BOX, np.full((22, 10), 7, dtype=np.uint16), "lost")
    cells = canvas.draw()
    assert (cells.rows, cells.columns) == (4, 6)
    assert (cells.glyph[1:, 2:] != HOLE).any()
