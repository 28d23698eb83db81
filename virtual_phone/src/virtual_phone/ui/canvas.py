"""Draw antialiased shapes, icons and text on an RGB image, at the display's size or smaller.

Coordinates are display pixels; `scale` shrinks everything, text included, so a video frame is
drawn at its own size. No views here. Invariant: what is drawn stays inside the clip rectangle.
"""

import math
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter

from virtual_phone.display import fonts
from virtual_phone.ui import icons
from virtual_phone.ui.theme import Color, Theme
from virtual_phone.ui.views import Rect

SUPERSAMPLE = 4
MASKED_AREA = 4_000
"""Boxes below this many pixels are filled through one mask, larger ones in bands and corners."""
Radii = tuple[float, float, float, float]


_TURNS = (
    None,
    Image.Transpose.FLIP_LEFT_RIGHT,
    Image.Transpose.ROTATE_180,
    Image.Transpose.FLIP_TOP_BOTTOM,
)


@lru_cache(maxsize=512)
def _corner(radius: int, turn: int = 0) -> Image.Image:
    """Return a quarter of a disc as a mask: top left, then clockwise by `turn`."""
    how = _TURNS[turn]
    if how is not None:
        return _corner(radius).transpose(how)
    big = radius * SUPERSAMPLE
    mask = Image.new("L", (big, big), 0)
    ImageDraw.Draw(mask).ellipse((0, 0, 2 * big - 1, 2 * big - 1), fill=255)
    return mask.resize((radius, radius), Image.Resampling.BOX)


@lru_cache(maxsize=256)
def _rounded_mask(width: int, height: int, radii: tuple[int, int, int, int]) -> Image.Image:
    mask = Image.new("L", (width, height), 255)
    limit = min(width, height) // 2
    for turn, radius in enumerate(min(r, limit) for r in radii):
        if radius > 0:
            x = width - radius if turn in (1, 2) else 0
            y = height - radius if turn in (2, 3) else 0
            mask.paste(_corner(radius, turn), (x, y))
    return mask


@lru_cache(maxsize=256)
def _fading(alpha: int) -> list[int]:
    """Return what a mask's values become under a color of this opacity."""
    return [round(i * alpha / 255) for i in range(256)]


@lru_cache(maxsize=128)
def _gradient(size: int, top: Color, bottom: Color) -> Image.Image:
    ends = Image.new("RGB", (1, 2))
    ends.putpixel((0, 0), top[:3])
    ends.putpixel((0, 1), bottom[:3])
    return ends.resize((size, size), Image.Resampling.BILINEAR)


@lru_cache(maxsize=64)
def _shadow_mask(width: int, height: int, radius: int, blur: int) -> Image.Image:
    mask = Image.new("L", (width + 4 * blur, height + 4 * blur), 0)
    mask.paste(_rounded_mask(width, height, (radius,) * 4), (2 * blur, 2 * blur))
    return mask.filter(ImageFilter.GaussianBlur(blur))


@lru_cache(maxsize=1024)
def _icon_mask(name: str, size: int) -> Image.Image:
    return icons.mask(name, size)


