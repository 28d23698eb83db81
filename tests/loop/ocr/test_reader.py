"""Frames are read in a thread, once each, within a bound; the engine itself is the extra's."""

import asyncio
import io
import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent.loop.ocr.reader import Line, TextReader


def frame(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (200, 400), colour).save(out, "PNG")
    return out.getvalue()


def reader(*lines: Line, patience_s: float = 30.0) -> tuple[TextReader, list[tuple[int, ...]]]:
    looks: list[tuple[int, ...]] = []

    def engine(pixels: NDArray[np.uint8]) -> Iterable[Line]:
        looks.append(pixels.shape)
        return lines

    return TextReader(lambda: engine, patience_s=patience_s), looks


async def test_what_is_read_has_its_place_as_shares_of_the_picture() -> None:
    ocr, looks = reader(((20, 100, 120, 140), "START\nGAME", 0.9))
    found = await ocr.read(frame("white"))
    assert found is not None
    [line] = found
    assert line.text == "START GAME"
    assert (line.bounds.left, line.bounds.bottom) == (0.1, 0.35)
    assert looks == [(400, 200, 3)]
    pressed = line.node("org.game")
    assert pressed.clickable
    assert pressed.package == "org.game"


async def test_unsure_lines_and_the_status_bar_are_left_out() -> None:
    ocr, _ = reader(((0, 0, 40, 10), "12:00", 1.0), ((0, 200, 40, 220), "smudge", 0.3))
    assert await ocr.read(frame("white")) == ()


async def test_the_same_frame_is_read_once_and_what_is_no_picture_not_at_all() -> None:
    ocr, looks = reader()
    await asyncio.gather(ocr.read(frame("red")), ocr.read(frame("red")))
    await ocr.read(frame("red"))
    await ocr.read(frame("blue"))
    assert await ocr.read(b"no picture") == ()
    assert len(looks) == 2


async def test_a_reading_that_takes_long_is_not_waited_for_and_serves_the_next_look() -> None:
    may_end = threading.Event()

    def slow(_pixels: NDArray[np.uint8]) -> Iterable[Line]:
        may_end.wait(30)
        return [((0, 100, 40, 120), "late", 1.0)]

    impatient = TextReader(lambda: slow, patience_s=0.01)
    assert await impatient.read(frame("white")) is None
    may_end.set()
    async with asyncio.timeout(30):
        while (found := await impatient.read(frame("white"))) is None:
            pass
    assert [line.text for line in found] == ["late"]
