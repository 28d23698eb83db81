"""Draw on a frame: the numbers of elements for a model that sees, or what an action would touch.

Not the frame (that is the device's) and not its store. Invariants: a picture for a model is no
larger than it can use; what the redactor took out of an element's text is covered in its picture
too; bytes that are no picture give none, never an error.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agent.records import Bounds, Element, Point
from agent.safety.secrets import is_secret_field

if TYPE_CHECKING:
    from PIL.Image import Image

LONG_EDGE_PX = 1568
SHORT_EDGE_PX = 768
"""What the providers scale a picture down to by themselves: OpenAI to a short edge of 768,
Anthropic to a long edge of 1568. More would cost time and tokens and show nothing."""
JPEG_QUALITY = 80
MEDIA_TYPE = "image/jpeg"
_MAX_PIXELS = 64_000_000
_COLOURS = ("#e6194b", "#0057d9", "#008a3e", "#b45f06", "#7a1fa2", "#00796b")
_REDACTED = re.compile(r"\[(?:CARD|SSN|CVV|PASSWORD|KEY) REDACTED\]|\[(?:PHONE|EMAIL) \*\*\*\]")
_COVER = "#808080"
_TAG_PX = 20
_RING_PX = 34
_BLACK = 4


class Marked(NamedTuple):
    """A frame as a model gets it."""

    data: bytes | None
    """JPEG; None when the bytes are no picture."""
    is_black: bool = False
    """Whether it shows nothing at all, as a screen does that forbids pictures."""


def marked(data: bytes, elements: Sequence[Element]) -> Marked:
    """Scale a frame for a model and write each usable element's number on it.

    Blocks for tens of milliseconds: call it in a thread. To decode and scale is most of that, so it
    is done once for all that is asked of the picture.
    """
    picture = _scaled(data)
    if picture is None:
        return Marked(None)
    is_black = sum(picture.convert("L").histogram()[_BLACK + 1 :]) == 0
    return Marked(_numbered(picture, elements), is_black)


def _numbered(picture: Image, elements: Sequence[Element]) -> bytes:
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(_TAG_PX - 4)
    width, height = picture.size
    for element in elements:
        if _REDACTED.search(element.label + element.value) or (
            element.editable and is_secret_field(element)
        ):
            draw.rectangle(_box(element.bounds, width, height), fill=_COVER)
    for element in elements:
        if not (element.clickable or element.editable or element.checkable):
            continue
        colour = _COLOURS[element.number % len(_COLOURS)]
        left, top, right, bottom = _box(element.bounds, width, height)
        draw.rectangle((left, top, right, bottom), outline=colour, width=2)
        label = str(element.number)
        tag = (left, top, left + draw.textlength(label, font) + 6, top + _TAG_PX)
        draw.rectangle(tag, fill=colour)
        draw.text((left + 3, top), label, fill="white", font=font)
    return _encoded(picture, "JPEG")


def intended(data: bytes, bounds: Bounds | None, point: Point | None) -> bytes | None:
    """Draw what an action would touch: the element's outline and a ring at the point, as PNG.

    Blocks; None when the bytes are no picture.
    """
    picture = _scaled(data)
    if picture is None:
        return None
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    width, height = picture.size
    if bounds is not None:
        draw.rectangle(_box(bounds, width, height), outline=_COLOURS[0], width=4)
    if point is not None:
        x, y = point.x * width, point.y * height
        for radius in (_RING_PX, 6):
            draw.ellipse(
                (x - radius, y - radius, x + radius, y + radius), outline=_COLOURS[1], width=4
            )
    return _encoded(picture, "PNG")


def _scaled(data: bytes) -> Image | None:
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(data))
        if picture.width * picture.height > _MAX_PIXELS:
            return None
        short, long = sorted(picture.size)
        share = min(1.0, SHORT_EDGE_PX / short, LONG_EDGE_PX / long)
        size = (max(round(picture.width * share), 1), max(round(picture.height * share), 1))
        return picture.convert("RGB").resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        ZeroDivisionError,
        Image.DecompressionBombError,
    ):
        return None


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
