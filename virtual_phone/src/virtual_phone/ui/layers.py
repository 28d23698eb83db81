"""The whole content of a scrolling view as one image, so that scrolling it draws it once.

For small pictures (video) only: at full size the images would be large, and are asked for seldom.
Invariant: a layer belongs to one content; a view that is built anew gets a new one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from virtual_phone.ui.layout import Metrics
from virtual_phone.ui.views import Rect, View

if TYPE_CHECKING:
    from PIL import Image

    from virtual_phone.ui.canvas import Canvas

HIGHEST_PX = 8192


class Layer:
    """What a scrolling view holds, laid out in full.

    Args:
        view: after layout.
        metrics: what it was laid out with.
    """

    def __init__(self, view: View, metrics: Metrics) -> None:
        full = Rect(0, 0, view.rect.width, view.rect.height + view.scroll_range)
        # The view's own place stays the screen's; its content begins at the top of the layer.
        moved = (
            child.translated(-view.rect.left, view.scroll_y - view.rect.top, full)
            for child in view.children
        )
        self._content = tuple(moved)
        self._size = full.width, full.height
        self._metrics = metrics
        self._lock = threading.Lock()
        self._made: tuple[tuple[object, ...], Image.Image | None] | None = None

    def draw(self, view: View, canvas: Canvas) -> bool:
        """Draw a view's content where it is scrolled to; return False when that cannot be done.

        It cannot at full size, nor on a ground of more than one color.
        """
        scale = canvas.scale
        height = round(self._size[1] * scale) + 1
        if scale >= 1 or height > HIGHEST_PX:
            return False
        canvas.clip_to(view.clip)
        box = canvas.clip
        if box.empty:
            return True
        with self._lock:
            image = self._image(canvas, box, height)
        if image is None:
            return False
        left = box.left - round(view.rect.left * scale)
        top = box.top - round((view.rect.top - view.scroll_y) * scale)
        part = image.crop((left, top, left + box.width, top + box.height))
        canvas.image.paste(part, box[:2])
        return True

    def _image(self, canvas: Canvas, box: Rect, height: int) -> Image.Image | None:
        """Return the layer for a canvas's size and theme; None on a ground of many colors.

        The ground is looked at once: while a view scrolls, all else of its scene stays.
        """
        from PIL import Image

        from virtual_phone.ui.draw import paint

        wanted = (canvas.scale, canvas.theme, box)
        if self._made is None or self._made[0] != wanted:
            ground = _one_color(canvas.image.crop((box.left, box.top, box.right, box.bottom)))
            if ground is None:
                self._made = (wanted, None)
                return None
            size = (round(self._size[0] * canvas.scale) + 1, height)
            image = Image.new("RGB", size, ground)
            for child in self._content:
                paint(child, type(canvas)(image, canvas.theme, canvas.scale), self._metrics)
            self._made = (wanted, image)
        return self._made[1]


def _one_color(image: Image.Image) -> tuple[int, int, int] | None:
    """Return the color of an RGB image that has only one."""
    ends = [band.getextrema() for band in image.split()]
    red, green, blue = (int(least) for least, _ in ends)  # type: ignore[arg-type]
    return None if any(least != most for least, most in ends) else (red, green, blue)
