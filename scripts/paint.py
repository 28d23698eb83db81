"""Paint a terminal screen as a PNG: cells of colour and letters; nothing is left to a browser.

Takes the strips of a Textual screen. The phone's half blocks are two rectangles a cell, so the
picture shows what a good terminal shows. Boxes and blocks are drawn as shapes: fonts leave gaps.
"""

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from textual.strip import Strip

CELL = (12, 25)
SIZE = 20
_Rgb = tuple[int, int, int]


def paint(strips: Iterable[Strip], *, ink: _Rgb, paper: _Rgb) -> Image.Image:
    """Paint lines of cells.

    Args:
        strips: one per line, all of the same length.
        ink: the colour of text that names none.
        paper: the colour behind everything.
    """
    lines = list(strips)
    width = max(strip.cell_length for strip in lines) * CELL[0]
    image = Image.new("RGB", (width, len(lines) * CELL[1]), paper)
    draw = ImageDraw.Draw(image)
    for row, strip in enumerate(lines):
        column = 0
        for segment in strip:
            if segment.control:
                continue
            style = segment.style or Style.null()
            fore, back = _colours(style, ink, paper)
            for letter in segment.text:
                cells = cell_len(letter)
                if cells:
                    _cell(draw, column, row, cells, letter, style, fore, back)
                column += cells
    return image