@lru_cache(maxsize=1500, typed=True)
def _text_mask(
    text: str, size: float, weight: int
) -> tuple[Image.Image | None, tuple[tuple[Image.Image, int], ...], int]:
    """Return a line of text as a mask, its color glyphs with their places, and its ascent."""
    ascent = round(size * 1.05)
    height = round(size * 1.5)
    runs = fonts.runs(fonts.clean(text))
    widths = [
        size * fonts.BOX_WIDTH * len(run.text)
        if run.face is None
        else fonts.font(run.face, size, weight).getlength(run.text)
        for run in runs
    ]
    total = math.ceil(sum(widths)) + int(size) // 2
    mask = Image.new("L", (max(1, min(total, 8192)), height), 0)
    draw = ImageDraw.Draw(mask)
    colored: list[tuple[Image.Image, int]] = []
    x = 0.0
    for run, width in zip(runs, widths, strict=True):
        if x > 8192:
            break
        if run.face is None:
            _draw_unknown(draw, run.text, x, size, ascent)
        elif run.face.color:
            glyphs = Image.new("RGBA", (math.ceil(width) + int(size) // 4, height), (0, 0, 0, 0))
            ImageDraw.Draw(glyphs).text(
                (0, ascent),
                run.text,
                font=fonts.font(run.face, size, weight),
                anchor="ls",
                embedded_color=True,
                fill=(96, 96, 96, 255),
            )
            colored.append((glyphs, round(x)))
        else:
            draw.text(
                (x, ascent),
                run.text,
                font=fonts.font(run.face, size, weight),
                anchor="ls",
                fill=255,
            )
        x += width
    return mask, tuple(colored), ascent


def _draw_unknown(draw: ImageDraw.ImageDraw, text: str, x: float, size: float, ascent: int) -> None:
    """Draw the code point's digits in a box: no font of the phone has it."""
    step = size * fonts.BOX_WIDTH
    digits = fonts.font(fonts.LATIN, max(4, int(size) // 4), 400)
    for char in text:
        draw.rectangle((x + 1, ascent - size * 0.8, x + step - 2, ascent), outline=255)
        code = f"{ord(char):06X}" if ord(char) > 0xFFFF else f"{ord(char):04X}"
        half = len(code) // 2
        draw.text((x + step / 2, ascent - size * 0.58), code[:half], 255, digits, anchor="mm")
        draw.text((x + step / 2, ascent - size * 0.24), code[half:], 255, digits, anchor="mm")
        x += step


class Canvas:
    """An image of `width` × `height` display pixels, drawn at `scale`.

    Args:
        within: the part of the display that is drawn on; all of it by default.
    """

    def __init__(
        self, image: Image.Image, theme: Theme, scale: float = 1.0, within: Rect | None = None
    ) -> None:
        self.image = image
        self.theme = theme
        self.scale = scale
        self._within = within
        self._bounds = Rect(0, 0, image.width, image.height)
        if within is not None:
            self._bounds = self._scaled(within).intersect(self._bounds)
        self._clip = self._bounds

    @property
    def clip(self) -> Rect:
        """What is drawn on now, in pixels of the image."""
        return self._clip

    def color(self, role: str) -> Color:
        """Return a theme role as RGBA."""
        return self.theme.color(role)

    def clip_to(self, rect: Rect) -> None:
        """Limit what is drawn from now on to a rectangle."""
        self._clip = self._scaled(rect).intersect(self._bounds)

    def reaches(self, rect: Rect) -> bool:
        """Return whether any of a rectangle may be drawn on."""
        return self._within is None or not rect.intersect(self._within).empty

    def _scaled(self, rect: Rect) -> Rect:
        if self.scale == 1.0:
            return rect
        s = self.scale
        return Rect(
            round(rect.left * s), round(rect.top * s), round(rect.right * s), round(rect.bottom * s)
        )

    def length(self, pixels: float) -> int:
        """Return a length of display pixels in pixels of the image."""
        return round(pixels * self.scale)

    def _paste(self, mask: Image.Image, x: int, y: int, color: Color) -> None:
        """Lay a color through a mask whose corner stands at x, y of the image."""
        box = Rect(x, y, x + mask.width, y + mask.height)
        seen = box.intersect(self._clip)
        if seen.empty:
            return
        if seen != box:
            mask = mask.crop((seen.left - x, seen.top - y, seen.right - x, seen.bottom - y))
        if color[3] != 255:
            mask = mask.point(_fading(color[3]))
        self.image.paste(color[:3], (seen.left, seen.top, seen.right, seen.bottom), mask)

    def fill(self, rect: Rect, color: Color, radii: Radii = (0, 0, 0, 0)) -> None:
        """Fill a rectangle with rounded corners."""
        box = self._scaled(rect)
        seen = box.intersect(self._clip)
        if seen.empty or not color[3]:
            return
        rounded = tuple(self.length(r) for r in radii)
        if not any(rounded):
            if color[3] == 255:
                self.image.paste(color[:3], seen)
            else:
                self._paste(Image.new("L", (seen.width, seen.height), 255), *seen[:2], color)
            return
        small = box.width * box.height < MASKED_AREA
        if color[3] == 255 and not small and max(rounded) * 2 < min(box.width, box.height):
            self._fill_opaque(box, color, rounded)
            return
        tl, tr, br, bl = rounded
        mask = _rounded_mask(box.width, box.height, (tl, tr, br, bl))
        self._paste(mask, box.left, box.top, color)

    def _fill_opaque(self, box: Rect, color: Color, radii: tuple[int, ...]) -> None:
        """Fill a box with plain bands and its corners with masks: the cheap way for large boxes."""
        tl, tr, br, bl = radii
        top, bottom = max(tl, tr), max(bl, br)
        bands = (
            Rect(box.left, box.top + top, box.right, box.bottom - bottom),
            Rect(box.left + tl, box.top, box.right - tr, box.top + top),
            Rect(box.left + bl, box.bottom - bottom, box.right - br, box.bottom),
            Rect(box.left, box.top + tl, box.left + tl, box.top + top),
            Rect(box.right - tr, box.top + tr, box.right, box.top + top),
            Rect(box.left, box.bottom - bottom, box.left + bl, box.bottom - bl),
            Rect(box.right - br, box.bottom - bottom, box.right, box.bottom - br),
        )
        for band in bands:
            seen = band.intersect(self._clip)
            if not seen.empty:
                self.image.paste(color[:3], seen)
        places = (
            (tl, box.left, box.top),
            (tr, box.right - tr, box.top),
            (br, box.right - br, box.bottom - br),
            (bl, box.left, box.bottom - bl),
        )
        for turn, (radius, x, y) in enumerate(places):
            if radius:
                self._paste(_corner(radius, turn), x, y, color)

    def disc(self, rect: Rect, top: Color, bottom: Color) -> None:
        """Fill a disc with a gradient from top to bottom."""
        box = self._scaled(rect)
        size = min(box.width, box.height)
        seen = box.intersect(self._clip)
        if size < 2 or seen.empty:
            return
        area = (
            seen.left - box.left,
            seen.top - box.top,
            seen.right - box.left,
            seen.bottom - box.top,
        )
        half = size // 2
        mask = _rounded_mask(size, size, (half, half, half, half)).crop(area)
        self.image.paste(_gradient(size, top, bottom).crop(area), seen[:2], mask)

    def outline(self, rect: Rect, color: Color, radius: float, width: float) -> None:
        """Draw the edge of a rounded rectangle."""
        box = self._scaled(rect)
        if box.intersect(self._clip).empty:
            return
        thick = max(1, self.length(width))
        r = self.length(radius)
        mask = _rounded_mask(box.width, box.height, (r,) * 4).copy()
        if box.width > 2 * thick and box.height > 2 * thick:
            inner = _rounded_mask(
                box.width - 2 * thick, box.height - 2 * thick, (max(0, r - thick),) * 4
            )
            mask.paste(0, (thick, thick), inner)
        self._paste(mask, box.left, box.top, color)

    def shadow(self, rect: Rect, radius: float, elevation: float) -> None:
        """Draw the soft shadow of a raised box; elevation in display pixels."""
        box = self._scaled(rect)
        blur = max(1, self.length(elevation))
        if box.empty or box.height > 2000:
            return
        mask = _shadow_mask(box.width, box.height, self.length(radius), blur)
        self._paste(
            mask,
            box.left - 2 * blur,
            box.top - 2 * blur + self.length(elevation / 2),
            (0, 0, 0, 54),
        )

    def icon(self, name: str, rect: Rect, color: Color) -> None:
        """Draw a vector icon in a square."""
        box = self._scaled(rect)
        size = min(box.width, box.height)
        if size <= 0 or box.intersect(self._clip).empty:
            return
        mask = _icon_mask(name, size)
        self._paste(
            mask, box.left + (box.width - size) // 2, box.top + (box.height - size) // 2, color
        )

    def text(
        self, x: float, baseline: float, text: str, size: int, weight: int, color: Color
    ) -> None:
        """Draw one line of text from `x` on a baseline; size in display pixels."""
        if not text:
            return
        # Rounded, a line would be wider than its place, and lose its last letters.
        pixels = size if self.scale == 1 else max(1.0, size * self.scale)
        left, base = round(x * self.scale), round(baseline * self.scale)
        if base + pixels < self._clip.top or base - 2 * pixels > self._clip.bottom:
            return
        mask, colored, ascent = _text_mask(text[:1000], pixels, weight)
        if mask is not None:
            self._paste(mask, left, base - ascent, color)
        for glyphs, dx in colored:
            box = Rect(
                left + dx, base - ascent, left + dx + glyphs.width, base - ascent + glyphs.height
            )
            seen = box.intersect(self._clip)
            if seen.empty:
                continue
            part = glyphs.crop(
                (
                    seen.left - box.left,
                    seen.top - box.top,
                    seen.right - box.left,
                    seen.bottom - box.top,
                )
            )
            self.image.paste(part, (seen.left, seen.top), part)

    def picture(self, image: Image.Image, rect: Rect, radius: float = 0) -> None:
        """Draw an image into a rectangle, its corners rounded."""
        box = self._scaled(rect)
        seen = box.intersect(self._clip)
        if seen.empty:
            return
        if image.size != (box.width, box.height):
            image = image.resize((box.width, box.height), Image.Resampling.BILINEAR)
        r = self.length(radius)
        area = (
            seen.left - box.left,
            seen.top - box.top,
            seen.right - box.left,
            seen.bottom - box.top,
        )
        part = image.crop(area)
        mask = _rounded_mask(box.width, box.height, (r,) * 4).crop(area) if r else None
        if part.mode == "RGBA":
            self.image.paste(part, (seen.left, seen.top), part)
        else:
            self.image.paste(part, (seen.left, seen.top), mask)

    def polygon(self, points: list[tuple[float, float]], color: Color) -> None:
        """Fill a polygon, antialiased; points in display pixels."""
        s = self.scale
        xs, ys = [p[0] * s for p in points], [p[1] * s for p in points]
        left, top = math.floor(min(xs)), math.floor(min(ys))
        width, height = math.ceil(max(xs)) - left + 1, math.ceil(max(ys)) - top + 1
        if Rect(left, top, left + width, top + height).intersect(self._clip).empty:
            return
        mask = Image.new("L", (width * SUPERSAMPLE, height * SUPERSAMPLE), 0)
        ImageDraw.Draw(mask).polygon(
            [
                ((x - left) * SUPERSAMPLE, (y - top) * SUPERSAMPLE)
                for x, y in zip(xs, ys, strict=True)
            ],
            fill=255,
        )
        self._paste(mask.resize((width, height), Image.Resampling.BOX), left, top, color)
