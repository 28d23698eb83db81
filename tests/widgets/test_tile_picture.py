"""One picture of the wall: in proportion, still against noise, honest when it is gone."""

from __future__ import annotations

from textual.geometry import Region

from agent.records import FrameSource, FrameStatus, LiveFrame
from widgets.cells import HOLE, LETTERS, Cells
from widgets.rgb565 import dimmed, pack
from widgets.tile_picture import STILL_S, TilePicture

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


def paste(picture: TilePicture, now_s: float, missing: str = "") -> Cells:
    cells = Cells(14, 16)
    picture.paste(cells, BOX, (10, 22), missing, now_s)
    return cells


def words(cells: Cells) -> str:
    return "".join(LETTERS[glyph] for row in cells.glyph for glyph in row)


def test_sizes_keep_proportions_and_are_whole_cells() -> None:
    assert TilePicture.size_px((20, 22), (1080, 2400)) == (20, 44)
    assert TilePicture.size_px((20, 22), (2400, 1080)) in ((20, 8), (20, 10))
    assert TilePicture.size_px((12, 13), (0, 0))[1] % 2 == 0


def test_noise_is_left_out_until_the_picture_rests_and_then_it_is_exact() -> None:
    picture = TilePicture()
    assert picture.take(frame(100))
    first = paste(picture, 0.0)
    assert picture.take(frame(104))
    held = paste(picture, 1.0)
    assert (held.paper == first.paper).all()
    assert not picture.may_rest(1.0 + STILL_S / 2)
    assert picture.may_rest(1.1 + STILL_S)
    picture.rest()
    exact = paste(picture, 1.2 + STILL_S)
    assert exact.paper[3, 5] == pack(104, 104, 104)
    assert not picture.may_rest(9.0)


def test_a_lost_phone_keeps_its_last_picture_dimmed_under_the_word() -> None:
    picture = TilePicture()
    picture.take(frame(200))
    live = paste(picture, 0.0)
    assert picture.take(frame(0, FrameStatus.LOST, empty=True))
    lost = paste(picture, 1.0)
    assert "lost" in words(lost)
    assert lost.paper[2, 4] == dimmed(live.paper)[2, 4] != live.paper[2, 4]
    assert not picture.take(frame(0, FrameStatus.LOST, empty=True)), "said already"
    assert picture.take(frame(200)), "back again"
    assert "lost" not in words(paste(picture, 2.0))


def test_without_a_picture_a_word_stands_in_its_place() -> None:
    cells = paste(TilePicture(), 0.0, missing="offline")
    assert "offline" in words(cells)
    assert (cells.glyph[0] == HOLE).all()