def _colours(style: Style, ink: _Rgb, paper: _Rgb) -> tuple[_Rgb, _Rgb]:
    fore, back = _rgb(style.color, ink), _rgb(style.bgcolor, paper)
    if style.reverse:
        fore, back = back, fore
    if style.dim:
        fore = tuple((f + b) // 2 for f, b in zip(fore, back, strict=True))  # type: ignore[assignment]
    return fore, back


def _rgb(color: Color | None, default: _Rgb) -> _Rgb:
    if color is None or color.is_default:
        return default
    return tuple(color.get_truecolor(DIMMED_MONOKAI))  # type: ignore[return-value]


def _cell(
    draw: ImageDraw.ImageDraw,
    column: int,
    row: int,
    cells: int,
    letter: str,
    style: Style,
    fore: _Rgb,
    back: _Rgb,
) -> None:
    left, top = column * CELL[0], row * CELL[1]
    right, bottom = left + cells * CELL[0], top + CELL[1]
    draw.rectangle((left, top, right - 1, bottom - 1), fill=back)
    if letter == " ":
        return
    if not _shape(draw, letter, left, top, right, bottom, fore):
        font = _font(bool(style.bold), bool(style.italic), letter)
        width = font.getlength(letter)
        if width > right - left:
            # A letter borrowed from a font of wider cells is drawn smaller, not cut off.
            font = font.font_variant(size=max(8, int(font.size * (right - left) / width)))
            width = font.getlength(letter)
        x = left + (right - left - width) / 2
        draw.text((x, top + CELL[1] - 6), letter, font=font, fill=fore, anchor="ls")
    if style.underline:
        draw.line((left, bottom - 3, right - 1, bottom - 3), fill=fore)


# What a letter fills of its cell, in eighths: left, top, right, bottom.
_BLOCKS = {
    "▀": (0, 0, 8, 4),
    "▄": (0, 4, 8, 8),
    "█": (0, 0, 8, 8),
    "▌": (0, 0, 4, 8),
    "▐": (4, 0, 8, 8),
    "▏": (0, 0, 1, 8),
    "▕": (7, 0, 8, 8),
    "▁": (0, 7, 8, 8),
    "▔": (0, 0, 8, 1),
    "▉": (0, 0, 7, 8),
    "▋": (0, 0, 5, 8),
    "▍": (0, 0, 3, 8),
    "▎": (0, 0, 2, 8),
    "▊": (0, 0, 6, 8),
}
# Which arms a line letter has: up, right, down, left; and how thick it is.
_LINES = {
    "─": ("rl", 1),
    "━": ("rl", 3),
    "│": ("ud", 1),
    "┃": ("ud", 3),
    "╭": ("rd", 1),
    "╮": ("ld", 1),
    "╰": ("ru", 1),
    "╯": ("lu", 1),
    "┌": ("rd", 1),
    "┐": ("ld", 1),
    "└": ("ru", 1),
    "┘": ("lu", 1),
    "├": ("urd", 1),
    "┤": ("uld", 1),
}


# Unicode 13: 2 × 3 blocks, but for those that have letters elsewhere.
_FIRST_SEXTANT, _LAST_SEXTANT = "\U0001fb00", "\U0001fb3b"
_LEFT_HALF, _RIGHT_HALF = 0b010101, 0b101010


def _sextant(
    draw: ImageDraw.ImageDraw, letter: str, left: int, top: int, right: int, bottom: int, fore: _Rgb
) -> None:
    bits = ord(letter) - ord(_FIRST_SEXTANT) + 1
    bits += (bits >= _LEFT_HALF) + (bits + 1 >= _RIGHT_HALF)
    across = (left, (left + right) // 2, right)
    down = [top + (bottom - top) * third // 3 for third in range(4)]
    for block in range(6):
        if bits >> block & 1:
            row, column = divmod(block, 2)
            box = (across[column], down[row], across[column + 1] - 1, down[row + 1] - 1)
            draw.rectangle(box, fill=fore)


def _shape(
    draw: ImageDraw.ImageDraw, letter: str, left: int, top: int, right: int, bottom: int, fore: _Rgb
) -> bool:
    if letter in _BLOCKS:
        a, b, c, d = _BLOCKS[letter]
        wide, high = right - left, bottom - top
        draw.rectangle(
            (
                left + wide * a // 8,
                top + high * b // 8,
                left + max(1, wide * c // 8) - 1,
                top + max(1, high * d // 8) - 1,
            ),
            fill=fore,
        )
        return True
    if _FIRST_SEXTANT <= letter <= _LAST_SEXTANT:
        _sextant(draw, letter, left, top, right, bottom, fore)
        return True
    if letter in _LINES:
        arms, thick = _LINES[letter]
        x, y, half = (left + right) // 2, (top + bottom) // 2, thick // 2
        ends = {
            "u": (x - half, top, x + half, y),
            "d": (x - half, y, x + half, bottom - 1),
            "l": (left, y - half, x, y + half),
            "r": (x, y - half, right - 1, y + half),
        }
        for arm in arms:
            draw.rectangle(ends[arm], fill=fore)
        return True
    return False


@lru_cache(maxsize=1)
def _files() -> tuple[Path, Path, list[Path]]:
    mono = Path(str(files("fontpkg_jetbrains_mono"))) / "files"
    noto = Path(str(files("manimgx_fonts")))
    cjk = Path(str(files("manimgx_fonts_cjk")))
    others = [
        *noto.glob("NotoSansSymbols*.ttf"),
        *noto.glob("NotoSans[[]*.ttf"),
        *cjk.glob("*.[ot]t[fc]"),
        *noto.glob("NotoEmoji*.ttf"),
        *noto.glob("NotoSans[A-Z]*.ttf"),
    ]
    upright = mono / "JetBrainsMono[wght].ttf"
    return upright, mono / "JetBrainsMono-Italic[wght].ttf", others


@lru_cache(maxsize=4096)
def _font(bold: bool, italic: bool, letter: str) -> ImageFont.FreeTypeFont:
    upright, slanted, others = _files()
    main = _load(slanted if italic else upright, bold)
    if _has(main, letter):
        return main
    for place in others:
        other = _load(place, bold=False)
        if _has(other, letter):
            return other
    return main


@lru_cache(maxsize=64)
def _load(place: Path, bold: bool) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(str(place), SIZE)
    if "[wght]" in place.name:
        font.set_variation_by_axes([700 if bold else 450])
    return font


@lru_cache(maxsize=4096)
def _has(font: ImageFont.FreeTypeFont, letter: str) -> bool:
    return bytes(font.getmask(letter)) != bytes(font.getmask("\U0010fffe"))
