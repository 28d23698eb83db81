"""Draw on a frame: the numbers of elements for a model that sees, or what an action would touch.

Not the frame (that is the device's), not its size (that is `agent.loop.images.scaling`) and not its
store. Invariants: what the redactor took out of an element's text is covered in its picture too;
the picture that is given stays as it is.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent.loop.images.scaling import MODE, scaled
from agent.loop.screen.elements import UNLABELED
from agent.records import Bounds, Element, Point
from agent.safety.redacting.redaction import TAKEN_OUT
from agent.safety.redacting.secrets import SECRET, is_secret_field

if TYPE_CHECKING:
    from PIL.Image import Image

JPEG_QUALITY = 80
MEDIA_TYPE = "image/jpeg"
_COLOURS = ("#e6194b", "#0057d9", "#008a3e", "#b45f06", "#7a1fa2", "#00796b")
_COVER = "#808080"
_WHITE = "#ffffff"
_TAG_PX = 20
_RING_PX = 34
_BLACK = 4

_Ink = tuple[int, int, int]


class Marked(NamedTuple):
    """A frame as a model gets it."""

    data: bytes | None
    """JPEG; None when there is no picture."""
    is_black: bool = False
    """Whether it shows nothing of the elements, as a screen does that forbids pictures."""


def marked(picture: Image | None, elements: Sequence[Element]) -> Marked:
    """Write each usable element's number on a scaled picture; None is no picture.

    Blocks for some milliseconds: call it in a thread.
    """
    if picture is None:
        return Marked(None)
    return Marked(_numbered(picture.copy(), elements), _is_black(picture, elements))


def _within(start: float, end: float, pixels: int) -> tuple[int, int]:
    """Return two edges as pixels of the picture, whatever a tree says."""
    return int(max(start, 0.0) * pixels), int(min(end, 1.0) * pixels)


def _is_black(picture: Image, elements: Sequence[Element]) -> bool:
    """Return whether there is nothing where the elements stand: bars and keyboard stay visible."""
    seen = [element.bounds for element in elements if element.label != UNLABELED]
    bright = picture.getchannel("Y")
    if seen:
        width, height = picture.size
        left, right = _within(min(b.left for b in seen), max(b.right for b in seen), width)
        top, bottom = _within(min(b.top for b in seen), max(b.bottom for b in seen), height)
        if left < right and top < bottom:
            bright = bright.crop((left, top, right, bottom))
    extrema = bright.getextrema()
    return extrema[1] <= _BLACK  # type: ignore[operator]


def _numbered(picture: Image, elements: Sequence[Element]) -> bytes:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    width, height = picture.size
    for element in elements:
        if _hides(element):
            draw.rectangle(_box(element.bounds, width, height), fill=_ink(_COVER))
    for element in elements:
        if not (element.clickable or element.editable or element.checkable):
            continue
        colour = _ink(_COLOURS[element.number % len(_COLOURS)])
        left, top, right, bottom = _box(element.bounds, width, height)
        draw.rectangle((left, top, right, bottom), outline=colour, width=2)
        digits = _digits(element.number)
        draw.rectangle((left, top, left + digits.width + 6, top + _TAG_PX), fill=colour)
        draw.bitmap((round(left) + 3, round(top)), digits, fill=_ink(_WHITE))
    return _encoded(picture, "JPEG")


def _hides(element: Element) -> bool:
    if element.editable and is_secret_field(element):
        return True
    # A long label is cut; what more it says is not.
    said = f"{element.label}\n{element.value}\n{element.more}"
    return SECRET in said or TAKEN_OUT.search(said) is not None


def intended(
    data: bytes, bounds: Bounds | None, point: Point | None, path: Sequence[Point] = ()
) -> bytes | None:
    """Draw what an action would touch, as PNG: the element's outline, a ring, the way of a finger.

    Blocks; None when the bytes are no picture.
    """
    picture = scaled(data)
    if picture is None:
        return None
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    width, height = picture.size
    if bounds is not None:
        draw.rectangle(_box(bounds, width, height), outline=_ink(_COLOURS[0]), width=4)
    if len(path) > 1:
        way = [(at.x * width, at.y * height) for at in path]
        draw.line(way, fill=_ink(_COLOURS[1]), width=4)
        x, y = way[-1]
        draw.ellipse((x - 8, y - 8, x + 8, y + 8), fill=_ink(_COLOURS[1]))
    if point is not None:
        x, y = point.x * width, point.y * height
        for radius in (_RING_PX, 6):
            ring = (x - radius, y - radius, x + radius, y + radius)
            draw.ellipse(ring, outline=_ink(_COLOURS[1]), width=4)
    return _encoded(picture.convert("RGB"), "PNG")


@lru_cache(maxsize=1024)
def _digits(number: int) -> Image:
    """Return a number as it is written, in grey on nothing, as high as a tag."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_TAG_PX - 4)
    text = str(number)
    written = Image.new("L", (round(font.getlength(text)), _TAG_PX), 0)
    ImageDraw.Draw(written).text((0, 0), text, fill=255, font=font)
    return written


@lru_cache
def _ink(colour: str) -> _Ink:
    """Return a colour as a picture of `MODE` has it."""
    from PIL import Image

    y, cb, cr = Image.new("RGB", (1, 1), colour).convert(MODE).tobytes()
    return y, cb, cr


def _box(bounds: Bounds, width: int, height: int) -> tuple[float, float, float, float]:
    left, right = sorted((_share(bounds.left), _share(bounds.right)))
    top, bottom = sorted((_share(bounds.top), _share(bounds.bottom)))
    return left * (width - 1), top * (height - 1), right * (width - 1), bottom * (height - 1)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _encoded(picture: Image, form: str) -> bytes:
    target = io.BytesIO()
    picture.save(target, form, quality=JPEG_QUALITY)
    return target.getvalue()
