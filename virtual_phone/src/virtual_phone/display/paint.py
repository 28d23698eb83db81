"""Turn a scene into an image, at the display's size or straight at a smaller one.

Wallpapers are made once per seed and size and shared by all phones of a process. Invariant: a
secure window is black in every image that leaves the phone.
"""

import math
from functools import lru_cache

from PIL import Image, ImageChops

from virtual_phone.display.scene import Scene, Surface
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.draw import paint
from virtual_phone.ui.views import Rect

_PALETTES = (
    ((18, 24, 66), (64, 66, 158), (214, 120, 136), (255, 196, 140)),
    ((8, 40, 58), (16, 92, 110), (72, 160, 150), (226, 222, 170)),
    ((44, 20, 64), (112, 48, 120), (206, 96, 116), (250, 178, 130)),
    ((16, 36, 30), (34, 88, 74), (112, 152, 98), (232, 214, 150)),
)


@lru_cache(maxsize=4)
def wallpaper(seed: int, width: int, height: int) -> Image.Image:
    """Return a dusk landscape in a seed's palette, RGB."""
    palette = _PALETTES[seed % len(_PALETTES)]
    sky = Image.new("RGB", (1, 64))
    for y in range(64):
        at = y / 63 * (len(palette) - 1)
        i = min(int(at), len(palette) - 2)
        part = at - i
        sky.putpixel(
            (0, y),
            tuple(
                round(a + (b - a) * part) for a, b in zip(palette[i], palette[i + 1], strict=True)
            ),
        )
    image = sky.resize((width, height), Image.Resampling.BICUBIC)
    glow = Image.radial_gradient("L").resize(
        (round(width * 1.1), round(width * 1.1)), Image.Resampling.BILINEAR
    )
    glow = ImageChops.invert(glow).point([min(150, max(0, i - 90)) for i in range(256)])
    image.paste((255, 226, 190), (round(width * 0.12), round(height * 0.42)), glow)
    layers = 4
    for layer in range(layers):
        depth = layer / (layers - 1)
        base = height * (0.66 + 0.09 * layer)
        shade = tuple(round(c * (0.62 - 0.44 * depth) + 20 * (1 - depth)) for c in palette[1])
        _ridge(image, base, height * (0.06 - 0.008 * layer), seed * 7 + layer, shade)
    return image


def _ridge(
    image: Image.Image, base: float, swing: float, phase: int, color: tuple[int, ...]
) -> None:
    from PIL import ImageDraw

    width, height = image.size
    points = [(0.0, float(height))]
    for x in range(0, width + 8, 8):
        t = x / width
        y = base - swing * (
            math.sin(t * 5.1 + phase * 1.7)
            + 0.5 * math.sin(t * 11.3 + phase * 2.9)
            + 0.22 * math.sin(t * 27.1 + phase)
        )
        points.append((float(x), y))
    points.append((float(width), float(height)))
    ImageDraw.Draw(image).polygon(points, fill=(color[0], color[1], color[2]))


RISE = 0.06
"""How far below its place an activity starts to come in, as a part of the screen's height."""


def draw_scene(scene: Scene, seed: int, width: int = 0, part: float = 1.0) -> Image.Image:
    """Return a scene as an RGB image of the display's shape.

    Args:
        width: how wide it is drawn; 0 = as wide as the display.
        part: how much of the transition to this scene is over, from 0 to 1.
    """
    width = width or scene.width
    scale = width / scene.width
    size = (width, max(1, round(scene.height * scale)))
    if scene.off:
        return Image.new("RGB", size, (0, 0, 0))
    if scene.wallpaper:
        image = wallpaper(seed, *size).copy()
    else:
        image = Image.new("RGB", size, scene.theme.color("background")[:3])
    ground = image.copy() if part < 1.0 else image
    for surface in scene.surfaces:
        _surface(surface, scene, Canvas(image, surface.theme or scene.theme, scale))
        if part < 1.0 and surface.type == "BASE_APPLICATION":
            _lower(image, ground, (1 - part) ** 2)
    return image


def stretched(image: Image.Image, width: int, height: int) -> Image.Image:
    """Return an image at a size that may have another shape: nothing of it is cut off."""
    if image.size == (width, height):
        return image
    return image.resize((width, height), Image.Resampling.BILINEAR)


def redraw(image: Image.Image, scene: Scene, seed: int, within: Rect) -> None:
    """Draw a part of a scene anew on its image, which has any size; the rest of it stays."""
    ground = Canvas(image, scene.theme, image.width / scene.width, within)
    if scene.wallpaper:
        image.paste(wallpaper(seed, *image.size).crop(ground.clip), ground.clip[:2])
    else:
        ground.fill(within, ground.color("background"))
    for surface in scene.surfaces:
        _surface(surface, scene, Canvas(image, surface.theme or scene.theme, ground.scale, within))


def _surface(surface: Surface, scene: Scene, canvas: Canvas) -> None:
    if surface.dims:
        full = Rect(0, 0, scene.width, scene.height)
        canvas.clip_to(full)
        canvas.fill(full, canvas.color("scrim"))
    if surface.secure:
        canvas.clip_to(surface.frame)
        canvas.fill(surface.frame, (0, 0, 0, 255))
    else:
        paint(surface.root, canvas, scene.metrics)


def _lower(image: Image.Image, ground: Image.Image, part: float) -> None:
    """Show an activity that has not quite come in: lower than its place, and a little faint."""
    dy = round(image.height * RISE * part)
    shown = Image.blend(image, ground, min(part, 1.0) * 0.8)
    image.paste(ground)
    image.paste(shown, (0, dy))
