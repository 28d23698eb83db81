"""From a picture of exactly grid size to terminal text, by each library and by us."""

from __future__ import annotations

import io
from collections.abc import Callable

import chafa
import climage
import numpy as np
from PIL import Image
from rich.console import Console
from rich_pixels import Pixels
from term_image import set_cell_ratio
from term_image.image import BlockImage
from textual_image.renderable import HalfcellImage

from bench.frames.scenes import Rgb
from widgets.cells.cell_text import changed_text, row_texts
from widgets.cells.cells import Cells
from widgets.cells.colour_codes import codes
from widgets.cells.rgb565 import Pixels565, settle, to_565

Encode = Callable[[Rgb, Image.Image], str]
CODES = codes(True)
PEERS = ("rich-pixels", "textual-image", "term-image", "climage", "chafa.py")
OURS, DIFF = "ours, whole", "ours, changes"


def encoders(columns: int, rows: int) -> dict[str, Encode]:
    set_cell_ratio(0.5)
    return {
        "rich-pixels": lambda _rgb, image: _printed(Pixels.from_image(image), columns),
        "textual-image": lambda _rgb, image: _printed(
            HalfcellImage(image, width=columns, height=rows), columns
        ),
        "term-image": lambda _rgb, image: str(BlockImage(image, width=columns)),
        "climage": lambda _rgb, image: climage.convert_pil(
            image, is_unicode=True, is_truecolor=True, is_256color=False, width=columns
        ),
        "chafa.py": _chafa(columns, rows),
        OURS: lambda rgb, _image: "\n".join(row_texts(Cells.of_pixels(to_565(rgb)), CODES)),
        DIFF: _Changes(columns, rows),
    }


class _Changes:
    """Only what changed since the last picture, noise of one step left out."""

    def __init__(self, columns: int, rows: int) -> None:
        self._cells = Cells(rows, columns)
        self._pixels: Pixels565 = np.zeros((rows * 2, columns), dtype=np.uint16)

    def __call__(self, rgb: Rgb, _image: Image.Image) -> str:
        self._pixels = settle(self._pixels, to_565(rgb))
        before, self._cells = self._cells, Cells.of_pixels(self._pixels)
        return changed_text(self._cells, self._cells.differs(before), CODES, x=0, y=0)


def _printed(renderable: object, columns: int) -> str:
    console = Console(
        file=io.StringIO(), force_terminal=True, color_system="truecolor", width=columns
    )
    with console.capture() as capture:
        console.print(renderable, end="")
    return capture.get()


def _chafa(columns: int, rows: int) -> Encode:
    config = chafa.CanvasConfig()
    config.width, config.height = columns, rows
    config.canvas_mode = chafa.CanvasMode.CHAFA_CANVAS_MODE_TRUECOLOR
    symbols = chafa.SymbolMap()
    symbols.add_by_tags(chafa.SymbolTags.CHAFA_SYMBOL_TAG_VHALF)
    config.set_symbol_map(symbols)
    config.work_factor = 0.0

    def encode(rgb: Rgb, _image: Image.Image) -> str:
        canvas = chafa.Canvas(config)
        canvas.draw_all_pixels(
            chafa.PixelType.CHAFA_PIXEL_RGB8, rgb.tobytes(), columns, rows * 2, columns * 3
        )
        printed: bytes = canvas.print(fallback=True)
        return printed.decode()

    return encode
