"""Draw what a film shows on and under a frame: touches, ways, typed text, and a caption.

With Pillow. Invariant: a caption is whole in its lines, or ends with an ellipsis; a letter that the
font has not is drawn as its nearest ASCII, never as an empty box.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from math import atan2, cos, sin
from typing import TYPE_CHECKING, NamedTuple

from agent.records import Point
from console.report.gestures import Gesture

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = FreeTypeFont | ImageFont

BANNER_PX = 78  # Under a frame of 360 px: a small line and two large ones.
_EDGE_PX = 10
_SMALL_PX, _LARGE_PX = 12, 17
_PAPER, _INK, _DIM = (14, 17, 21), (236, 240, 244), (139, 150, 163)
_TOUCH, _HALO = (214, 51, 92), (255, 255, 255)
_BOX = (255, 198, 92)
_FONTS = ("DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Helvetica.ttc")
_ELLIPSIS = "…"
_RING_PX = 13


class Caption(NamedTuple):
    """What stands under a frame."""

    head: str  # Which step, and when.
    body: str  # What is done.


def draw_caption(canvas: Picture, top: int, caption: Caption) -> None:
    """Write a caption from a row of a canvas on, in its width."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(canvas)
    room = canvas.width - 2 * _EDGE_PX
    draw.rectangle((0, top, canvas.width, canvas.height), fill=_PAPER)
    small, large = _font(_SMALL_PX), _font(_LARGE_PX)
    [head] = _lines(caption.head, small, room, 1) or [""]
    draw.text((_EDGE_PX, top + 8), head, font=small, fill=_DIM)
    for at, line in enumerate(_lines(caption.body, large, room, 2)):
        draw.text((_EDGE_PX, top + 26 + at * 23), line, font=large, fill=_INK)


def draw_gestures(canvas: Picture, size: tuple[int, int], gestures: Sequence[Gesture]) -> None:
    """Draw touches over the frame of a size (width, height) at the canvas's top left corner."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(canvas)
    for gesture in gestures:
        if (box := gesture.box) is not None:
            left, top = _px(Point(x=box.left, y=box.top), size)
            right, bottom = _px(Point(x=box.right, y=box.bottom), size)
            if right > left and bottom > top:
                draw.rounded_rectangle((left, top, right, bottom), 6, outline=_BOX, width=3)
        places = [_px(at, size) for at in gesture.way]
        if gesture.is_way and len(places) > 1:
            _draw_way(draw, places)
            continue
        for at in places:
            if not gesture.typed:
                _draw_ring(draw, at)
        if gesture.typed:
            _draw_typed(draw, gesture.typed, places[0], size)


def _draw_ring(draw: ImageDraw, at: tuple[int, int]) -> None:
    x, y = at
    for radius, fill in ((_RING_PX + 2, _HALO), (_RING_PX, _TOUCH), (_RING_PX - 5, _HALO)):
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)
    draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=_TOUCH)


def _draw_way(draw: ImageDraw, places: list[tuple[int, int]]) -> None:
    for width, fill in ((10, _HALO), (6, _TOUCH)):
        draw.line(places, fill=fill, width=width, joint="curve")
    (from_x, from_y), (x, y) = places[-2], places[-1]
    angle = atan2(y - from_y, x - from_x)
    for reach, fill in ((24, _HALO), (18, _TOUCH)):
        tip = (x + cos(angle) * reach * 0.6, y + sin(angle) * reach * 0.6)
        sides = [
            (tip[0] - cos(angle + turn) * reach, tip[1] - sin(angle + turn) * reach)
            for turn in (0.55, -0.55)
        ]
        draw.polygon([tip, *sides], fill=fill)
    x, y = places[0]
    draw.ellipse((x - 8, y - 8, x + 8, y + 8), fill=_TOUCH, outline=_HALO, width=2)


def _draw_typed(draw: ImageDraw, text: str, at: tuple[int, int], size: tuple[int, int]) -> None:
    font = _font(_LARGE_PX)
    [said] = _lines(f"“{text}”", font, size[0] - 40, 1) or [""]
    wide = round(font.getlength(said)) + 16
    left = max(4, min(size[0] - wide - 4, at[0] - wide // 2))
    top = max(4, min(size[1] - 34, at[1] - 15))
    draw.rounded_rectangle(
        (left, top, left + wide, top + 30), 8, fill=_TOUCH, outline=_HALO, width=2
    )
    draw.text((left + 8, top + 5), said, font=font, fill=_HALO)


def _px(at: Point, size: tuple[int, int]) -> tuple[int, int]:
    x, y = (min(1.0, max(0.0, share)) if share == share else 0.0 for share in (at.x, at.y))
    return round(x * (size[0] - 1)), round(y * (size[1] - 1))


def _lines(text: str, font: Font, room: int, most: int) -> list[str]:
    """Break a text into lines of a width in pixels; what has no room ends with an ellipsis."""
    words = _drawable(text).split()
    lines: list[str] = []
    while words and len(lines) < most:
        line = words.pop(0)
        while words and font.getlength(f"{line} {words[0]}") <= room:
            line = f"{line} {words.pop(0)}"
        if font.getlength(line) > room or (words and len(lines) == most - 1):
            ending = _drawable(_ELLIPSIS)
            while line and font.getlength(f"{line}{ending}") > room:
                line = line[:-1]
            line = f"{line.rstrip()}{ending}"
        lines.append(line)
    return lines


@lru_cache(maxsize=4)
def _font(size_px: int) -> Font:
    from PIL import ImageFont

    for name in _FONTS:
        try:
            return ImageFont.truetype(name, size_px)
        except OSError:
            continue
    return ImageFont.load_default(size_px)


def _drawable(text: str) -> str:
    return "".join(_letter(letter) for letter in text)


@lru_cache(maxsize=2_048)
def _letter(letter: str) -> str:
    """Return a letter that the font has; what it has not becomes ASCII."""
    if unicodedata.category(letter)[0] in "CZ":
        # A font cannot be asked for what is not drawn: the layout of some raises, as of U+2029.
        return " "
    if letter.isascii() or _has(letter):
        return letter
    known = {"“": '"', "”": '"', "…": "...", "→": "->", "–": "-", "—": "-", "·": "-"}
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return known.get(letter) or plain or "?"


def _has(letter: str) -> bool:
    font = _font(_LARGE_PX)
    return bytes(font.getmask(letter)) != bytes(font.getmask("\uffff"))
