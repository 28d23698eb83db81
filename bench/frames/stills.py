"""A phone that rests, drawn as an image: bytes and CPU of one, by kitty's protocol and by sixel.

The peers draw the same picture to the same cells, each as its library does by itself: textual-image
sends a PNG in chunks, term-image compressed pixels, chafa.py bare ones; here the terminal reads
kitty's images from shared memory, which only a terminal on this machine can.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import chafa
import numpy as np
import term_image.image.common as term_image_common
from PIL import Image
from rich.console import Console
from term_image.image import KittyImage
from textual.geometry import Region
from textual_image._terminal import CellSize, get_cell_size
from textual_image.renderable.sixel import Image as SixelOfTextualImage
from textual_image.renderable.tgp import Image as KittyOfTextualImage

from agent.records import FrameSource, FrameStatus, LiveFrame
from bench.frames.scenes import HEIGHT, WIDTH, Rgb, decoded
from console.frames.images import Images, KittyImages, Place, SixelImages

Draw = Callable[[Rgb], int]  # Draws a picture; returns how many bytes go to the terminal.
CELL_PX = (8, 16)
GRIDS = ((20, 22), (45, 50), (90, 100))
SCENES = ("list", "feed")
ROUNDS = 8
OURS = "ours"


class Cost(NamedTuple):
    cpu_ms: float
    size: float  # Bytes to the terminal.


def measure(protocol: str, scene: str, grid: tuple[int, int]) -> dict[str, Cost]:
    """Draw a scene's pictures by every library in turn, so that all meet the same machine.

    Args:
        protocol: kitty or sixel.
        scene: of `bench.frames.scenes`.
        grid: columns and rows that the image covers.

    Returns:
        By library: the least CPU (user and system) of one picture, and the mean of its bytes.
    """
    frames = decoded(scene)[:: 60 // ROUNDS]
    pictures = [np.asarray(frame.to_ndarray(format="rgb24"), np.uint8) for frame in frames]
    with _drawing(protocol, grid) as every:
        cpu_ms: dict[str, list[float]] = {name: [] for name in every}
        sizes: dict[str, list[int]] = {name: [] for name in every}
        for picture in pictures:
            for name, draw in every.items():
                began_s = time.process_time()
                size = draw(picture)
                cpu_ms[name].append((time.process_time() - began_s) * 1000)
                sizes[name].append(size)
    return {name: Cost(min(cpu_ms[name]), sum(sizes[name]) / len(sizes[name])) for name in every}


@contextmanager
def _drawing(protocol: str, grid: tuple[int, int]) -> Iterator[dict[str, Draw]]:
    # There is no terminal to ask: every library is told how large a cell is.
    get_cell_size._result = CellSize(*CELL_PX)
    term_image_common.get_cell_size = lambda: CELL_PX
    KittyImage.forced_support = True
    ours: Images = KittyImages(1) if protocol == "kitty" else SixelImages()
    every: dict[str, Draw] = {
        "textual-image": _of_textual_image(protocol, grid),
        "chafa.py": _of_chafa(protocol, grid),
        OURS: _of_ours(ours, grid),
    }
    if protocol == "kitty":
        every["term-image"] = _of_term_image(grid)
    try:
        yield every
    finally:
        ours.forget()


def _of_ours(images: Images, grid: tuple[int, int]) -> Draw:
    place = Place(0, 0, grid, (Region(0, 0, *grid),))

    def draw(rgb: Rgb) -> int:
        frame = LiveFrame(
            serial="phone",
            width_px=WIDTH,
            height_px=HEIGHT,
            rgb=rgb.tobytes(),
            captured_ms=0,
            source=FrameSource.SCRCPY,
            status=FrameStatus.LIVE,
        )
        return len(images.text(frame, CELL_PX, place).encode())

    return draw


def _of_textual_image(protocol: str, grid: tuple[int, int]) -> Draw:
    kind = KittyOfTextualImage if protocol == "kitty" else SixelOfTextualImage

    def draw(rgb: Rgb) -> int:
        # Its kitty images go to the standard output by themselves, past whoever prints.
        past = io.StringIO()
        before, sys.__stdout__ = sys.__stdout__, past  # type: ignore[misc, assignment]
        console = Console(
            file=io.StringIO(), force_terminal=True, color_system="truecolor", width=grid[0]
        )
        try:
            with console.capture() as capture:
                console.print(kind(Image.fromarray(rgb), width=grid[0], height=grid[1]), end="")
        finally:
            sys.__stdout__ = before  # type: ignore[misc]
        return len((past.getvalue() + capture.get()).encode())

    return draw


def _of_term_image(grid: tuple[int, int]) -> Draw:
    return lambda rgb: len(str(KittyImage(Image.fromarray(rgb), width=grid[0])).encode())


def _of_chafa(protocol: str, grid: tuple[int, int]) -> Draw:
    config = chafa.CanvasConfig()
    config.width, config.height = grid
    config.cell_width, config.cell_height = CELL_PX
    config.canvas_mode = chafa.CanvasMode.CHAFA_CANVAS_MODE_TRUECOLOR
    modes = chafa.PixelMode
    config.pixel_mode = (
        modes.CHAFA_PIXEL_MODE_KITTY if protocol == "kitty" else modes.CHAFA_PIXEL_MODE_SIXELS
    )
    terminal = _terminal("xterm-kitty" if protocol == "kitty" else "mlterm")

    def draw(rgb: Rgb) -> int:
        canvas = chafa.Canvas(config)
        canvas.draw_all_pixels(
            chafa.PixelType.CHAFA_PIXEL_RGB8, rgb.tobytes(), WIDTH, HEIGHT, WIDTH * 3
        )
        return len(canvas.print(terminal))

    return draw


def _terminal(name: str) -> chafa.TermInfo:
    """Return what chafa knows of a terminal; it reads its name from the environment."""
    before = os.environ.get("TERM")
    os.environ["TERM"] = name
    try:
        return chafa.TermDb().detect()
    finally:
        if before is None:
            del os.environ["TERM"]
        else:
            os.environ["TERM"] = before
